import type { Msg, Usage as Tokens } from "@recount/client";
import { useEffect, useState } from "react";
import { count } from "../lib/format";
import { getSession } from "../service/api";
import { useService } from "../service/where";

/** How many tokens a session has taken. It is asked for again whenever a reply has ended. */
export function Usage({ name, messages, isLive }: { name: string; messages: readonly Msg[]; isLive: boolean }) {
  const service = useService();
  const [usage, setUsage] = useState<Tokens>();
  // They need not end in the order in which they began.
  const ended = messages.filter(({ role, finished_at }) => role === "assistant" && finished_at).length;
  useEffect(() => {
    // A session that cannot be read has none, and what was taken before a gap is no longer so.
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
