import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The Rust command with which the output is compared. */
export const RECOUNT =
  process.env.RECOUNT_BIN ?? fileURLToPath(new URL("../../../../target/debug/recount", import.meta.url));

export interface RustAnswer {
  /** The messages, one per line. */
  readonly messages: string[];
  /** The remarks on each line that is invalid, or whose event was not fully applied. */
  readonly remarks: Map<number, string[]>;
}

/** Folds lines with the Rust command. */
export function foldWithRust(lines: readonly string[], options: readonly string[] = []): RustAnswer {
  mustBeThere();
  const { stdout, stderr, error, status } = spawnSync(RECOUNT, ["fold", "--verbose", ...options], {
    input: lines.map((line) => `${line}\n`).join(""),
    encoding: "utf8",
    maxBuffer: 2 ** 30,
  });
  if (error) throw error;
  // Status 1: some lines could not be parsed.
  if (status !== 0 && status !== 1) throw new Error(`recount fold ended with ${status}: ${stderr.slice(-2_000)}`);
  const remarks = new Map<number, string[]>();
  for (const line of stderr.split("\n")) {
    const [, number, remark] = /^<stdin>:(\d+): (.*)$/.exec(line) ?? [];
    if (number && remark) remarks.set(Number(number), [...(remarks.get(Number(number)) ?? []), remark]);
  }
  return { messages: stdout.split("\n").slice(0, -1), remarks };
}

export function mustBeThere(): void {
  if (existsSync(RECOUNT)) return;
  throw new Error(`${RECOUNT} is not there: run \`cargo build --package recount-cli\`, or set RECOUNT_BIN`);
}
