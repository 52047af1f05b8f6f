import type { Token } from "markdown-it";
import { createElement, Fragment, type ReactNode } from "react";
import { Code } from "./code";

/** A message has no headings of the page's own rank. */
const headings: Record<string, string> = { h1: "h3", h2: "h4", h3: "h5", h4: "h6", h5: "h6", h6: "h6" };

/** What has a direction of writing of its own. */
const BLOCKS = /^(p|h[1-6]|ul|blockquote)$/;

/**
 * Elements for what the parser found. There is no way from a text to anything but these: no HTML is written anywhere.
 */
export function elementsOf(tokens: readonly Token[]): ReactNode[] {
  let next = 0;
  const siblings = (): ReactNode[] => {
    const nodes: ReactNode[] = [];
    while (next < tokens.length) {
      const key = next;
      const token = tokens[next++]!;
      if (token.nesting < 0) break;
      nodes.push(<Fragment key={key}>{token.nesting > 0 ? enclosing(token, siblings()) : single(token)}</Fragment>);
    }
    return nodes;
  };
  return siblings();
}

/** An element with others in it. */
function enclosing(token: Token, children: ReactNode[]): ReactNode {
  // A paragraph of a list without empty lines.
  if (token.hidden) return children;
  const { tag } = token;
  switch (token.type) {
    case "link_open":
      return (
        <a href={attribute(token, "href")} rel="noopener noreferrer nofollow" target="_blank">
          {children}
        </a>
      );
    case "table_open":
      return (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
        <div className="table" tabIndex={0}>
          <table>{children}</table>
        </div>
      );
    case "list_item_open":
      return <li className={token.meta?.isTask ? "task" : undefined}>{children}</li>;
    case "ordered_list_open":
      return (
        <ol start={Number(attribute(token, "start") ?? 1)} dir="auto">
          {children}
        </ol>
      );
    case "th_open":
    case "td_open": {
      const align = /text-align:(left|right|center)/.exec(attribute(token, "style") ?? "")?.[1];
      return createElement(tag, { dir: "auto", ...(align && { style: { textAlign: align } }) }, children);
    }
    default:
      // Each begins where its own writing does.
      return createElement(headings[tag] ?? tag, BLOCKS.test(tag) ? { dir: "auto" } : null, children);
  }
}

/** An element without others in it. */
function single(token: Token): ReactNode {
  switch (token.type) {
    case "inline":
      return elementsOf(token.children ?? []);
    case "text":
      return token.content;
    case "softbreak":
      return "\n";
    case "hardbreak":
      return <br />;
    case "hr":
      return <hr />;
    case "code_inline":
      return <code>{token.content}</code>;
    case "fence":
      return (
        <Code code={token.content.replace(/\n$/, "")} language={token.info.trim().split(/\s+/, 1)[0]!.toLowerCase()} />
      );
    case "code_block":
      return <Code code={token.content.replace(/\n$/, "")} language="" />;
    case "image":
      return image(token);
    default:
      return token.content;
  }
}

/**
 * Who can write into a message could have the page tell another server what is in it, by naming a picture there. So only
 * pictures that are in the text are shown, and others are links.
 */
function image(token: Token): ReactNode {
  const source = attribute(token, "src") ?? "";
  if (source.startsWith("data:image/")) return <img src={source} alt={token.content} />;
  return (
    <a href={source} rel="noopener noreferrer nofollow" target="_blank">
      {token.content || source}
    </a>
  );
}

function attribute(token: Token, name: string): string | undefined {
  const value = token.attrGet(name);
  return value === null || value === undefined ? undefined : String(value);
}
