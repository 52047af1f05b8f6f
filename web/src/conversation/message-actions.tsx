import type { Msg } from "@recount/client";
import { CopyButton } from "../parts/copy";
import { Icon, type IconName } from "../parts/icon";
import { useTell } from "../parts/notices";
import { useActions } from "./actions";
import { parentOf } from "./helpers";

/** What finds the button by which a message is edited. */
export const EDIT = '[data-action="edit"]';

/** What can be done with a message that is over, or as far as it is. Where the past is shown that is nothing. */
export function MessageActions({ message, isOver, onEdit }: { message: Msg; isOver: boolean; onEdit: () => void }) {
  const actions = useActions();
  const tell = useTell();
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
          onClick={() => actions.regenerate(message).catch(tell)}
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
  /** What the button is found by. */
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
