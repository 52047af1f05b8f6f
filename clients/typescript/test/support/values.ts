import type { Random } from "./random.js";

export type JsonObject = Record<string, unknown>;

const PIECES = [
  "Hello",
  " ",
  "world",
  "\n",
  '"',
  "\\",
  "/",
  "é",
  "中文",
  "🌍",
  "\u0000",
  "\u001f",
  "\u007f",
  "\u2028",
  "\ufeff",
  '{"city": "Bei',
  'jing"}',
  "\t",
  "e\u0301",
  "\u{10ffff}",
  "</script>",
  "0",
];

/** Creates text from any script, with characters that must be escaped. */
export const someText = (random: Random): string => random.many(0, 4, () => random.pick(PIECES)).join("");

const KEYS = [
  "k",
  "signature",
  "recount",
  "type",
  "id",
  "text",
  "cut",
  "ключ",
  "🔑",
  "",
  "a b",
  "__proto__",
  "constructor",
];

/** Creates an object with unknown keys, and sometimes with known ones. */
export function someObject(random: Random, depth = 2): JsonObject {
  // A computed key is an ordinary key, whatever its name.
  return random
    .many(0, 3, () => random.pick(KEYS))
    .reduce<JsonObject>((object, key) => {
      Object.defineProperty(object, key, {
        value: someValue(random, depth - 1),
        enumerable: true,
        configurable: true,
        writable: true,
      });
      return object;
    }, {});
}

/** Creates any value that I-JSON can represent. */
export function someValue(random: Random, depth = 2): unknown {
  switch (random.between(0, depth > 0 ? 7 : 5)) {
    case 0:
      return null;
    case 1:
      return random.oneIn(2);
    case 2:
      return random.between(-10, 1000);
    case 3:
      return random.pick([0.5, -1.25, 1e21, 1e-7, 2 ** 40, 12345678.9]);
    case 4:
    case 5:
      return someText(random);
    case 6:
      return random.many(0, 3, () => someValue(random, depth - 1));
    default:
      return someObject(random, depth);
  }
}

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** Creates base64: complete, cut somewhere, or invalid. */
export function someBase64(random: Random): string {
  const whole = Buffer.from(random.many(0, 7, () => random.between(0, 255))).toString("base64");
  switch (random.between(0, 9)) {
    case 0:
      return random.many(0, 6, () => random.pick([...DIGITS, "="])).join("");
    case 1:
      return random.pick(["=", "==", "===", "A", "QR==", "QUJ", "AA\n", " QQ==", "-_", "é", "AA==AA==", "A=", "AAE="]);
    case 2:
    case 3:
    case 4:
      return whole.slice(0, random.between(0, whole.length));
    case 5:
      return whole.slice(random.between(0, whole.length));
    default:
      return whole;
  }
}
