export type JsonObject = Record<string, unknown>;

export const isText = (value: unknown): value is string => typeof value === "string";

export const isObject = (value: unknown): value is JsonObject =>
  !!value && typeof value === "object" && !Array.isArray(value);

/** The object that a value is; one with nothing in it where it is none. */
export const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {});
