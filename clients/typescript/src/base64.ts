import type { Base64Source } from "./generated.js";

/**
 * Grown base64 in two parts: the groups that are final, and the rest to which the next piece is appended. Reading the
 * end of a long concatenated string makes the engine copy it, so the end is stored separately.
 */
const grown = new WeakMap<Base64Source, [groups: string, rest: string]>();

/** Returns the source with a piece appended, or `undefined` if the piece does not continue it. */
export function appendBase64(source: Base64Source, piece: string): Base64Source | undefined {
  if (!piece) return source;
  try {
    const [groups, rest] = grown.get(source) ?? cut(source.data);
    const [more, end] = cut(joined(rest, piece));
    const changed = { ...source, data: groups + more + end };
    grown.set(changed, [groups + more, end]);
    return changed;
  } catch {
    return;
  }
}

/** Splits off the last group if it is incomplete or padded, because more bytes may be appended to it. */
function cut(text: string): [string, string] {
  const end = text.length - (text.length % 4 || (text.endsWith("=") ? 4 : 0));
  return [text.slice(0, end), text.slice(end)];
}

function joined(rest: string, piece: string): string {
  const text = rest + piece;
  // The rest is a whole padded group, or a group that was cut between its two padding characters.
  if (rest.endsWith("=")) return btoa(rest[3] ? decoded(rest) + decoded(piece) : decoded(text));
  if (piece.endsWith("=")) {
    // Encoding the bytes again clears the unused bits before the padding.
    if (text.length % 4 !== 3) return btoa(decoded(text));
    decoded(`${text}=`);
  } else {
    decoded(piece + "A".repeat(-piece.length & 3));
  }
  return text;
}

/** Decodes complete base64. Throws on any other input. */
function decoded(text: string): string {
  const bytes = atob(text);
  const padding = text.endsWith("==") ? 2 : +text.endsWith("=");
  // `atob` ignores white space and accepts missing padding.
  if (bytes.length !== (text.length / 4) * 3 - padding) throw new Error();
  return bytes;
}
