import { isText } from "../values.js";
import { isFinal, RecountError } from "./error.js";
import type { Reader } from "./frames.js";
import { type Patience, pauseBefore } from "./keep.js";
import type { Shared } from "./shared.js";
import { joinBySse } from "./sse.js";
import { joinByWs } from "./ws.js";

/** The address of a service and the connection options. */
export interface ServerOptions extends Partial<Patience> {
  /** The address of the service, such as `https://example.com`. In a page the default is its own origin. */
  readonly url?: string | URL;
  /** A token. For a WebSocket it is exchanged for a ticket, because browsers cannot set headers there. */
  readonly token?: string | undefined;
  /** One WebSocket for all sessions (the default, if available), or one stream of server-sent events per session. */
  readonly transport?: "ws" | "sse";
  /** Whether the replies of sub-agents are included. The default is `false`. */
  readonly all?: boolean;
}

/** The address of a service, or its address with options. */
export type Endpoint = string | ServerOptions;

/** Options of requests that are retried until there is a response. */
export interface RequestOptions {
  readonly signal?: AbortSignal | undefined;
}

/** @deprecated Use {@link RequestOptions}. */
export type Sending = RequestOptions;

/** Starts a reader. Returns a function that stops it. */
export type Join = (name: string, reader: Reader) => () => void;

/** A connection to a service. */
export interface Server extends Omit<ServerOptions, keyof Patience>, Patience {
  readonly url: URL;
  readonly all: boolean;
  /** The shared readers of this server, by name. */
  readonly shared: Map<string, Shared>;
  /** Reads a session, or the list of sessions. */
  join: Join;
  /** Sends a request once. Throws a `RecountError` unless the response is a success. */
  send(method: string, path: string, init?: RequestInit): Promise<Response>;
  /**
   * Repeats a request until there is a complete response. The default method is GET, or POST if there is a body. The
   * request must be idempotent.
   */
  retry(
    path: string,
    body?: unknown,
    options?: RequestOptions,
    method?: string,
  ): Promise<[text: string, headers: Headers]>;
}

const servers = new Map<string, Server>();

/** Returns the same server for the same address and token, so that all connections of a page share one socket. */
export function serverOf(endpoint: Endpoint): Server {
  const options: ServerOptions = isText(endpoint) ? { url: endpoint } : endpoint;
  const url = new URL(`${options.url ?? "/"}`.replace(/\/*$/, "/v1/"), globalThis.location?.href);
  const { token, all = false, transport = globalThis.WebSocket ? "ws" : "sse" } = options;
  const key = `${transport} ${url} ${token} ${all}`;
  const known = servers.get(key);
  if (known) return known;

  const send: Server["send"] = async (method, path, init) => {
    const headers = { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) };
    const response = await fetch(new URL(path, url), { ...init, method, headers });
    // A proxy may send an HTML page of its own.
    if (response.ok && !response.headers.get("content-type")?.includes("html")) return response;
    throw new RecountError({ ...(await response.json().catch(() => {})), status: response.status });
  };

  const retry: Server["retry"] = async (path, body, { signal } = {}, method = body ? "POST" : "GET") => {
    const text = JSON.stringify(body);
    // Like the service, the client allows one more second per MiB.
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
    retry,
  } as Server;
  server.join = (transport === "ws" ? joinByWs : joinBySse)(server);
  servers.set(key, server);
  return server;
}

/**
 * Sends a request for which there is no function here: `request(server, "PUT", "sessions/chat", { title })`. The path
 * is relative to `/v1/`. The request is sent once. Throws a `RecountError` unless the response is a success.
 */
export async function request<T = unknown>(
  endpoint: Endpoint,
  method: string,
  path: string,
  body?: unknown,
): Promise<T> {
  const response = await serverOf(endpoint).send(method, path, { body: JSON.stringify(body) });
  return JSON.parse((await response.text()) || "null");
}
