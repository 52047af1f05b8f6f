import type { PermissionRule, ToolCallBlock } from "@recount/client";
import { useId } from "react";
import { flushSync } from "react-dom";
import { useActions } from "../conversation/actions";
import { tryParse } from "../lib/json";
import { useStoredState } from "../lib/use-stored-state";
import { Icon } from "../parts/icon";
import { accessOfRule, requestOf, rulesToOffer, ruleText } from "./permission";
import { useAnswer } from "./use-answer";

/** Asks the user whether a call may run. */
export function Confirmation({ call, reply }: { call: ToolCallBlock; reply: string }) {
  const actions = useActions();
  const [edited, setEdited] = useStoredState<string | undefined>(`${reply} ${call.id} input`, undefined);
  const { isSending, problem, give } = useAnswer();
  const id = useId();
  if (!actions) return <p className="asked">The user is asked.</p>;

  const isEdited = edited !== undefined && edited !== prettyInput(call.input);
  const isBroken = edited !== undefined && tryParse(edited) === undefined;
  const rules = rulesToOffer(call, isEdited);
  const request = requestOf(call.name, isEdited ? edited : call.input);

  const answer = (confirmed: boolean, accepted: readonly PermissionRule[]) => {
    const tool_call = confirmed && isEdited ? { ...call, input: edited } : call;
    const rules = accepted.length ? [...accepted] : null;
    give(() => actions.session.confirm(reply, [{ confirmed, tool_call, rules }]));
  };

  return (
    <section className="card" aria-label={`May ${call.name} run?`}>
      <p>
        May <strong>{call.name}</strong> run with these arguments?
      </p>
      {request && (
        <p className="request">
          {request.access.length > 0 && (
            <>
              Requests: <bdi>{request.access.join(", ")}</bdi>
            </>
          )}
          {request.access.length > 0 && request.reason && " — "}
          {request.reason && (
            <>
              Reason: <bdi>{request.reason}</bdi>
            </>
          )}
        </p>
      )}
      {edited !== undefined && (
        <div className="field">
          <label htmlFor={`${id}-input`}>Arguments (JSON)</label>
          <textarea
            id={`${id}-input`}
            className="mono"
            value={edited}
            rows={4}
            spellCheck={false}
            aria-invalid={isBroken}
            aria-describedby={isBroken ? `${id}-broken` : undefined}
            onChange={(event) => setEdited(event.target.value)}
          />
          {isBroken && (
            <p id={`${id}-broken`} className="wrong">
              This is no JSON.
            </p>
          )}
        </div>
      )}
      <div className="choices">
        <button type="button" className="primary" disabled={isSending || isBroken} onClick={() => answer(true, [])}>
          Allow once
        </button>
        {rules.length > 0 && (
          <button
            type="button"
            disabled={isSending || isBroken}
            aria-describedby={`${id}-rule`}
            onClick={() => answer(true, rules)}
          >
            Always allow
          </button>
        )}
        <button type="button" className="danger" disabled={isSending} onClick={() => answer(false, [])}>
          Deny
        </button>
        <button
          type="button"
          className="quiet"
          disabled={isSending}
          onClick={() => {
            flushSync(() => setEdited(edited === undefined ? prettyInput(call.input) : undefined));
            document.getElementById(`${id}-input`)?.focus();
          }}
        >
          <Icon name="edit" />
          {edited === undefined ? "Edit arguments" : "Leave as they were"}
        </button>
      </div>
      {rules.length > 0 && (
        <p id={`${id}-rule`} className="rule" data-many={rules.length > 1 || undefined}>
          Always allow accepts the {rules.length > 1 ? "rules" : "rule"}{" "}
          {rules.map((rule) => (
            <Rule key={JSON.stringify(rule)} rule={rule} />
          ))}
        </p>
      )}
      {problem && (
        <p className="wrong" role="alert">
          {problem}
        </p>
      )}
    </section>
  );
}

/** Shows a rule and the access that it grants. */
function Rule({ rule }: { rule: PermissionRule }) {
  const access = accessOfRule(rule);
  return (
    <span>
      <code>{ruleText(rule)}</code>
      {access.length > 0 && (
        <>
          {" with "}
          <bdi>{access.join(", ")}</bdi>
        </>
      )}
    </span>
  );
}

function prettyInput(input: string): string {
  const parsed = tryParse(input);
  return parsed === undefined ? input : JSON.stringify(parsed, null, 2);
}
