import type { SessionInfo } from "@recount/client";
import { type SubmitEvent, useState } from "react";
import { go } from "../lib/route";
import { Icon } from "../parts/icon";
import { useNotify } from "../parts/notices";
import { deleteSession, renameSession } from "../service/api";
import { useService } from "../service/context";

/** Renames or deletes a session. */
export function Rename({ session, onClose }: { session: SessionInfo; onClose: () => void }) {
  const service = useService();
  const notify = useNotify();
  const [title, setTitle] = useState(session.title ?? "");
  const [isSure, setSure] = useState(false);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    renameSession(service, session.id, title.trim() || null).then(onClose, notify);
  };
  const remove = async () => {
    try {
      await deleteSession(service, session.id);
      if (location.pathname.endsWith(`/${session.id}`)) go({}, "replace");
    } catch (error) {
      notify(error);
    }
  };
  return (
    <form className="rename" onSubmit={submit} onKeyDown={(event) => event.key === "Escape" && onClose()}>
      <input
        type="text"
        aria-label="Title"
        dir="auto"
        value={title}
        // biome-ignore lint/a11y/noAutofocus: the user has just opened the form to type.
        autoFocus
        onChange={(event) => setTitle(event.target.value)}
      />
      {isSure ? (
        <div className="choices">
          <button type="button" className="small danger" onClick={remove}>
            <Icon name="trash" />
            Really delete
          </button>
          {/* biome-ignore lint/a11y/noAutofocus: the pressed button is gone. */}
          <button type="button" className="small quiet" autoFocus onClick={() => setSure(false)}>
            Keep it
          </button>
        </div>
      ) : (
        <div className="choices">
          <button type="submit" className="small primary">
            Rename
          </button>
          <button type="button" className="small danger" onClick={() => setSure(true)}>
            <Icon name="trash" />
            Delete
          </button>
          <button type="button" className="small quiet" onClick={onClose}>
            Cancel
          </button>
        </div>
      )}
    </form>
  );
}
