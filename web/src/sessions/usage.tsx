import type { Msg, Usage as Tokens } from "@recount/client";
import { useEffect, useState } from "react";
import { count } from "../lib/format";
import { getSession } from "../service/api";
import { useService } from "../service/context";

/** The number of tokens that a session has used. It is requested again when a reply ends. */
export function Usage({ name, messages, isLive }: { name: string; messages: readonly Msg[]; isLive: boolean }) {
  const service = useService();
  const [usage, setUsage] = useState<Tokens>();
  // Replies may end in another order than they began.
  const ended = messages.filter(({ role, finished_at }) => role === "assistant" && finished_at).length;
  useEffect(() => {
    // An unreadable session has no usage, and the value from before a gap is outdated.
    if (!isLive) return;
    let isWanted = true;
    getSession(service, name).then(
      ({ usage }) => isWanted && setUsage(usage),
      () => {},
    );
    return () => {
      isWanted = false;
    };
  }, [service, name, ended, isLive]);
  if (!usage || usage.input_tokens + usage.output_tokens === 0) return null;
  return (
    <span className="usage wide" title="Tokens read and written in this session">
      {count(usage.input_tokens)} in · {count(usage.output_tokens)} out
    </span>
  );
}
