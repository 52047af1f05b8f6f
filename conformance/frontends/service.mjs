// `recount serve` with the demo agent, and the actions of its users.
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const BINARY = process.env.RECOUNT_BIN ?? fileURLToPath(new URL("../../target/debug/recount", import.meta.url));

async function freePort() {
  const probe = createServer();
  await new Promise((resolve) => probe.listen(0, "127.0.0.1", resolve));
  const { port } = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

/** Runs a function with a service, and stops the service afterwards. */
export async function withService(run) {
  const directory = await mkdtemp(join(tmpdir(), "recount-frontends-"));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const child = spawn(BINARY, ["serve", "--listen", `127.0.0.1:${port}`, "--data", directory, "--model", "demo"], {
    stdio: "ignore",
  });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  try {
    while (!(await fetch(`${url}/readyz`).then((answer) => answer.ok, () => false))) {
      if (child.exitCode !== null) throw new Error(`${BINARY} serve has ended with ${child.exitCode}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    await run(url);
  } finally {
    child.kill("SIGKILL");
    await ended;
    await rm(directory, { recursive: true, force: true });
  }
}

/** A session of the service. */
export class Session {
  constructor(service, name) {
    this.name = name;
    this.url = `${service}/v1/sessions/${name}`;
  }

  static async create(service, name) {
    const session = new Session(service, name);
    await session.ask("PUT", "");
    return session;
  }

  async ask(method, path, body) {
    const answer = await fetch(this.url + path, {
      method,
      headers: { "content-type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  }

  say(content, id) {
    return this.ask("POST", "/messages", { content, id });
  }

  /** Approves a waiting call. */
  async allow(replyId, callId) {
    const { messages } = await this.ask("GET", "/messages");
    const reply = messages.find((message) => message.id === replyId);
    const call = reply.content.find((block) => block.type === "tool_call" && block.id === callId);
    const answer = { confirmed: true, tool_call: call };
    await this.ask("POST", "/events", [
      { type: "USER_CONFIRM_RESULT", reply_id: replyId, confirm_results: [answer] },
    ]);
  }
}
