import { colourOf, type Kind } from "./kinds";

/** The colour of a kind of events, beside its name. */
export function Mark({ kind }: { kind: Kind }) {
  return <span className="mark" style={{ background: colourOf(kind) }} />;
}
