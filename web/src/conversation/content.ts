import { type DataBlock, type Msg, type TextBlock, UserMsg } from "@recount/client";
import { firstLine } from "../lib/format";

/** The content of a user's message: text and data. */
export type Content = (TextBlock | DataBlock)[];

/** A file that is attached to a message. */
export interface Attachment {
  readonly id: string;
  readonly name: string;
  readonly media_type: string;
  /** The content in base64. */
  readonly data: string;
}

/** Returns the blocks for a text and attachments. */
export function contentOf(text: string, attachments: readonly Attachment[]): Content {
  const data = attachments.map(({ name, media_type, data }) => ({
    type: "data" as const,
    name,
    source: { type: "base64" as const, data, media_type },
  }));
  const words = text.trim() ? [{ type: "text" as const, text: text.trim() }] : [];
  return UserMsg({ name: "user", content: [...data, ...words] }).content;
}

export const newUserMessage = (content: Content, id?: string): Msg =>
  UserMsg({ name: "user", content, ...(id && { id }) });

/** Returns the content of a message with another text. */
export function withText(message: Msg, text: string): Content {
  const data = message.content.filter((block): block is DataBlock => block.type === "data");
  return UserMsg({ name: "user", content: [...data, { type: "text", text }] }).content;
}

/** Returns the title of a session from its first message. */
export function titleFor(content: Content): string {
  const words = content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join(" ");
  const file = content.find((block) => block.type === "data");
  return firstLine(words, 64) || firstLine(file?.name ?? "", 64) || "Attachment";
}

let attached = 0;

/** Reads a file as an attachment. */
export async function attach(file: File): Promise<Attachment> {
  const address = await new Promise<string>((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(new Error(`${file.name} cannot be read`));
    reader.readAsDataURL(file);
  });
  const media_type = file.type || "application/octet-stream";
  return {
    id: `attachment-${++attached}`,
    name: file.name || "pasted",
    media_type,
    data: address.slice(address.indexOf(",") + 1),
  };
}
