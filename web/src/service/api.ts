import { request, type ServerOptions, type SessionInfo, type Usage } from "@recount/client";

/** An agent that is available for sessions. */
export interface AgentInfo {
  readonly name: string;
  readonly model: string;
  readonly description: string | null;
  readonly tools: readonly string[];
}

export interface Agents {
  readonly agents: readonly AgentInfo[];
  readonly default: string;
}

export const listAgents = (where: ServerOptions): Promise<Agents> => request<Agents>(where, "GET", "agents");

export const createSession = (
  where: ServerOptions,
  about: { agent?: string | undefined; title?: string | undefined },
): Promise<SessionInfo> => request<SessionInfo>(where, "POST", "sessions", about);

/** Creates a session with a chosen name. */
export const putSession = (where: ServerOptions, name: string): Promise<SessionInfo> =>
  request<SessionInfo>(where, "PUT", `sessions/${name}`, {});

export const getSession = (where: ServerOptions, name: string): Promise<SessionInfo & { usage?: Usage }> =>
  request(where, "GET", `sessions/${name}`);

export const renameSession = (where: ServerOptions, name: string, title: string | null): Promise<SessionInfo> =>
  request<SessionInfo>(where, "PATCH", `sessions/${name}`, { title });

export const deleteSession = (where: ServerOptions, name: string): Promise<unknown> =>
  request(where, "DELETE", `sessions/${name}`);

/** Creates a session with the state of another one before a message. */
export const forkBefore = (where: ServerOptions, name: string, message: string): Promise<SessionInfo> =>
  request<SessionInfo>(where, "POST", `sessions/${name}/fork`, { before: message });

/** Exchanges the token for a ticket. This shows whether the service accepts it, or needs none. */
export const tradeToken = (where: ServerOptions): Promise<{ ticket: string | null }> =>
  request(where, "POST", "tickets", {});
