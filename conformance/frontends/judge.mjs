// Checks the output of `testkit frames` with the published libraries: no frame is rejected, and readers who join or
// reconnect at any point end with the same messages as a reader of the whole stream.
//
//   testkit frames --front-end ag-ui --count 10 | node judge.mjs ag-ui
import { isDeepStrictEqual } from "node:util";
import { createInterface } from "node:readline";

const [name] = process.argv.slice(2);
const { readings } = await import(`./${name}.mjs`);

// A warning means that the library has ignored something.
const warnings = [];
console.warn = (...words) => warnings.push(words.join(" "));

/** Returns the first difference between two readers. */
function difference(found, expected, path = "") {
  if (typeof found === "object" && typeof expected === "object" && found && expected) {
    for (const key of new Set([...Object.keys(found), ...Object.keys(expected)])) {
      if (!isDeepStrictEqual(found[key], expected[key])) return difference(found[key], expected[key], `${path}/${key}`);
    }
  }
  return `at ${path} it has ${JSON.stringify(found)} and should have ${JSON.stringify(expected)}`;
}

let [streams, ways] = [0, 0];
for await (const line of createInterface({ input: process.stdin })) {
  const told = JSON.parse(line);
  streams += 1;
  let whole;
  let way = "whole";
  try {
    for await (const [reading, result] of readings(told)) {
      way = reading;
      whole ??= result;
      ways += 1;
      if (!isDeepStrictEqual(result, whole)) throw new Error(difference(result, whole));
      if (warnings.length > 0) throw new Error(warnings.join("\n"));
    }
  } catch (error) {
    console.error(`${name}: ${told.case}, after ${way}: ${error.message}`);
    process.exit(1);
  }
}
console.log(`${name}: ${streams} streams, read in ${ways} ways`);
