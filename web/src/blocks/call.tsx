import type { ToolCallBlock, ToolResultBlock } from "@recount/client";
import { memo } from "react";
import { useStoredState } from "../lib/use-stored-state";
import { Icon } from "../parts/icon";
import { Duration } from "../parts/time";
import { Confirmation } from "./confirmation";
import { External } from "./external";
import { Input } from "./input";
import { Result } from "./result";
import { Helper } from "./sub-agent";

/** The shortest duration of a tool call that is displayed, in milliseconds. */
const NOTEWORTHY = 50;

/** Returns the state of a call: its label and its style. */
export function callState(call: ToolCallBlock, result: ToolResultBlock | undefined): [word: string, look: string] {
  switch (result?.state) {
    case "success":
      return ["Done", "good"];
    case "error":
      return ["Failed", "bad"];
    case "denied":
      return ["Denied", "bad"];
    case "interrupted":
      return ["Interrupted", "bad"];
    case "running":
      return ["Running", "busy"];
    case undefined:
      break;
  }
  switch (call.state) {
    case "asking":
      return ["Asks for permission", "asking"];
    case "submitted":
      return ["Waits for a result", "asking"];
    case "allowed":
      return ["Allowed", "busy"];
    case "finished":
      // A call that ran has a result. This call was denied, and its result is still to come.
      return ["Denied", "bad"];
    case "pending":
      return [call.finished_at ? "Pending" : "Preparing", "busy"];
  }
}

/** A tool call: its arguments as they arrive, a question if there is one, and its result. */
export const Call = memo(function Call({
  call,
  result,
  reply,
  isOver,
}: {
  call: ToolCallBlock;
  result: ToolResultBlock | undefined;
  reply: string;
  isOver: boolean;
}) {
  const [isOpen, setOpen] = useStoredState(`${reply} ${call.id} call`, true);
  const [word, look] = callState(call, result);
  const isWaiting = !result && !isOver;
  return (
    <section className="tool" data-look={look} aria-label={`Tool call ${call.name}`}>
      <button type="button" className="fold" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <Icon name="tool" />
        <strong>{call.name || "…"}</strong>
        <span className="standing">{word}</span>
        <small>
          <Duration from={result?.created_at} until={result?.finished_at} least={NOTEWORTHY} />
        </small>
        <Icon name="chevron" />
      </button>
      {isOpen && (
        <>
          <Input call={call} />
          {isWaiting && call.state === "asking" && <Confirmation call={call} reply={reply} />}
          {isWaiting && call.state === "submitted" && <External call={call} reply={reply} />}
          <Helper reply={reply} call={call.id} />
          {result && <Result result={result} />}
        </>
      )}
    </section>
  );
});
