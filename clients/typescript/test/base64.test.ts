import fc from "fast-check";
import { expect, test } from "vitest";
import { appendBase64 } from "../src/base64.js";
import type { Base64Source } from "../src/index.js";

const source = (data: string): Base64Source => ({ type: "base64", data, media_type: "image/png" });

/** Appends the pieces one after the other. Returns `undefined` if one of them cannot be appended. */
const joined = (pieces: string[], start = "") =>
  pieces.reduce<Base64Source | undefined>((grown, piece) => grown && appendBase64(grown, piece), source(start))?.data;

test.each([
  [["AAECAw==", "BAU="], "AAECAwQF"],
  [["QQ==", "QQ==", "QQ=="], "QUFB"],
  [["QUI=", "QQ==", "QUJD"], "QUJBQUJD"],
  [["QUI=", ""], "QUI="],
])("padded pieces are joined as bytes: %j", (pieces, expected) => {
  expect(joined(pieces)).toBe(expected);
});

test("base64 that is cut anywhere is joined to the original", () => {
  const bytes = fc.uint8Array({ maxLength: 40 });
  fc.assert(
    fc.property(bytes, fc.array(fc.nat(60)), (all, cuts) => {
      const whole = Buffer.from(all).toString("base64");
      const places = [0, ...cuts.filter((cut) => cut < whole.length).sort((one, other) => one - other), whole.length];
      const pieces = places.slice(1).map((end, index) => whole.slice(places[index], end));
      // A piece that begins a new text after whole padding is another matter; there is none in one text.
      expect(joined(pieces)).toBe(whole);
    }),
  );
});

test("separately encoded pieces are joined as bytes", () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ minLength: 1, maxLength: 8 })), (parts) => {
      const pieces = parts.map((part) => Buffer.from(part).toString("base64"));
      expect(joined(pieces)).toBe(Buffer.concat(parts).toString("base64"));
    }),
  );
});

test.each([
  [["QR=="], "QQ=="],
  [["QR==", "QQ=="], "QUE="],
  [["QU", "J="], "QUI="],
])("unused bits before padding are cleared: %j", (pieces, expected) => {
  expect(joined(pieces)).toBe(expected);
});

test.each([
  ["AAEC", "AA\nA"],
  ["AAEC", "-_"],
  ["AAEC", "A==="],
  ["AAEC", "A="],
  ["AAE", "==="],
  ["AA=", "A"],
  ["AA=", "=A"],
  ["AAE", "A="],
  ["QQ==", "QU"],
  ["QQ==", "="],
  ["AAEC", "é"],
  ["AAEC", "AA==AA=="],
  ["AAEC", " AAA"],
  ["", "===="],
  ["€€==", "QUJD"],
  ["!A=", "="],
])("invalid continuations change nothing: %s + %s", (start, piece) => {
  expect(appendBase64(source(start), piece)).toBeUndefined();
});

test("other fields of a source are kept", () => {
  const grown = appendBase64({ ...source("QUI="), origin: "camera" } as Base64Source, "QQ==");
  expect(JSON.stringify(grown)).toBe('{"type":"base64","data":"QUJB","media_type":"image/png","origin":"camera"}');
});
