import { Code } from "../markdown/code";

/** A block of an unknown type, as JSON. */
export function Unknown({ value }: { value: { readonly type?: unknown } }) {
  return (
    <div className="unknown">
      <p>
        A block of the type <code>{String(value.type)}</code>, which this page does not know:
      </p>
      <Code code={JSON.stringify(value, null, 2)} language="json" />
    </div>
  );
}
