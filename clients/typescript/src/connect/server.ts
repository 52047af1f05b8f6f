import { isText } from "../values.js";
import { isFinal, RecountError } from "./error.js";
import type { Reader } from "./frames.js";
import { type Patience, pauseBefore } from "./keep.js";
import type { Shared } from "./shared.js";
import { joinBySse } from "./sse.js";
import { joinByWs } from "./ws.js";

/** Where a service is, and how it is spoken to. */
export interface ServerOptions extends Partial<Patience> {
  /** Its address, such as `https://example.com`; in a page its own origin, if it is left out. */
  readonly url?: string | URL;
  /** A token. For a WebSocket it is traded for a ticket, because browsers set no headers there. */
  readonly token?: string | undefined;
  /** One WebSocket for all sessions (where there are WebSockets), or one stream of server-sent events for each. */
  readonly transport?: "ws" | "sse";
  /** Whether the replies of agents that work for another one are shown too. */
  readonly all?: boolean;
}

export type Where = string | ServerOptions;

/** A request that is sent until it is answered may be given up. */
export interface Sending {
  readonly signal?: AbortSignal | undefined;
}

/** Reads something until what it gives is called. */
export type Join = (name: string, reader: Reader) => () => void;

/** A service that can be asked. */
export interface Server extends Omit<ServerOptions, keyof Patience>, Patience {
  readonly url: URL;
  readonly all: boolean;
  /** What is read from it. */
  readonly shared: Map<string, Shared>;
  /** Reads a session, or all of them. */
  join: Join;
  /** Asks once. What is no success is thrown as a `RecountError`. */
  send(method: string, path: string, init?: RequestInit): Promise<Response>;
  /**
   * Repeats a request until there is a complete response: a GET, or a POST if there is a body, unless a method is named. The
   * request must be idempotent.
   */
  ask(path: string, body?: unknown, sending?: Sending, method?: string): Promise<[text: string, headers: Headers]>;
}

const servers = new Map<string, Server>();

/** The same address and token give the same server, so that everything of a page shares one socket. */
export function serverOf(where: Where): Server {
  const options: ServerOptions = isText(where) ? { url: where } : where;
  const url = new URL(`${options.url ?? "/"}`.replace(/\/*$/, "/v1/"), globalThis.location?.href);
  const { token, all = false, transport = globalThis.WebSocket ? "ws" : "sse" } = options;
  const key = `${transport} ${url} ${token} ${all}`;
  const known = servers.get(key);
  if (known) return known;

  const send: Server["send"] = async (method, path, init) => {
    const headers = { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) };
    const response = await fetch(new URL(path, url), { ...init, method, headers });
    // A proxy may answer with a page of its own.
    if (response.ok && !response.headers.get("content-type")?.includes("html")) return response;
    throw new RecountError({ ...(await response.json().catch(() => {})), status: response.status });
  };

  const ask: Server["ask"] = async (path, body, { signal } = {}, method = body ? "POST" : "GET") => {
    const text = JSON.stringify(body);
    // As the service does, it allows a second more for each MiB.
    const patience = server.silence + (text ? text.length >> 10 : 0);
    for (let attempt = 0; ; attempt++) {
      try {
        const response = await send(method, path, {
          body: text,
          signal: AbortSignal.any([AbortSignal.timeout(patience)].concat(signal ?? [])),
        });
        return [await response.text(), response.headers];
      } catch (error) {
        if (isFinal(error) || signal?.aborted) throw error;
      }
      await pauseBefore(attempt, server, signal);
    }
  };

  const server: Server = {
    minDelay: 250,
    maxDelay: 15_000,
    silence: 40_000,
    ...options,
    url,
    all,
    transport,
    shared: new Map(),
    send,
    ask,
  } as Server;
  server.join = (transport === "ws" ? joinByWs : joinBySse)(server);
  servers.set(key, server);
  return server;
}

/**
 * Asks a service for what has no function of its own here: `request(server, "PUT", "sessions/chat", { title })`. The path
 * is what comes after `/v1/`. It is asked once, and what is no success is thrown as a `RecountError`.
 */
export async function request<T = unknown>(where: Where, method: string, path: string, body?: unknown): Promise<T> {
  const response = await serverOf(where).send(method, path, { body: JSON.stringify(body) });
  return JSON.parse((await response.text()) || "null");
}
