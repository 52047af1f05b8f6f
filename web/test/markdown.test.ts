import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { Markdown } from "../src/markdown/markdown";

const shown = (text: string, grows: boolean) => renderToStaticMarkup(createElement(Markdown, { text, grows }));
const isColoured = (html: string) => html.includes("hljs-");
const fence = (lines: number) => `\`\`\`rust\n${"let x = 1;\n".repeat(lines)}`;

test("code is coloured as it grows, and long code when it is complete", () => {
  expect(isColoured(shown(fence(3), true))).toBe(true);
  expect(isColoured(shown(fence(1_000), true))).toBe(false);
  expect(isColoured(shown(fence(1_000), false))).toBe(true);
  // What comes before the end of a text does not grow.
  expect(isColoured(shown(`${fence(1_000)}\`\`\`\n\nThat was`, true))).toBe(true);
});
