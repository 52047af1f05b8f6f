import { useContext } from "react";
import { callKey, HelpersContext } from "../conversation/helpers";
import { Message } from "../conversation/message";

/** The replies and questions of the sub-agent that a call started. */
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
