// A small MCP server over standard input and output that misbehaves in several ways.
// `node hostile.mjs MODE` selects its behaviour at the start. Its tools trigger the others.

import { existsSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [mode = "plain", file] = process.argv.slice(2);
const object = { type: "object" };
const cancelled = [];
let isDeaf = false;
let hasGrown = false;

if (mode === "exits") {
  console.error("Cannot find module 'sense'");
  process.exit(1);
}
if (mode === "once") {
  if (existsSync(file)) {
    console.error("the database is locked");
    process.exit(1);
  }
  writeFileSync(file, "");
}
if (mode === "stubborn" || mode === "mute") {
  writeFileSync(file, String(process.pid));
  setInterval(() => {}, 1000);
  process.on("SIGTERM", () => {});
}

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const text = (value) => ({ content: [{ type: "text", text: value }] });

const oddTools = [
  { name: "a.b", description: "x".repeat(50_000), inputSchema: {} },
  { name: "a/b", inputSchema: object },
  // The converted name of `a.b`.
  { name: "a_b_0466522c", inputSchema: object },
  { name: "twice", description: "first", inputSchema: object },
  { name: "twice", description: "second", inputSchema: object },
  { name: "broken", inputSchema: { type: "object", properties: { a: { type: "nonsense" } } } },
  { name: "elsewhere", inputSchema: { type: "object", properties: { a: { $ref: "http://127.0.0.1:1/a" } } } },
  { name: "x".repeat(200), inputSchema: object },
];

const tools = {
  echo: (_id, args) => text(JSON.stringify(args)),
  die() {
    console.error("out of memory");
    process.exit(1);
  },
  hang() {
    isDeaf = true;
  },
  // Ends only by a cancellation, without a response.
  wait() {},
  cancelled: () => text(JSON.stringify(cancelled)),
  flood: () => text("x".repeat(3_000_000)),
  progress(id, _args, token) {
    for (let step = 1; step <= 3; step++) {
      send({ method: "notifications/progress", params: { progressToken: token, progress: step, total: 3, message: `step ${step}` } });
    }
    return text("there");
  },
  // Endless progress without a response.
  babble(_id, _args, token) {
    let step = 0;
    setInterval(() => send({ method: "notifications/progress", params: { progressToken: token, progress: ++step } }), 10);
  },
  grow() {
    hasGrown = true;
    send({ method: "notifications/tools/list_changed" });
    return text("grown");
  },
  environment: () => text(JSON.stringify({ env: process.env, cwd: process.cwd() })),
  refuse(id) {
    send({ id, error: { code: -32602, message: "no such city" } });
  },
  nonsense(id) {
    send({ id, result: { what: "is this" } });
  },
};

function listed(cursor) {
  if (mode === "odd") return { tools: oddTools };
  if (mode === "endless") {
    const page = Number(cursor ?? 0);
    return { tools: [{ name: `tool-${page}`, inputSchema: object }], nextCursor: String(page + 1) };
  }
  const names = hasGrown ? [...Object.keys(tools), "grown"] : Object.keys(tools);
  const annotated = { echo: { readOnlyHint: true }, cancelled: { idempotentHint: true, destructiveHint: false } };
  return { tools: names.map((name) => ({ name, inputSchema: object, annotations: annotated[name] })) };
}

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (isDeaf || mode === "silent" || mode === "mute") return;
  if (mode === "noisy") process.stdout.write("warming up\n{\"jsonrpc\": 2}\n\n[]\n");
  switch (method) {
    case "initialize":
      return send({
        id,
        result: {
          protocolVersion: params.protocolVersion,
          capabilities: { tools: { listChanged: true } },
          serverInfo: { name: "hostile", version: "1" },
          instructions: "Be careful.",
        },
      });
    case "ping":
      return send({ id, result: {} });
    case "tools/list":
      return send({ id, result: listed(params?.cursor) });
    case "notifications/cancelled":
      return cancelled.push(params.reason);
    case "tools/call": {
      const result = tools[params.name]?.(id, params.arguments, params._meta?.progressToken);
      return result && send({ id, result });
    }
  }
});
