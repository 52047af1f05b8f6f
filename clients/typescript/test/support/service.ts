import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type AgentEvent, type Appended, Fold, request } from "../../src/index.js";
import { mustBeThere, RECOUNT } from "./rust.js";

/** A service with its own data directory, which can be killed and restarted. */
export class Service {
  readonly port: number;
  readonly #data = mkdtempSync(join(tmpdir(), "recount-service-"));
  #process: ChildProcess | undefined;
  #output = "";

  private constructor(port: number) {
    this.port = port;
  }

  static async start(): Promise<Service> {
    mustBeThere();
    const service = new Service(await freePort());
    await service.start();
    return service;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async start(): Promise<void> {
    const args = ["serve", "--data", this.#data, "--listen", `127.0.0.1:${this.port}`];
    const child = spawn(RECOUNT, args, { stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (piece) => (this.#output += piece));
    this.#process = child;
    while (!(await this.#isReady())) {
      if (child.exitCode !== null) throw new Error(`recount serve ended with ${child.exitCode}: ${this.#output}`);
      await pause(10);
    }
  }

  async #isReady(): Promise<boolean> {
    return fetch(`${this.url}/readyz`).then(
      (response) => response.ok,
      () => false,
    );
  }

  /** Ends the process, as in a crash (`SIGKILL`) or on request (`SIGTERM`). */
  async kill(signal: "SIGKILL" | "SIGTERM" = "SIGKILL"): Promise<void> {
    const child = this.#process as ChildProcess;
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    await once(child, "exit");
  }

  /** Restarts with an empty data directory. */
  async forget(): Promise<void> {
    await this.kill();
    rmSync(this.#data, { recursive: true });
    await this.start();
  }

  async stop(): Promise<void> {
    await this.kill();
    rmSync(this.#data, { recursive: true, force: true });
  }

  /** Creates a token for the data directory. */
  token(scope: "read" | "write" | "admin"): string {
    const args = ["token", "create", "--tenant", "acme", "--scope", scope, "--data", this.#data];
    return execFileSync(RECOUNT, args, { encoding: "utf8" }).trim();
  }

  /** Creates a session. */
  async session(name: string, token?: string): Promise<string> {
    await request({ url: this.url, token }, "PUT", `sessions/${name}`, {});
    return name;
  }

  append(session: string, events: readonly object[]): Promise<Appended> {
    return request(this.url, "POST", `sessions/${session}/events`, events);
  }

  /** Returns all events of a session. */
  async log(session: string): Promise<AgentEvent[]> {
    const events: AgentEvent[] = [];
    for (let after = ""; ; ) {
      const response = await fetch(`${this.url}/v1/sessions/${session}/events?limit=1000${after}`);
      const lines = (await response.text()).split("\n").filter(Boolean);
      if (!lines.length) return events;
      events.push(...lines.map((line) => JSON.parse(line)));
      after = `&after=${response.headers.get("recount-cursor")}`;
    }
  }

  /** Returns the messages as folded from the whole log at once. */
  async folded(session: string): Promise<string[]> {
    const fold = new Fold();
    for (const event of await this.log(session)) fold.apply(event);
    return fold.messages.map((message) => JSON.stringify(message));
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
