import { useEffect, useState } from "react";
import { Icon } from "./icon";

/**
 * Copies a text to the clipboard. Without a secure context, or in a frame, only the deprecated command is available.
 */
async function write(text: string): Promise<void> {
  const isWritten = await navigator.clipboard?.writeText(text).then(
    () => true,
    () => false,
  );
  if (isWritten) return;
  const box = document.createElement("textarea");
  box.value = text;
  document.body.append(box);
  box.select();
  document.execCommand("copy");
  box.remove();
}

/** Copies a text and confirms it for a moment. */
export function CopyButton({ text, label }: { text: string; label: string }) {
  const [isDone, setDone] = useState(false);
  useEffect(() => {
    if (!isDone) return;
    const timer = setTimeout(() => setDone(false), 1500);
    return () => clearTimeout(timer);
  }, [isDone]);
  const copy = () => write(text).then(() => setDone(true));
  return (
    <button type="button" className="quiet small" aria-label={isDone ? "Copied" : label} title={label} onClick={copy}>
      <Icon name={isDone ? "check" : "copy"} />
    </button>
  );
}
