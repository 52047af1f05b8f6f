import type { AgentEvent, Session } from "@recount/client";
import { useEffect, useState } from "react";
import { isRecord } from "../lib/json";

/** Returns a status line for an event, if it is worth one. */
export function statusOf(event: AgentEvent): string | undefined {
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

/** Returns the last status line of the reply in progress, until the reply continues. */
export function useStatus(session: Session | undefined): string | undefined {
  const [news, setStatus] = useState<string>();
  useEffect(() => {
    if (!session) return;
    const events = session.events();
    const listen = async () => {
      for await (const event of events) {
        const status = statusOf(event);
        if (status || event.type !== "CUSTOM") setStatus(status);
      }
    };
    // After a gap there is no status either.
    listen().catch(() => {});
    return () => {
      setStatus(undefined);
      events.return?.();
    };
  }, [session]);
  return news;
}
