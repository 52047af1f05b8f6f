import type { Msg } from "@recount/client";
import { type SubmitEvent, useState } from "react";
import { useNotify } from "../parts/notices";
import { useActions } from "./actions";

/** Edits a user's message. The new text is sent in a fork, so that the original session is kept. */
export function EditMessage({ message, onClose }: { message: Msg; onClose: () => void }) {
  const actions = useActions();
  const notify = useNotify();
  const [text, setText] = useState(message.getTextContent() ?? "");
  const [isSending, setSending] = useState(false);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    setSending(true);
    try {
      await actions?.edit(message, text);
      onClose();
    } catch (error) {
      notify(error);
      setSending(false);
    }
  };
  return (
    <form className="editing" onSubmit={submit} onKeyDown={(event) => event.key === "Escape" && onClose()}>
      <textarea
        aria-label="Edited message"
        dir="auto"
        rows={3}
        value={text}
        // biome-ignore lint/a11y/noAutofocus: the user has just opened the editor to type.
        autoFocus
        onChange={(event) => setText(event.target.value)}
      />
      <div className="choices">
        <button type="submit" className="primary" disabled={isSending || !text.trim()}>
          Say this in a new session
        </button>
        <button type="button" onClick={onClose}>
          Cancel
        </button>
      </div>
    </form>
  );
}
