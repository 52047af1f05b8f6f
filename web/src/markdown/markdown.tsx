import { memo, useMemo, useRef } from "react";
import { closeMarks } from "./close-marks";
import { Growing } from "./code";
import { elementsOf } from "./elements";
import { parser } from "./parser";
import { type Split, split } from "./split";

/** Text in Markdown. While it `grows`, only its end is rendered again. */
export const Markdown = memo(function Markdown({ text, grows }: { text: string; grows: boolean }) {
  const before = useRef<Split>(undefined);
  const now = split(text, grows ? before.current : undefined);
  before.current = now;
  return (
    <div className="prose">
      {now.blocks.map((block, i) => {
        const isGrowing = grows && i === now.blocks.length - 1;
        return (
          <Growing key={i} value={isGrowing}>
            <Block text={isGrowing ? closeMarks(block) : block} />
          </Growing>
        );
      })}
    </div>
  );
});

const Block = memo(function Block({ text }: { text: string }) {
  return useMemo(() => elementsOf(parser.parse(text, {})), [text]);
});
