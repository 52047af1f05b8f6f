// Lets the published libraries judge what `testkit frames` prints: none of it may be refused, and whoever joins or comes back
// anywhere has in the end what somebody has who was there all the time.
//
//   testkit frames --front-end ag-ui --count 10 | node judge.mjs ag-ui
import { isDeepStrictEqual } from "node:util";
import { createInterface } from "node:readline";

const [name] = process.argv.slice(2);
const { readings } = await import(`./${name}.mjs`);

// A library that warns has left something out.
const warnings = [];
console.warn = (...words) => warnings.push(words.join(" "));

/** The first thing that two readers have differently. */
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
