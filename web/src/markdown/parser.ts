import MarkdownIt from "markdown-it";

/**
 * No HTML: what looks like it is text. And no headings by a line of dashes below them: in a text that grows, each list would
 * make one of the line before it for a moment.
 */
export const parser = MarkdownIt({ html: false, linkify: true, breaks: false, typographer: false }).disable("lheading");

/** An item of a list that can be done begins with a box. */
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
