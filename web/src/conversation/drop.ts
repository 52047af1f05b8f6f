import { useEffect, useRef, useState } from "react";

/** Takes files that are dropped anywhere on the page. Says whether some are being dragged over it. */
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
    // Nothing is left that it could have come from or gone to.
    on("dragleave", (event) => event.relatedTarget === null && setOver(false));
    // Otherwise the browser would go to the file, and leave the page.
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
