import { clockTime, duration, fullTime, timeOf } from "../lib/format";

/** A time, as a person reads it; hovering shows it whole. */
export function Time({ at, show = clockTime }: { at: string; show?: (time: number) => string }) {
  const time = timeOf(at);
  if (time === undefined) return null;
  return (
    <time dateTime={at} title={fullTime(time)}>
      {show(time)}
    </time>
  );
}

/** How long something took that has ended; nothing where that is not known, or not worth a word. */
export function Took({
  from,
  until,
  least = 0,
  before = "",
}: {
  from: string | null | undefined;
  until: string | null | undefined;
  /** From how many milliseconds on it is worth a word. */
  least?: number;
  /** What is said before it. */
  before?: string;
}) {
  const began = timeOf(from);
  const ended = timeOf(until);
  if (began === undefined || ended === undefined || ended - began < least) return null;
  return <time dateTime={`PT${(ended - began) / 1000}S`}>{`${before}${duration(ended - began)}`}</time>;
}
