//! Replies that wait for confirmation by the user, or for externally executed tools.

use pretty_assertions::assert_eq;
use recount_message::check::Checker;
use recount_message::{
    AgentEvent, ConfirmResult, CustomEvent, Event, ExternalExecutionResultEvent, Fold, Msg, Outcome,
    PermissionBehavior, PermissionRule, Reason, ReplyEnd, ReplyFold, ReplyWriter, Skipped, Stamps, ToolCallBlock,
    ToolCallState, ToolResultBlock, ToolResultState, UserConfirmResultEvent,
};
use serde_json::json;

use crate::support::{at, event, first, fold, fold_to_last};

const CALL: &str = r#"TOOL_CALL_START "tool_call_id":"c","tool_call_name":"shell""#;
const INPUT: &str = r#"TOOL_CALL_DELTA "tool_call_id":"c","delta":"{\"command\":\"rm\"}""#;
const CALL_END: &str = r#"TOOL_CALL_END "tool_call_id":"c""#;
const ASK: &str = r#"REQUIRE_USER_CONFIRM "tool_calls":[{"type":"tool_call","id":"c","name":"shell","input":"{\"command\":\"rm\"}","suggested_rules":[{"tool_name":"shell","rule_content":"rm:*","behavior":"allow","source":"suggested"}]}]"#;
const SUBMIT: &str =
    r#"REQUIRE_EXTERNAL_EXECUTION "tool_calls":[{"type":"tool_call","id":"c","name":"shell","input":""}]"#;

/// The message of a reply that waits for confirmation.
fn asking() -> Msg {
    fold(&[CALL, INPUT, CALL_END, ASK])
}

fn answer(results: Vec<ConfirmResult>) -> AgentEvent {
    Event::stamped("a", at(30), UserConfirmResultEvent::new("r", results))
}

fn rule() -> PermissionRule {
    PermissionRule::new("shell", Some("rm:*"), PermissionBehavior::Allow).with_source("suggested")
}

#[test]
fn a_call_that_needs_permission_is_asking() {
    let message = asking();
    let call = first::<ToolCallBlock>(&message);
    assert_eq!((call.state, &call.suggested_rules[..]), (ToolCallState::Asking, &[rule()][..]));
    assert_eq!(message.finished_at(), None);
}

#[test]
fn confirmation_allows_call() {
    let mut message = asking();
    let yes = ConfirmResult::allow(message.call("c").unwrap().clone());
    assert_eq!(message.append_event(&answer(vec![yes])), Outcome::Applied);
    assert_eq!(message.call("c").unwrap().state, ToolCallState::Allowed);
}

#[test]
fn denial_finishes_call() {
    let mut message = asking();
    let no = ConfirmResult::deny(message.call("c").unwrap().clone());
    assert_eq!(message.append_event(&answer(vec![no])), Outcome::Applied);
    assert_eq!(message.call("c").unwrap().state, ToolCallState::Finished);
}

#[test]
fn confirmation_can_edit_input_but_not_tool() {
    let mut message = asking();
    let edited = ToolCallBlock::new("c", "another tool", r#"{"command":"ls"}"#);
    assert_eq!(message.append_event(&answer(vec![ConfirmResult::allow(edited)])), Outcome::Applied);
    let call = message.call("c").unwrap();
    assert_eq!((call.name.as_str(), call.input.as_str()), ("shell", r#"{"command":"ls"}"#));
}

#[test]
fn confirmation_can_contain_rules() {
    let call = asking().call("c").unwrap().clone();
    let event = answer(vec![ConfirmResult::allow(call).with_rules([rule()])]);
    let written = serde_json::to_value(&event).unwrap();
    assert_eq!(
        written["confirm_results"][0]["rules"],
        json!([{"tool_name": "shell", "rule_content": "rm:*", "behavior": "allow", "source": "suggested"}])
    );
    assert_eq!(Event::from_json(&event.to_json()).unwrap(), event);
}

#[test]
fn confirmations_apply_independently() {
    let mut message = asking();
    let known = ConfirmResult::allow(message.call("c").unwrap().clone());
    let unknown = ConfirmResult::allow(ToolCallBlock::new("x", "shell", "{}"));
    let outcome = message.append_event(&answer(vec![unknown, known]));
    assert_eq!(outcome, Outcome::Partial(vec![Skipped { index: 0, reason: Reason::UnknownCall("x".to_owned()) }]));
    assert_eq!(message.call("c").unwrap().state, ToolCallState::Allowed);
}

#[test]
fn unrequested_confirmation_is_reported() {
    let mut message = fold(&[CALL, INPUT, CALL_END]);
    let yes = ConfirmResult::allow(message.call("c").unwrap().clone());
    let before = message.clone();
    assert_eq!(message.append_event(&answer(vec![yes])), Outcome::Ignored(Reason::NotAsking("c".to_owned())));
    assert_eq!(message, before);
}

#[test]
fn rule_allows_call() {
    let mut events = Vec::new();
    let mut reply = ReplyWriter::start(|event| events.push(event), Stamps::repeatable(), "s", "Friday");
    let call = reply.tool_call("c", "shell");
    reply.end_tool_call(&call);
    reply.allow(&call);
    assert_eq!(reply.message().call("c").unwrap().state, ToolCallState::Allowed);
    drop(reply);

    let mut fold = Fold::new();
    let allowed = events.iter().position(|event| event.type_name() == "CUSTOM").unwrap();
    fold.extend(&events[..=allowed]);
    assert_eq!(fold.messages().next().unwrap().call("c").unwrap().state, ToolCallState::Allowed);
}

#[test]
fn custom_event_sets_call_state() {
    let mut message = fold(&[CALL, CALL_END]);
    let step = Event::new(CustomEvent::call("r", "c", ToolCallState::Submitted));
    assert_eq!(message.append_event(&step), Outcome::Applied);
    assert_eq!(message.call("c").unwrap().state, ToolCallState::Submitted);
}

#[test]
fn external_call_is_submitted() {
    assert_eq!(first::<ToolCallBlock>(&fold(&[CALL, CALL_END, SUBMIT])).state, ToolCallState::Submitted);
}

#[test]
fn an_external_result_is_appended_and_finishes_its_call() {
    let mut message = fold(&[CALL, CALL_END, SUBMIT]);
    let result = ToolResultBlock::success("c", "shell", "done");
    let event = Event::stamped("x", at(30), ExternalExecutionResultEvent::new("r", [result.clone()]));
    assert_eq!(message.append_event(&event), Outcome::Applied);
    assert_eq!(message.result_of("c"), Some(&result));
    assert_eq!(message.call("c").unwrap().state, ToolCallState::Finished);
    assert_eq!(message.append_event(&event), Outcome::Ignored(Reason::ResultExists("c".to_owned())));
}

#[test]
fn an_external_result_for_an_unknown_call_is_reported() {
    let result =
        r#"EXTERNAL_EXECUTION_RESULT "execution_results":[{"type":"tool_result","id":"x","name":"t","output":"ok"}]"#;
    let (message, outcome) = fold_to_last(&[result]);
    assert_eq!(outcome, Outcome::Ignored(Reason::UnknownCall("x".to_owned())));
    assert_eq!(message.content(), []);
}

#[test]
fn result_ending_as_running_is_stored_with_warning() {
    let lines = [
        CALL,
        CALL_END,
        r#"TOOL_RESULT_START "tool_call_id":"c","tool_call_name":"shell""#,
        r#"TOOL_RESULT_END "tool_call_id":"c","state":"running""#,
    ];
    let message = fold(&lines);
    assert_eq!(message.result_of("c").unwrap().state, ToolResultState::Running);
    assert_eq!(message.call("c").unwrap().state, ToolCallState::Finished);

    let mut checker = Checker::new();
    let codes: Vec<&str> = crate::support::reply(&lines)
        .iter()
        .flat_map(|event| checker.event(event))
        .map(|finding| finding.code)
        .collect();
    assert_eq!(codes, ["running_result"]);
}

#[test]
fn waiting_reply_resumes_as_same_message() {
    let mut message = asking();
    let yes = ConfirmResult::allow(message.call("c").unwrap().clone());
    let _ = message.append_event(&answer(vec![yes]));

    let mut events = Vec::new();
    let fold = ReplyFold::from_message(message.clone());
    let mut reply = ReplyWriter::resume(|event| events.push(event), Stamps::repeatable(), "s", fold);
    let call = reply.unanswered_call("c").unwrap();
    let result = reply.tool_result(call);
    reply.result_text(&result, "done");
    reply.end_result(result, ToolResultState::Success);
    let ended = reply.end(ReplyEnd::completed());
    assert_eq!((ended.id(), ended.result_of("c").unwrap().state), ("r", ToolResultState::Success));

    for event in &events {
        assert_eq!(message.append_event(event), Outcome::Applied);
    }
    assert_eq!(message, ended);
}

#[test]
fn user_interrupt_changes_no_message() {
    let mut message = asking();
    let before = message.clone();
    assert_eq!(message.append_event(&event(30, "USER_INTERRUPT")), Outcome::Applied);
    assert_eq!(message, before);
}
