import { type ReactNode, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";
import { base64Size, bytes } from "../lib/format";
import { keep, recall } from "../lib/storage";
import { Icon } from "../parts/icon";
import { useNotify } from "../parts/notices";
import { type Attachment, attach, type Content, contentOf } from "./content";
import { useDrop } from "./drop";

/** The maximum total size of the attachments of a message, in bytes. */
const LARGEST = 12_000_000;

const draftKey = (name: string) => `recount.draft.${name}`;

/** The input box. Unsent text is restored after a reload. */
export function Composer({
  name,
  onSend,
  onStop,
  children,
}: {
  /** The session; `undefined` for a new one. */
  name: string | undefined;
  onSend: (content: Content) => void | Promise<void>;
  /** Stops the reply in progress; `undefined` if there is none. */
  onStop: (() => Promise<void>) | undefined;
  /** Options of the message. */
  children?: ReactNode;
}) {
  const key = draftKey(name ?? "");
  const [text, setText] = useState(() => recall("sessionStorage", key) ?? "");
  const [attachments, setAttachments] = useState<readonly Attachment[]>([]);
  const [isStopping, setStopping] = useState(false);
  const box = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  const notify = useNotify();

  useEffect(() => keep("sessionStorage", key, text), [key, text]);

  const focus = useCallback(() => {
    // On a touch screen the keyboard would cover the page.
    if (matchMedia("(pointer: fine)").matches) box.current?.focus();
  }, []);
  useEffect(focus, [focus]);

  useLayoutEffect(() => {
    // For browsers in which the box does not grow with its text.
    if (!box.current || CSS.supports("field-sizing", "content")) return;
    box.current.style.height = "auto";
    box.current.style.height = text ? `${box.current.scrollHeight}px` : "";
  }, [text]);

  const add = async (files: readonly File[]) => {
    try {
      const sizes = [...attachments.map(({ data }) => base64Size(data)), ...files.map(({ size }) => size)];
      const size = sizes.reduce((sum, one) => sum + one, 0);
      if (size > LARGEST)
        throw new Error(`attachments may have ${bytes(LARGEST)} together, and these have ${bytes(size)}`);
      const added = await Promise.all(files.map(attach));
      // Other attachments may have been added while these files were read.
      setAttachments((all) => [...all, ...added]);
    } catch (error) {
      notify(error);
    }
  };

  const isDragging = useDrop(add);

  const isEmpty = !text.trim() && !attachments.length;
  const send = async () => {
    if (isEmpty) return;
    const content = contentOf(text, attachments);
    setText("");
    setAttachments([]);
    // The button that was pressed is disabled or gone.
    focus();
    try {
      await onSend(content);
    } catch (error) {
      notify(error);
      setText(text);
      setAttachments(attachments);
    }
  };

  return (
    <form
      className="composer"
      aria-label="New message"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
      data-dragging={isDragging}
    >
      {attachments.length > 0 && (
        <ul className="attachments" aria-label="Attachments">
          {attachments.map((attachment) => (
            <li key={attachment.id}>
              {attachment.media_type.startsWith("image/") ? (
                <img src={`data:${attachment.media_type};base64,${attachment.data}`} alt={attachment.name} />
              ) : (
                <Icon name="clip" />
              )}
              <span>{attachment.name}</span>
              <small>{bytes(base64Size(attachment.data))}</small>
              <button
                type="button"
                className="quiet small"
                aria-label={`Remove ${attachment.name}`}
                onClick={() => setAttachments((all) => all.filter((other) => other !== attachment))}
              >
                <Icon name="close" />
              </button>
            </li>
          ))}
        </ul>
      )}
      <textarea
        ref={box}
        id="message"
        aria-label="Message"
        dir="auto"
        placeholder={isDragging ? "Drop files here to attach them" : "Say something"}
        rows={1}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onPaste={(event) => {
          const { types, files } = event.clipboardData;
          // Spreadsheets put both text and an image of it on the clipboard.
          if (types.includes("text/plain") || !files.length) return;
          event.preventDefault();
          add([...files]);
        }}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
          event.preventDefault();
          send();
        }}
      />
      <div className="bar">
        <input
          ref={picker}
          type="file"
          multiple
          hidden
          aria-label="Files"
          onChange={(event) => {
            add([...(event.target.files ?? [])]);
            event.target.value = "";
          }}
        />
        <button
          type="button"
          className="quiet"
          aria-label="Attach files"
          title="Attach files"
          onClick={() => picker.current?.click()}
        >
          <Icon name="clip" />
        </button>
        {children}
        <span className="grow" />
        {onStop && (
          <button
            type="button"
            className="stop"
            disabled={isStopping}
            onClick={() => {
              setStopping(true);
              onStop()
                .catch(notify)
                .finally(() => setStopping(false));
              focus();
            }}
          >
            <Icon name="stop" />
            Stop
          </button>
        )}
        <button type="submit" className="primary" disabled={isEmpty} title="Enter sends, Shift+Enter begins a new line">
          <Icon name="send" />
          Send
        </button>
      </div>
    </form>
  );
}
