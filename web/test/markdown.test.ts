import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { piecesOf } from "../src/markdown/highlight";
import { Markdown } from "../src/markdown/markdown";

const shown = (text: string, grows: boolean) => renderToStaticMarkup(createElement(Markdown, { text, grows }));
const isColoured = (html: string) => html.includes("hljs-");
const fence = (lines: number) => `\`\`\`rust\n${"let x = 1;\n".repeat(lines)}`;

test("code is highlighted while it grows, at any length, and when it is complete", () => {
  expect(isColoured(shown(fence(3), true))).toBe(true);
  for (const grows of [true, false]) {
    const html = shown(fence(1_000), grows);
    // Each line has a keyword and a number.
    expect(html.match(/hljs-keyword/g)).toHaveLength(1_000);
    expect(html.match(/hljs-number/g)).toHaveLength(1_000);
    expect(html.replace(/<[^>]+>/g, "")).toContain("let x = 1;\n".repeat(999));
  }
  // Code before the end of the text does not grow.
  expect(isColoured(shown(`${fence(1_000)}\`\`\`\n\nThat was`, true))).toBe(true);
});

test("long code is highlighted at its beginning and shown completely", () => {
  for (const grows of [true, false]) {
    const html = shown(fence(20_000), grows);
    expect(isColoured(html)).toBe(true);
    expect(html.match(/hljs-keyword/g)!.length).toBeLessThan(6_000);
    expect(html.replace(/<[^>]+>/g, "")).toContain("let x = 1;\n".repeat(19_999));
  }
});

test("growing code is split at the same places", () => {
  for (const code of [
    "let x = 1;\n".repeat(2_000),
    "x".repeat(30_000),
    `${"y".repeat(3_999)}\n${"z".repeat(9_000)}\n`,
  ]) {
    const all = piecesOf(code);
    expect(all.join("")).toBe(code);
    expect(all.length).toBeGreaterThan(2);
    for (let end = 997; end < code.length; end += 997) {
      const before = piecesOf(code.slice(0, end));
      expect(before.slice(0, -1)).toEqual(all.slice(0, before.length - 1));
      expect(before.join("")).toBe(code.slice(0, end));
    }
  }
});
