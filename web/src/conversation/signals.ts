import type { AgentEvent, Session } from "@recount/client";
import { useEffect, useState } from "react";
import { isRecord } from "../lib/json";

/** What a signal says about what is going on, where it is worth a line. */
export function newsOf(event: AgentEvent): string | undefined {
  if (event.type !== "CUSTOM" || !isRecord(event.value)) return;
  const { attempt, model, class: kind, from, to, how } = event.value;
  switch (event.name) {
    case "recount.retry":
      return `${model ?? "The model"} did not answer (${String(kind ?? "no reason given").replaceAll("_", " ")}). Attempt ${attempt} follows.`;
    case "recount.fallback":
      return `${from} did not answer. ${to} is asked instead.`;
    case "recount.compressed":
      return how === "summary"
        ? "The beginning of the conversation was summarised for the model."
        : "The model is not shown the beginning of the conversation any more.";
    default:
      return;
  }
}

/** The last thing that was told about the reply that is under way, until it goes on. */
export function useNews(session: Session | undefined): string | undefined {
  const [news, setNews] = useState<string>();
  useEffect(() => {
    if (!session) return;
    const events = session.events();
    const listen = async () => {
      for await (const event of events) {
        const told = newsOf(event);
        if (told || event.type !== "CUSTOM") setNews(told);
      }
    };
    // Where there is a gap, there is nothing to tell either.
    listen().catch(() => {});
    return () => {
      setNews(undefined);
      events.return?.();
    };
  }, [session]);
  return news;
}
