import type { Token } from "markdown-it";
import { createElement, Fragment, type ReactNode } from "react";
import { Code } from "./code";

/** The headings of a message rank below those of the page. */
const headings: Record<string, string> = { h1: "h3", h2: "h4", h3: "h5", h4: "h6", h5: "h6", h6: "h6" };

/** The elements with their own text direction. */
const BLOCKS = /^(p|h[1-6]|ul|blockquote)$/;

/** Returns elements for parsed tokens. No HTML is ever inserted, so a text cannot create any other element. */
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

/** Returns an element with children. */
function enclosing(token: Token, children: ReactNode[]): ReactNode {
  // A paragraph in a tight list.
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
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrolling content must be reachable by keyboard.
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
      // Each block has its own text direction.
      return createElement(headings[tag] ?? tag, BLOCKS.test(tag) ? { dir: "auto" } : null, children);
  }
}

/** Returns an element without children. */
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
 * Renders images only from `data:image/` addresses; other images become links. Otherwise a message could send its
 * content to another server by the address of an image.
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
