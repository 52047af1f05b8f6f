import { RecountError } from "@recount/client";
import { useEffect, useState } from "react";
import { useService } from "../service/context";
import { readLog } from "../service/log";
import { History } from "./history";

/** The delay before the log is requested again, in milliseconds. */
const PAUSE = 1_000;
/** The interval of updates, in milliseconds. */
const OFTEN = 80;

/** The known part of a session's log. It is a new object whenever it has grown. */
export interface HistoryState {
  readonly history: History;
  /** Whether all entries that existed when reading began have been read. */
  readonly isRead: boolean;
  readonly error: RecountError | undefined;
}

/** Reads a session's whole log and follows it. */
export function useHistory(name: string): HistoryState {
  const service = useService();
  const [known, setKnown] = useState<HistoryState>(() => ({ history: new History(), isRead: false, error: undefined }));
  useEffect(() => {
    const reading = new AbortController();
    const { signal } = reading;
    let history = new History();
    let isRead = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let error: RecountError | undefined;
    const changed = () => {
      timer ??= setTimeout(() => {
        timer = undefined;
        setKnown({ history, isRead, error });
      }, OFTEN);
    };
    const read = async () => {
      while (!signal.aborted && !error) {
        try {
          const after = history.entries.at(-1)?.cursor ?? "start";
          for await (const entries of readLog(service, name, after, signal)) {
            for (const entry of entries) history.push(entry);
            isRead ||= !entries.length;
            changed();
          }
        } catch (problem) {
          if (signal.aborted) return;
          const isRefusal = problem instanceof RecountError && problem.status >= 400 && problem.status < 500;
          if (isRefusal && problem.status === 410 && history.length) history = new History();
          else if (isRefusal) error = problem;
          changed();
        }
        await new Promise((resolve) => setTimeout(resolve, PAUSE));
      }
    };
    read();
    return () => {
      reading.abort();
      clearTimeout(timer);
    };
  }, [service, name]);
  return known;
}
