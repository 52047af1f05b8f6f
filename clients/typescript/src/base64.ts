import type { Base64Source } from "./generated.js";

/**
 * What has grown here, in two parts: the groups that nothing can change any more, and the rest that the next piece goes on
 * with. Looking at the end of a long text that was put together from many pieces makes the engine copy it, so the end is
 * kept apart.
 */
const grown = new WeakMap<Base64Source, [groups: string, rest: string]>();

/** The source with a piece more, or nothing where the piece cannot go on with what is there. */
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

/** Cuts off the last group where it is not full, or full of padding: more bytes may come into it. */
function cut(text: string): [string, string] {
  const end = text.length - (text.length % 4 || (text.endsWith("=") ? 4 : 0));
  return [text.slice(0, end), text.slice(end)];
}

function joined(rest: string, piece: string): string {
  const text = rest + piece;
  // A whole group ends in padding, or one that was cut between its two padding characters.
  if (rest.endsWith("=")) return btoa(rest[3] ? decoded(rest) + decoded(piece) : decoded(text));
  if (piece.endsWith("=")) {
    // Writing the bytes anew clears the bits before the padding that say nothing.
    if (text.length % 4 !== 3) return btoa(decoded(text));
    decoded(`${text}=`);
  } else {
    decoded(piece + "A".repeat(-piece.length & 3));
  }
  return text;
}

/** The bytes of what is base64 from its beginning to its end. It fails on anything else. */
function decoded(text: string): string {
  const bytes = atob(text);
  const padding = text.endsWith("==") ? 2 : +text.endsWith("=");
  // `atob` passes over white space, and does without padding.
  if (bytes.length !== (text.length / 4) * 3 - padding) throw new Error();
  return bytes;
}
