import type { ContentBlock } from "./generated.js";

/** The type of a block. */
export type BlockType = ContentBlock["type"];

/** The block with a type. */
export type BlockOf<T extends string> = Extract<ContentBlock, { type: T }>;
