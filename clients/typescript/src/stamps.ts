/** Returns a random id: 32 hexadecimal digits. */
export const randomId = (): string =>
  crypto.getRandomValues(new Uint8Array(16)).reduce((id, byte) => id + (256 + byte).toString(16).slice(1), "");

/** Returns the current time in UTC, with six fractional digits. */
export const now = (): string => new Date().toISOString().replace("Z", "000+00:00");
