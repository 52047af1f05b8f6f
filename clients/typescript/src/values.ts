export type JsonObject = Record<string, unknown>;

export const isText = (value: unknown): value is string => typeof value === "string";

export const isObject = (value: unknown): value is JsonObject =>
  !!value && typeof value === "object" && !Array.isArray(value);

/** Returns the value if it is an object, otherwise an empty object. */
export const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {});
