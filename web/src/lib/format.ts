/** Returns milliseconds since 1970, or `undefined` if the text is not a time. */
export function timeOf(text: string | null | undefined): number | undefined {
  const time = Date.parse(text ?? "");
  return Number.isNaN(time) ? undefined : time;
}

const clock = new Intl.DateTimeFormat(undefined, { timeStyle: "short" });
const day = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const dayAndYear = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", year: "numeric" });
const full = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

const isToday = (time: number, now: number) => new Date(time).toDateString() === new Date(now).toDateString();

/** Formats the day, with the year unless it is the current one. */
const dayOf = (time: number, now: number) =>
  (new Date(time).getFullYear() === new Date(now).getFullYear() ? day : dayAndYear).format(time);

/** Formats the time of day for today, otherwise the day. */
export function shortTime(time: number, now: number): string {
  return isToday(time, now) ? clock.format(time) : dayOf(time, now);
}

/** Formats the time of day, with the day unless it is today. */
export function dayAndHour(time: number, now: number): string {
  const hour = clock.format(time);
  return isToday(time, now) ? hour : `${dayOf(time, now)}, ${hour}`;
}

export const clockTime = (time: number): string => clock.format(time);
export const fullTime = (time: number): string => full.format(time);

/** Formats a duration: `3.2 s`, `1 min 5 s`. */
export function duration(milliseconds: number): string {
  const seconds = Math.max(0, milliseconds) / 1000;
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

/** Formats a count: `1,234`, and `12.3k` for large numbers. */
export function count(value: number): string {
  if (value < 10_000) return value.toLocaleString("en");
  return value < 999_950 ? `${(value / 1000).toFixed(1)}k` : `${(value / 1_000_000).toFixed(1)}M`;
}

/** Formats a size: `512 B`, `3.4 MB`. */
export function bytes(size: number): string {
  if (size < 1000) return `${size} B`;
  return size < 999_950 ? `${(size / 1000).toFixed(1)} kB` : `${(size / 1_000_000).toFixed(1)} MB`;
}

/** Returns the decoded size of base64, in bytes. */
export function base64Size(text: string): number {
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  return Math.max(0, Math.floor((text.length * 3) / 4) - padding);
}

/** Returns the first line of a text, truncated to a length. */
export function firstLine(text: string, length: number): string {
  const line = text.trim().split("\n", 1)[0]!.trim();
  const characters = [...line];
  return characters.length <= length
    ? line
    : `${characters
        .slice(0, length - 1)
        .join("")
        .trimEnd()}…`;
}
