import { RecountError } from "@recount/client";
import { useState } from "react";
import { errorText, useNotify } from "../parts/notices";

/** Returns why an answer was rejected. The user may have answered in another window. */
function refusalOf(error: RecountError): string {
  switch (error.reason) {
    case "late":
      return "Too late: the reply no longer waits for this answer.";
    case "duplicate":
      return "This has been answered already, maybe in another window.";
    case "not_waiting":
      return "Nobody waits for this answer any more.";
    default:
      return `The answer was not taken. ${errorText(error)}`;
  }
}

/** Returns a function that answers a waiting call and reports a rejected answer. */
export function useAnswer() {
  const notify = useNotify();
  const [isSending, setSending] = useState(false);
  const [problem, setProblem] = useState<string>();
  const give = async (send: () => Promise<unknown>) => {
    setSending(true);
    setProblem(undefined);
    // The buttons disappear with the answer, and the keyboard focus would be lost.
    const card = document.activeElement?.closest(".tool")?.querySelector<HTMLElement>(".fold");
    try {
      await send();
      card?.focus({ preventScroll: true });
    } catch (error) {
      setSending(false);
      // The question may be removed from the page before an error in it can be read.
      if (error instanceof RecountError && error.status === 409) notify(refusalOf(error));
      else setProblem(errorText(error));
    }
  };
  return { isSending, problem, give };
}
