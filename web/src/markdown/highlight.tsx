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
import { Fragment, type ReactNode } from "react";

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

/** Code that is longer than this stays plain: nobody reads it by its colours. */
const LONGEST = 50_000;

type Node = ReturnType<typeof highlighter.highlight>["children"][number];

/** Code with its parts marked, as far as its language is known. */
export function highlight(code: string, language: string): ReactNode {
  if (code.length > LONGEST || !highlighter.registered(language)) return code;
  return show(highlighter.highlight(language, code).children);
}

function show(nodes: readonly Node[]): ReactNode {
  return nodes.map((node, i) => {
    // Nothing but the order tells the parts of a piece of code apart.
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
