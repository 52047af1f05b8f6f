/** Packs the package, installs it into a separate project, and runs the programs of the documents there. */

import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";

const here = fileURLToPath(new URL("..", import.meta.url));
let project: string;

const run = (command: string, args: string[], cwd = project) =>
  execFileSync(command, args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });

/** The package manager that runs the tests, or the one from npm. */
function pnpm(...args: string[]): string {
  const script = process.env.npm_execpath;
  return script?.includes("pnpm")
    ? run(process.execPath, [script, ...args])
    : run("npx", ["--yes", "pnpm@10", ...args]);
}

beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), "recount-package-"));
  run("npm", ["pack", "--pack-destination", project], here);
  const [tarball] = readdirSync(project);
  cpSync(join(here, "test/fixtures"), project, { recursive: true });
  const dependencies = { "@agentscope-ai/agentscope": `file:./${tarball}` };
  writeFileSync(
    join(project, "package.json"),
    JSON.stringify({ name: "project", type: "module", private: true, dependencies }),
  );
  pnpm("install", "--no-frozen-lockfile");
  const compilerOptions = { target: "ES2022", module: "NodeNext", strict: true, lib: ["ES2023", "DOM"], types: [] };
  const snippets = ["loop-with-literals.ts", "loop-with-event-types.ts", "stream.d.ts"];
  writeFileSync(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, files: snippets }));
});
afterAll(() => rmSync(project, { recursive: true, force: true }));

test("the package contains the license", () => {
  const license = (directory: string) => readFileSync(join(directory, "LICENSE"), "utf8");
  expect(license(join(project, "node_modules/@agentscope-ai/agentscope"))).toBe(license(join(here, "../..")));
});

test("the snippets of the documents compile unchanged", () => {
  expect(run(process.execPath, [join(here, "node_modules/typescript/bin/tsc"), "--project", "."])).toBe("");
});

test.each(["loop-with-literals", "loop-with-event-types"])("the snippet %s gives the message", (snippet) => {
  const message = JSON.parse(run(process.execPath, ["run.mjs", snippet]));
  expect(message).toMatchObject({
    name: "Friday",
    role: "assistant",
    id: "r",
    finished_at: "2026-01-01T00:00:00.000000+00:00",
    content: [{ type: "text", text: "Hello" }],
  });
});

test.each([
  [".", ["Fold", "Msg", "AssistantMsg", "appendEvent", "EventType", "connect", "connectSessions", "RecountError"]],
  ["message", ["Fold", "Msg", "UserMsg", "SystemMsg", "EventType", "parseMsg", "parseEvent"]],
  ["event", ["Fold", "Msg", "UserMsg", "SystemMsg", "EventType", "parseMsg", "parseEvent"]],
  ["parse", ["parseMsg", "parseEvent", "parseCheckpoint", "DecodeError"]],
])("exports of %s", (path, names) => {
  const specifier = join("@agentscope-ai/agentscope", path);
  const script = `import * as all from "${specifier}"; console.log(JSON.stringify(Object.keys(all)))`;
  const found = JSON.parse(run(process.execPath, ["--input-type=module", "--eval", script]));
  expect(found).toEqual(expect.arrayContaining(names));
});

test("all entries share the same classes", () => {
  const script =
    `import { Msg } from "@agentscope-ai/agentscope"; import { parseMsg } from "@agentscope-ai/agentscope/parse";` +
    `import { UserMsg } from "@agentscope-ai/agentscope/event";` +
    `console.log(parseMsg(JSON.stringify(UserMsg({ name: "a", content: "b" }))) instanceof Msg)`;
  expect(run(process.execPath, ["--input-type=module", "--eval", script]).trim()).toBe("true");
});

test("the package has no run-time dependencies", () => {
  expect(run("npm", ["pkg", "get", "dependencies"], here).trim()).toBe("{}");
});
