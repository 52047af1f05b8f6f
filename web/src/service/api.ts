import { request, type ServerOptions, type SessionInfo, type Usage } from "@recount/client";

/** An agent that a session can have. */
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

/** Makes a session with a name of one's own. */
export const putSession = (where: ServerOptions, name: string): Promise<SessionInfo> =>
  request<SessionInfo>(where, "PUT", `sessions/${name}`, {});

export const getSession = (where: ServerOptions, name: string): Promise<SessionInfo & { usage?: Usage }> =>
  request(where, "GET", `sessions/${name}`);

export const renameSession = (where: ServerOptions, name: string, title: string | null): Promise<SessionInfo> =>
  request<SessionInfo>(where, "PATCH", `sessions/${name}`, { title });

export const deleteSession = (where: ServerOptions, name: string): Promise<unknown> =>
  request(where, "DELETE", `sessions/${name}`);

/** A new session that stands where another one stood before a message. */
export const forkBefore = (where: ServerOptions, name: string, message: string): Promise<SessionInfo> =>
  request<SessionInfo>(where, "POST", `sessions/${name}/fork`, { before: message });

/** Whether the service wants a token, and takes this one. */
export const tradeToken = (where: ServerOptions): Promise<{ ticket: string | null }> =>
  request(where, "POST", "tickets", {});
