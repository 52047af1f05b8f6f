import { useContext } from "react";
import { Message } from "../conversation/message";
import { callKey, SubAgentsContext } from "../conversation/sub-agents";

/** The replies and questions of the sub-agent that a call started. */
export function Helper({ reply, call }: { reply: string; call: string }) {
  const message = useContext(SubAgentsContext).get(callKey(reply, call));
  return (
    message && (
      <div className="helper">
        <Message message={message} />
      </div>
    )
  );
}
