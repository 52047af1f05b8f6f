import { colourOf, type Kind } from "./kinds";

/** The colour of a kind of events, next to its name. */
export function Mark({ kind }: { kind: Kind }) {
  return <span className="mark" style={{ background: colourOf(kind) }} />;
}
