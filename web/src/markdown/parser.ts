import MarkdownIt from "markdown-it";

/**
 * HTML is treated as text. Setext headings are disabled: in a growing text, each list would briefly turn the line
 * before it into a heading.
 */
export const parser = MarkdownIt({ html: false, linkify: true, breaks: false, typographer: false }).disable("lheading");

/** Matches the box at the beginning of a task list item. */
const TASK = /^\[([ x])\] /i;

parser.core.ruler.after("inline", "tasks", ({ tokens }) => {
  tokens.forEach((item, i) => {
    const words = tokens[i + 2]?.children?.[0];
    const box = item.type === "list_item_open" && words?.type === "text" && TASK.exec(words.content);
    if (!box) return;
    item.meta = { isTask: true };
    words.content = `${box[1] === " " ? "☐" : "☑"} ${words.content.slice(box[0].length)}`;
  });
});
