import { Code } from "../markdown/code";

/** A block of a kind that nobody here knows, as it is. */
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
