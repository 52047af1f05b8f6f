import type { PermissionRule, ToolCallBlock } from "@recount/client";
import { isRecord, tryParse } from "../lib/json";

/** The tool whose calls need a specific rule: a rule for every call would allow every command. */
const SHELL = "shell";

/** The access and the reason that the arguments of a call state. */
export interface AccessRequest {
  /** One phrase per access. */
  readonly access: readonly string[];
  readonly reason: string | undefined;
}

/** Returns the text of a rule, without its access. */
export function ruleText({ tool_name, rule_content, behavior }: PermissionRule): string {
  return `${behavior} ${tool_name}${rule_content === null ? " (every call)" : `: ${rule_content}`}`;
}

/** Returns the access that a rule grants, such as `write` or `read:/path`. */
export function accessOfRule(rule: PermissionRule): string[] {
  return accessList((rule as PermissionRule & { access?: unknown }).access);
}

/**
 * Returns the rules that "Always allow" accepts. Without any, "Always allow" is not offered.
 *
 * Suggested rules are about the original arguments, so none are returned for edited ones.
 */
export function rulesToOffer(call: ToolCallBlock, isEdited: boolean): PermissionRule[] {
  if (isEdited) return [];
  const suggested = call.suggested_rules.filter(({ behavior }) => behavior === "allow");
  if (suggested.length || call.name === SHELL) return suggested;
  return [{ tool_name: call.name, rule_content: null, behavior: "allow", source: "user" }];
}

/** Returns the access that a call of the shell requests, or `undefined` if it requests none and gives no reason. */
export function requestOf(tool: string, input: string): AccessRequest | undefined {
  // The arguments of other tools may use these names for something else.
  if (tool !== SHELL) return undefined;
  const parsed = tryParse(input);
  if (!isRecord(parsed)) return undefined;
  const access = accessList(parsed.access).map(accessText);
  const reason = typeof parsed.reason === "string" ? parsed.reason.trim() || undefined : undefined;
  return access.length || reason ? { access, reason } : undefined;
}

/** Returns the items of an `access` field. A value of another type is one item, so that it is shown and not dropped. */
function accessList(value: unknown): string[] {
  if (value === undefined || value === null) return [];
  const items = Array.isArray(value) ? value : [value];
  return items.map((item) => (typeof item === "string" ? item : JSON.stringify(item)));
}

function accessText(access: string): string {
  if (access === "write") return "write to the workspace";
  if (access === "network") return "network";
  if (access === "unsandboxed") return "run outside the sandbox";
  const [, verb, path] = /^(read|write):(.+)$/s.exec(access) ?? [];
  if (verb === "read") return `read ${path}`;
  if (verb === "write") return `write to ${path}`;
  return access;
}
