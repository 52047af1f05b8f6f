import type { Msg } from "@recount/client";
import { CopyButton } from "../parts/copy";
import { Icon, type IconName } from "../parts/icon";
import { useNotify } from "../parts/notices";
import { useActions } from "./actions";
import { parentOf } from "./sub-agents";

/** Selects the edit button of a message. */
export const EDIT = '[data-action="edit"]';

/** The actions on a message as far as it is complete. There are none while a past state is displayed. */
export function MessageActions({ message, isOver, onEdit }: { message: Msg; isOver: boolean; onEdit: () => void }) {
  const actions = useActions();
  const notify = useNotify();
  if (!actions) return null;
  const text = message.getTextContent("\n\n");
  return (
    <span className="actions">
      {text && isOver && <CopyButton text={text} label="Copy message" />}
      {message.role === "user" && (
        <ActionButton icon="edit" label="Edit in a new session" action="edit" onClick={onEdit} />
      )}
      {message.role === "assistant" && isOver && !parentOf(message) && (
        <ActionButton
          icon="again"
          label="Regenerate in a new session"
          onClick={() => actions.regenerate(message).catch(notify)}
        />
      )}
      <ActionButton icon="inspect" label="Inspect its events" onClick={() => actions.inspect(message)} />
    </span>
  );
}

function ActionButton({
  icon,
  label,
  action,
  onClick,
}: {
  icon: IconName;
  label: string;
  /** The value of the `data-action` attribute. */
  action?: string;
  onClick: () => void;
}) {
  return (
    <button
      type="button"
      className="quiet small"
      data-action={action}
      aria-label={label}
      title={label}
      onClick={onClick}
    >
      <Icon name={icon} />
    </button>
  );
}
