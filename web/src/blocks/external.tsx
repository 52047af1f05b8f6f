import type { ToolCallBlock } from "@recount/client";
import { type SubmitEvent, useId } from "react";
import { useActions } from "../conversation/actions";
import { useStoredState } from "../lib/use-stored-state";
import { useAnswer } from "./use-answer";

/** Asks the user for the result of an external tool. */
export function External({ call, reply }: { call: ToolCallBlock; reply: string }) {
  const actions = useActions();
  const [output, setOutput] = useStoredState(`${reply} ${call.id} output`, "");
  const [hasFailed, setFailed] = useStoredState(`${reply} ${call.id} failed`, false);
  const { isSending, problem, give } = useAnswer();
  const id = useId();
  if (!actions) return <p className="asked">A result is awaited from elsewhere.</p>;

  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const result = {
      type: "tool_result",
      id: call.id,
      name: call.name,
      output,
      state: hasFailed ? "error" : "success",
    } as const;
    give(() => actions.session.resolve(reply, [result]));
  };

  return (
    <form className="card" aria-label={`Result of ${call.name}`} onSubmit={submit}>
      <p>
        <strong>{call.name}</strong> runs outside of the service. What came of it?
      </p>
      <div className="field">
        <label htmlFor={`${id}-output`}>Result</label>
        <textarea
          id={`${id}-output`}
          className="mono"
          rows={3}
          value={output}
          onChange={(event) => setOutput(event.target.value)}
        />
      </div>
      <div className="choices">
        <button type="submit" className="primary" disabled={isSending}>
          Give result
        </button>
        <label className="check">
          <input type="checkbox" checked={hasFailed} onChange={(event) => setFailed(event.target.checked)} />
          It failed
        </label>
      </div>
      {problem && (
        <p className="wrong" role="alert">
          {problem}
        </p>
      )}
    </form>
  );
}
