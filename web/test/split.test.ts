import { expect, test } from "vitest";
import { type Split, split } from "../src/markdown/split";

const TEXT = `# A heading

A paragraph with *emphasis*
over two lines.

- one
- two

  with a second paragraph
- three

\`\`\`rust
fn main() {}

// after an empty line
\`\`\`

| a | b |
|---|---|
| 1 | 2 |

> a quote
goes on

    indented

---
1. first
2. second`;

test("the blocks of a text concatenate to the text", () => {
  expect(split(TEXT).blocks.join("")).toBe(TEXT);
  expect(split(TEXT).blocks).toHaveLength(9);
});

test("a growing text is split like a complete one", () => {
  let before: Split | undefined;
  for (let length = 0; length <= TEXT.length; length++) {
    before = split(TEXT.slice(0, length), before);
    expect(before.blocks).toEqual(split(TEXT.slice(0, length)).blocks);
  }
});

test("a text with link definitions is not split", () => {
  const text = "See [this][1].\n\nAnd that.\n\n[1]: https://example.com\n";
  expect(split(text).blocks).toEqual([text]);
});
