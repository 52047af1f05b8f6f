import { useEffect, useRef, useState } from "react";

/** Accepts files that are dropped anywhere on the page. Returns whether files are being dragged over it. */
export function useDrop(onFiles: (files: readonly File[]) => void): boolean {
  const [isOver, setOver] = useState(false);
  const take = useRef(onFiles);
  take.current = onFiles;
  useEffect(() => {
    const listening = new AbortController();
    const on = (name: "dragenter" | "dragover" | "dragleave" | "drop", react: (event: DragEvent) => void) => {
      const listen = (event: DragEvent) => {
        if (event.dataTransfer?.types.includes("Files")) react(event);
      };
      addEventListener(name, listen, listening);
    };
    on("dragenter", () => setOver(true));
    // The pointer has left the window.
    on("dragleave", (event) => event.relatedTarget === null && setOver(false));
    // Otherwise the browser would open the file and leave the page.
    on("dragover", (event) => event.preventDefault());
    on("drop", (event) => {
      event.preventDefault();
      setOver(false);
      take.current([...(event.dataTransfer?.files ?? [])]);
    });
    return () => listening.abort();
  }, []);
  return isOver;
}
