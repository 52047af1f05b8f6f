import { expect, test } from "vitest";
import { closeMarks } from "../src/markdown/close-marks";

test("open marks are closed while a text grows", () => {
  const texts = {
    "Some **bold": "Some **bold**",
    "Some **bold words ": "Some **bold words**",
    "Some **bold*": "Some **bold**",
    "Some **": "Some ",
    "**First": "**First**",
    "- one\n- **two": "- one\n- **two**",
    "A `name": "A `name`",
    "A `": "A ",
    "**the `name": "**the `name`**",
    "| a | **b": "| a | **b**",
  };
  for (const [text, expected] of Object.entries(texts)) expect(closeMarks(text)).toBe(expected);
});

test("text without open marks is unchanged", () => {
  for (const text of [
    "",
    "Some **bold** words",
    "A `name` and `**`",
    "2**3",
    "2 ** 3",
    "* one\n* two",
    "``a ` b",
    "```js\nconst a = `x",
    "- a\n  ```js\n  2 ** `",
    "    let a = `x",
    "**an old line\nand a new one",
  ])
    expect(closeMarks(text)).toBe(text);
});

test("growing text never shows the marks of bold words or code", () => {
  const text = "**Paragraph 1.** Some `code` and **bold words** here.";
  for (let end = 1; end < text.length; end++) {
    const shown = closeMarks(text.slice(0, end));
    // A single mark may be a list bullet or an operator.
    if (text[end - 1] === "*" && shown.endsWith("*") && !shown.endsWith("**")) continue;
    expect(shown.split("**").length % 2).toBe(1);
    expect(shown.split("`").length % 2).toBe(1);
  }
});
