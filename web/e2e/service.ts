import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AgentEvent, Appended, SessionInfo } from "@recount/client";
import { preview } from "vite";
import { Line } from "./line";

/** The binary under test. */
export const binary = process.env.RECOUNT_BIN ?? join(import.meta.dirname, "../../target/debug/recount");

/** A service for tests. */
export interface Service {
  /** The address of the service. */
  readonly url: string;
  /** The address of the page, behind a proxy that can be cut. */
  readonly page: string;
  readonly line: Line;
  readonly data: string;
  create(id: string, about?: object): Promise<SessionInfo>;
  append(id: string, events: readonly AgentEvent[]): Promise<Appended>;
  ask(method: string, path: string, body?: unknown): Promise<Response>;
  /** Kills the service with SIGKILL. */
  kill(): Promise<void>;
  /** Restarts it on the same port and data directory. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** The Content-Security-Policy that the service sends with the page. */
const POLICY = [
  "default-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data: blob: https:",
  "media-src 'self' data: blob: https:",
  "style-src 'self' 'unsafe-inline'",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** Returns a free port. */
const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address ? address.port : 0));
    });
  });

/** Runs the real binary on an empty data directory, with the demo model at a given pace. */
export async function startService({ token, pace = 200 }: { token?: string; pace?: number } = {}): Promise<Service> {
  const data = mkdtempSync(join(tmpdir(), "recount-page-"));
  const config = join(data, "recount.toml");
  const agents = { demo: "", other: "", lead: 'helpers = ["other"]\n' };
  const sections = Object.entries(agents).map(([name, more]) => `[agents.${name}]\nmodel = "demo/${pace}"\n${more}`);
  writeFileSync(config, sections.join(""));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  let child: ChildProcess | undefined;

  const start = async () => {
    child = spawn(binary, ["serve", "--listen", `127.0.0.1:${port}`, "--data", data, "--config", config], {
      stdio: "pipe",
    });
    let output = "";
    child.stderr?.on("data", (text) => {
      output += text;
    });
    child.stdout?.resume();
    const { exitCode } = child;
    for (let i = 0; exitCode === null && child.exitCode === null; i++) {
      const isUp = await fetch(`${url}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      );
      if (isUp) return;
      if (i > 400) break;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error(`the service did not start: ${output}`);
  };
  const end = (signal: NodeJS.Signals) =>
    new Promise<void>((resolve) => {
      if (!child || child.exitCode !== null || child.signalCode) return resolve();
      child.once("exit", () => resolve());
      child.kill(signal);
    });
  await start();

  // A binary without the page is tested with the page from Vite, and so is a binary with another build of the page.
  const isEmbedded =
    process.env.RECOUNT_PAGE !== "dist" && (await (await fetch(url)).text()).includes('<div id="root">');
  const beside = isEmbedded
    ? undefined
    : await preview({
        root: join(import.meta.dirname, ".."),
        configFile: false,
        logLevel: "silent",
        preview: {
          host: "127.0.0.1",
          port: await freePort(),
          proxy: { "/v1": { target: url, ws: true } },
          headers: { "content-security-policy": POLICY },
        },
      });
  const from = new URL(beside?.resolvedUrls?.local[0] ?? url);
  const line = await Line.to(Number(from.port));

  const ask = (method: string, path: string, body?: unknown) =>
    fetch(`${url}/v1/${path}`, {
      method,
      headers: { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  const done = async <T>(response: Promise<Response>): Promise<T> => {
    const answer = await response;
    if (!answer.ok) throw new Error(await answer.text());
    return (await answer.json()) as T;
  };
  return {
    url,
    page: `http://127.0.0.1:${line.port}`,
    line,
    data,
    ask,
    create: (id, about = {}) => done(ask("PUT", `sessions/${id}`, about)),
    async append(id, events) {
      const appended = await done<Appended>(ask("POST", `sessions/${id}/events`, events));
      if (appended.ignored.length) throw new Error(JSON.stringify(appended.ignored));
      return appended;
    },
    kill: () => end("SIGKILL"),
    restart: start,
    async stop() {
      line.close();
      await beside?.close();
      await end("SIGTERM");
      rmSync(data, { recursive: true, force: true });
    },
  };
}
