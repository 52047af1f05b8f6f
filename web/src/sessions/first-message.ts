import type { Content } from "../conversation/content";

/** The first messages of sessions that are about to be displayed. */
const first = new Map<string, Content>();

export const willSay = (session: string, content: Content): void => {
  first.set(session, content);
};

export function takeFirst(session: string): Content | undefined {
  const content = first.get(session);
  first.delete(session);
  return content;
}
