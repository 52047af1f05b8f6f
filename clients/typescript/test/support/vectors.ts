import { readFileSync } from "node:fs";
import type { JsonObject } from "./values.js";

const root = new URL("../../../../", import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), "utf8");

/** Returns the cases of a file of `conformance`. */
export function cases<T>(path: string): T[] {
  return read(`conformance/${path}`)
    .split("\n")
    .filter((line) => line)
    .map((line) => JSON.parse(line) as T);
}

/** Returns whether a difference from the reference is intended. The list is the one of the Rust tests. */
export function isListed(file: string, name: string): boolean {
  return deviations.some((deviation) => deviation.file === file && deviation.cases.test(name));
}

const deviations = [
  ...read("crates/recount-message/tests/python/deviations.rs").matchAll(
    /^ {8}"(\w+\.jsonl)": ((?:"[^"]*"(?:,\s*)?)+);/gm,
  ),
].flatMap(([, file, patterns]) =>
  [...(patterns as string).matchAll(/"([^"]*)"/g)].map(([, pattern]) => ({ file, cases: globbed(pattern as string) })),
);

/** Creates the pattern of a glob, in which `*` matches any text. */
function globbed(pattern: string): RegExp {
  return new RegExp(`^${pattern.split("*").map(escaped).join(".*")}$`, "s");
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
}

/** Placeholders for a generated time or id of the reference. */
const isMadeUp = (value: unknown) => value === "<now>" || value === "<random>";

/** Returns the first difference from the expected value. Keys that the reference does not know are ignored. */
export function difference(ours: unknown, theirs: unknown, path = ""): string | undefined {
  if (isMadeUp(theirs) && typeof ours === "string") return;
  if (Array.isArray(ours) && Array.isArray(theirs) && ours.length === theirs.length) {
    return ours.map((item, index) => difference(item, theirs[index], `${path}[${index}]`)).find((found) => found);
  }
  if (isObject(ours) && isObject(theirs)) {
    const keys = Object.keys(theirs);
    const known = Object.keys(ours).filter((key) => keys.includes(key));
    if (known.join() !== keys.join()) return `${path}: the keys ${known} in place of ${keys}`;
    return keys.map((key) => difference(ours[key], theirs[key], `${path}.${key}`)).find((found) => found);
  }
  return Object.is(ours, theirs) ? undefined : `${path}: ${JSON.stringify(ours)} in place of ${JSON.stringify(theirs)}`;
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);
