import bash from "highlight.js/lib/languages/bash";
import c from "highlight.js/lib/languages/c";
import cpp from "highlight.js/lib/languages/cpp";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import go from "highlight.js/lib/languages/go";
import ini from "highlight.js/lib/languages/ini";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import kotlin from "highlight.js/lib/languages/kotlin";
import markdown from "highlight.js/lib/languages/markdown";
import python from "highlight.js/lib/languages/python";
import ruby from "highlight.js/lib/languages/ruby";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";
import { createLowlight } from "lowlight";
import { Fragment, memo, type ReactNode } from "react";

const highlighter = createLowlight({
  bash,
  c,
  cpp,
  css,
  diff,
  go,
  ini,
  java,
  javascript,
  json,
  kotlin,
  markdown,
  python,
  ruby,
  rust,
  sql,
  typescript,
  xml,
  yaml,
});
highlighter.registerAlias({ bash: ["console", "shell", "zsh"], ini: ["toml"], json: ["jsonl", "ndjson"] });

/** The maximum number of highlighted characters. The rest is plain. */
const LONGEST = 50_000;

/** The minimum length of a highlighted piece. While code grows, only its last piece is highlighted again. */
const PIECE = 4_000;

type Node = ReturnType<typeof highlighter.highlight>["children"][number];

/** Highlighted code, if its language is known. While it `grows`, the result may differ from the final one. */
export function Highlighted({ code, language, grows }: { code: string; language: string; grows: boolean }): ReactNode {
  if (!highlighter.registered(language)) return code;
  if (!grows) {
    const end = code.length > LONGEST ? code.lastIndexOf("\n", LONGEST) + 1 : code.length;
    return (
      <>
        <Coloured code={code.slice(0, end)} language={language} />
        {code.slice(end)}
      </>
    );
  }
  let start = 0;
  return piecesOf(code).map((piece, i) => {
    const isPlain = start >= LONGEST;
    start += piece.length;
    return isPlain ? piece : <Coloured key={i} code={piece} language={language} />;
  });
}

/** Splits code at line ends. When it grows, all pieces but the last are unchanged. */
export function piecesOf(code: string): string[] {
  const pieces: string[] = [];
  let start = 0;
  while (code.length - start >= PIECE) {
    const line = code.indexOf("\n", start + PIECE - 1) + 1;
    // A line may be longer than a piece.
    const end = line > 0 && line <= start + 2 * PIECE ? line : start + 2 * PIECE;
    if (end > code.length) break;
    pieces.push(code.slice(start, end));
    start = end;
  }
  return start < code.length ? [...pieces, code.slice(start)] : pieces;
}

const Coloured = memo(function Coloured({ code, language }: { code: string; language: string }) {
  return show(highlighter.highlight(language, code).children);
});

function show(nodes: readonly Node[]): ReactNode {
  return nodes.map((node, i) => {
    // The pieces are identified only by their order.
    const key = i;
    if (node.type === "text") return <Fragment key={key}>{node.value}</Fragment>;
    if (node.type !== "element") return null;
    const { className } = node.properties;
    return (
      <span key={key} className={Array.isArray(className) ? className.join(" ") : undefined}>
        {show(node.children)}
      </span>
    );
  });
}
