export type JsonObject = Record<string, unknown>;

export const isText = (value: unknown): value is string => typeof value === "string";

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);
