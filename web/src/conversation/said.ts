import { type DataBlock, type Msg, type TextBlock, UserMsg } from "@recount/client";
import { firstLine } from "../lib/format";

/** What a user says: words, and data that goes with them. */
export type Content = (TextBlock | DataBlock)[];

/** A file that goes with a message. */
export interface Attachment {
  readonly id: string;
  readonly name: string;
  readonly media_type: string;
  /** Base64. */
  readonly data: string;
}

/** The blocks of what was typed and attached. */
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

/** The same message with other words. */
export function reworded(message: Msg, text: string): Content {
  const data = message.content.filter((block): block is DataBlock => block.type === "data");
  return UserMsg({ name: "user", content: [...data, { type: "text", text }] }).content;
}

/** What a session is called after what was said first in it. */
export function titleFor(content: Content): string {
  const words = content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join(" ");
  const file = content.find((block) => block.type === "data");
  return firstLine(words, 64) || firstLine(file?.name ?? "", 64) || "Attachment";
}

let attached = 0;

/** A file as it goes with a message. */
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
