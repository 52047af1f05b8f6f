import { clockTime, duration, fullTime, timeOf } from "../lib/format";

/** A time in a readable format, with the full time as its tooltip. */
export function Time({ at, show = clockTime }: { at: string; show?: (time: number) => string }) {
  const time = timeOf(at);
  if (time === undefined) return null;
  return (
    <time dateTime={at} title={fullTime(time)}>
      {show(time)}
    </time>
  );
}

/** The duration between two times, or nothing if it is unknown or too short. */
export function Duration({
  from,
  until,
  least = 0,
  before = "",
}: {
  from: string | null | undefined;
  until: string | null | undefined;
  /** The shortest duration that is displayed, in milliseconds. */
  least?: number;
  /** The text before the duration. */
  before?: string;
}) {
  const began = timeOf(from);
  const ended = timeOf(until);
  if (began === undefined || ended === undefined || ended - began < least) return null;
  return <time dateTime={`PT${(ended - began) / 1000}S`}>{`${before}${duration(ended - began)}`}</time>;
}
