import MarkdownIt from "markdown-it";

/** No HTML: what looks like it is text. */
export const parser = MarkdownIt({ html: false, linkify: true, breaks: false, typographer: false });
