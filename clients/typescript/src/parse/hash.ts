/** Returns the 64-bit FNV-1a hash of a text in UTF-8, as 16 hexadecimal digits. */
export function fnv1a(text: string): string {
  let high = 0xcbf29ce4;
  let low = 0x84222325;
  for (const byte of new TextEncoder().encode(text)) {
    low = (low ^ byte) >>> 0;
    // Multiplies by 2^40 + 0x1b3, in two halves of 32 bits.
    const product = low * 0x1b3;
    high = (high * 0x1b3 + Math.floor(product / 2 ** 32) + (low << 8)) >>> 0;
    low = product >>> 0;
  }
  return [high, low].map((half) => half.toString(16).padStart(8, "0")).join("");
}
