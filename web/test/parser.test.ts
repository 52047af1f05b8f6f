import { expect, test } from "vitest";
import { parser } from "../src/markdown/parser";

const typesOf = (text: string): string[] => parser.parse(text, {}).map(({ type }) => type);

test("a growing list does not turn the line before it into a heading", () => {
  for (const text of ["Two things:\n-", "1. one\n   -", "Above\n---"])
    expect(typesOf(text)).not.toContain("heading_open");
  expect(typesOf("## Two things")).toContain("heading_open");
});

test("task list items have a box", () => {
  const items = parser.parse("- [ ] to do\n- [x] done\n- [y] neither\n", {});
  expect(items.filter(({ type }) => type === "inline").map(({ children }) => children?.[0]?.content)).toEqual([
    "☐ to do",
    "☑ done",
    "[y] neither",
  ]);
});
