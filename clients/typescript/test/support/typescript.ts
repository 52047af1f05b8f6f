import { type AgentEvent, Fold, type Outcome, type Reason } from "../../src/index.js";
import { type DecodeError, parseEvent } from "../../src/parse/index.js";

/** A remark on a line whose event was not fully applied. */
export type Remark = { readonly badField: string } | { readonly outcome: Outcome };

export interface Folded {
  /** The ended messages, then the open ones. */
  readonly messages: string[];
  readonly remarks: Map<number, Remark>;
  readonly fold: Fold;
}

/** Folds lines like the Rust command: invalid lines are skipped, ended messages are returned. */
export function foldInTypeScript(lines: readonly string[], fold = new Fold()): Folded {
  const messages: string[] = [];
  const remarks = new Map<number, Remark>();
  for (const [index, line] of lines.entries()) {
    let event: AgentEvent;
    try {
      event = parseEvent(line);
    } catch (error) {
      remarks.set(index + 1, { badField: (error as DecodeError).path });
      continue;
    }
    const outcome = fold.apply(event);
    if (outcome.reason) remarks.set(index + 1, { outcome });
    for (const message of fold.takeEnded()) messages.push(JSON.stringify(message));
  }
  return { messages, remarks, fold };
}

/**
 * Returns a remark in the format of the Rust command, without the problem texts, which differ between the
 * implementations.
 */
export function formatRemark(remark: Remark): string[] {
  if ("badField" in remark) return [remark.badField ? `\`${remark.badField}\`: …` : "…"];
  const { kind, reason, skipped } = remark.outcome;
  if (kind !== "partly") return [plain(`ignored: ${formatReason(reason as Reason)}`)];
  return skipped.map((part) => plain(`ignored in part, item ${part.index}: ${formatReason(part.reason)}`));
}

function formatReason({ code, detail }: Reason): string {
  const id = JSON.stringify(detail);
  const words: Partial<Record<Reason["code"], string>> = {
    unknown_reply: `no reply ${id} has begun`,
    reply_ended: `the reply ${id} has ended`,
    message_exists: `there is a message ${id} already`,
    not_a_reply: `the message ${id} is not a reply, so events do not apply to it`,
    unknown_block: `no block ${id} has begun`,
    block_open: `the block ${id} is still open`,
    block_ended: `the block ${id} has ended`,
    unknown_call: `there is no tool call ${id}`,
    not_asking: `the tool call ${id} does not wait for permission`,
    result_exists: `the tool call ${id} has its result already`,
    data_at_url: `the data ${id} is at a URL, so nothing can be appended to it`,
    bad_data: `the data for ${id} is not base64: …`,
    unknown_type: `the event type ${id} is not known`,
    bad_value: detail.replace(/: .*/s, ": …"),
  };
  return words[code] ?? code;
}

/** Removes the problem text from a remark of the Rust command. */
export function withoutProblem(remark: string): string {
  const [, ignored] = /^[^`]*? (ignored(?:: | in part, ).*)/s.exec(remark) ?? [];
  if (!ignored) return remark.startsWith("`") ? remark.replace(/`: .*/s, "`: …") : "…";
  return plain(
    ignored.replace(/is not base64: .*/s, "is not base64: …").replace(/(ignored.*?: `[^`]*`): .*/s, "$1: …"),
  );
}

/** Removes the ids that the implementations escape differently. */
const plain = (remark: string) => remark.replace(/"(?:[^"\\]|\\.)*"/gs, (id) => (/^"[\w. -]*"$/.test(id) ? id : '"…"'));
