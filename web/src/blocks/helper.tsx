import { useContext } from "react";
import { callKey, HelpersContext } from "../conversation/helpers";
import { Message } from "../conversation/message";

/** What the agent says and asks that a call has given a task. */
export function Helper({ reply, call }: { reply: string; call: string }) {
  const message = useContext(HelpersContext).get(callKey(reply, call));
  return (
    message && (
      <div className="helper">
        <Message message={message} />
      </div>
    )
  );
}
