import type { PermissionRule, ToolCallBlock } from "@recount/client";
import { expect, test } from "vitest";
import { accessOfRule, requestOf, rulesToOffer, ruleText } from "../src/blocks/permission";

type RuleWithAccess = PermissionRule & { access?: unknown };

const rule = (fields: Partial<RuleWithAccess> = {}): RuleWithAccess => ({
  tool_name: "shell",
  rule_content: "npm install:*",
  behavior: "allow",
  source: "suggested",
  ...fields,
});

const call = (name: string, suggested_rules: PermissionRule[]) => ({ name, suggested_rules }) as ToolCallBlock;

test("shell calls without a suggested rule offer no rule", () => {
  expect(rulesToOffer(call("shell", []), false)).toEqual([]);
  expect(rulesToOffer(call("shell", [rule({ behavior: "deny" })]), false)).toEqual([]);
});

test("other tools without a suggested rule offer a rule for every call", () => {
  const [offered, ...rest] = rulesToOffer(call("write", []), false);
  expect(offered).toEqual({ tool_name: "write", rule_content: null, behavior: "allow", source: "user" });
  expect(rest).toEqual([]);
});

test("edited calls offer no rule", () => {
  expect(rulesToOffer(call("shell", [rule()]), true)).toEqual([]);
  expect(rulesToOffer(call("write", []), true)).toEqual([]);
});

test("suggested allow rules are offered unchanged", () => {
  const suggested = rule({ access: ["write", "network"] });
  expect(rulesToOffer(call("shell", [suggested, rule({ behavior: "ask" })]), false)).toEqual([suggested]);
});

test("a rule is shown with its access", () => {
  expect(ruleText(rule())).toBe("allow shell: npm install:*");
  expect(ruleText(rule({ rule_content: null }))).toBe("allow shell (every call)");
  expect(accessOfRule(rule())).toEqual([]);
  expect(accessOfRule(rule({ access: ["write", "read:/srv"] }))).toEqual(["write", "read:/srv"]);
  // A malformed access is displayed too.
  expect(accessOfRule(rule({ access: "write" }))).toEqual(["write"]);
  expect(accessOfRule(rule({ access: [{ network: true }] }))).toEqual(['{"network":true}']);
});

test("the access and the reason of a shell call are phrases", () => {
  const request = (fields: object) => requestOf("shell", JSON.stringify({ command: "ls", ...fields }));
  const access = ["write", "network", "unsandboxed", "read:/a b", "write:/c", "other", "read:"];
  expect(request({ access, reason: " install it\n" })).toEqual({
    access: [
      "write to the workspace",
      "network",
      "run outside the sandbox",
      "read /a b",
      "write to /c",
      "other",
      "read:",
    ],
    reason: "install it",
  });
  expect(request({ reason: "why not" })).toEqual({ access: [], reason: "why not" });
  for (const fields of [{}, { access: [] }, { access: null, reason: " " }, { reason: 7 }])
    expect(request(fields)).toBeUndefined();
  for (const input of ["", "[]", '{"access":']) expect(requestOf("shell", input)).toBeUndefined();
});

test("arguments of other tools are not parsed as a request for access", () => {
  expect(requestOf("share", '{"access":["write"],"reason":"x"}')).toBeUndefined();
});
