//! The purpose and the guarantees of messages and events.

use std::cell::RefCell;

use pretty_assertions::assert_eq;
use recount_message::{
    AgentEvent, Checkpoint, DataBlock, Event, Fold, Msg, Outcome, ReplyEnd, ReplyWriter, Role, Stamps, TextBlock,
    ThinkingBlock, ToolCallBlock, ToolResultBlock, ToolResultState, Usage,
};

/// A reply of two rounds: its events, and the message of its writer.
fn two_rounds() -> (Vec<AgentEvent>, Msg) {
    let mut events = Vec::new();
    let mut reply = ReplyWriter::start(|event| events.push(event), Stamps::repeatable(), "s", "Friday");
    reply.model_call("model");
    reply.thinking("The weather is asked for.");
    reply.thinking_extra("signature", "EqoB");
    reply.text("Let me look.");
    let call = reply.tool_call("call_1", "get_weather");
    reply.tool_input(&call, r#"{"city":"#);
    reply.tool_input(&call, r#""Beijing"}"#);
    reply.end_model_call(Some(Usage::new(100, 20)));
    let result = reply.tool_result(call);
    reply.result_text(&result, "Sunny, ");
    reply.result_text(&result, "25°C");
    reply
        .result_data(&result, DataBlock::from_bytes(b"\x89PNG\r\n\x1a\n").with_id("chart").with_name("chart.png"))
        .unwrap();
    reply.end_result(result, ToolResultState::Success);
    reply.model_call("model");
    reply.text("It is sunny.");
    reply.end_model_call(Some(Usage::new(150, 5)));
    let end = ReplyEnd::completed().with_structured_output([("celsius", 25)]).with_metadata([("rounds", 2)]);
    let message = reply.end(end);
    (events, message)
}

#[test]
fn the_events_of_a_reply_become_exactly_one_assistant_message() {
    let (events, message) = two_rounds();
    let mut fold = Fold::new();
    for event in &events {
        assert_eq!(fold.apply(event), Outcome::Applied);
    }
    let messages: Vec<Msg> = fold.into_messages().collect();
    assert_eq!(messages, [message]);
    assert_eq!(messages[0].role(), Role::Assistant);
}

#[test]
fn a_message_is_recoverable_from_its_stored_events_alone() {
    let (events, message) = two_rounds();
    let stored: Vec<String> = events.iter().map(Event::to_json).collect();
    let mut fold = Fold::new();
    for line in &stored {
        assert_eq!(fold.apply(&Event::from_json(line).unwrap()), Outcome::Applied);
    }
    assert_eq!(fold.messages().next().unwrap().to_json(), message.to_json());
}

#[test]
fn replaying_from_any_checkpoint_restores_the_message() {
    let (events, message) = two_rounds();
    for cut in 0..=events.len() {
        let mut before = Fold::new();
        before.extend(&events[..cut]);
        let checkpoint = Checkpoint::from_json(&before.checkpoint().to_json()).unwrap();
        let mut after = Fold::resume(checkpoint);
        after.extend(&events[cut..]);
        assert_eq!(after.messages().next(), Some(&message), "cut at {cut}");
        assert_eq!(after.cursor(), events.len() as u64);
    }
}

#[test]
fn events_repeated_after_reconnect_have_no_effect() {
    let (events, message) = two_rounds();
    let mut fold = Fold::new();
    for (cursor, event) in (1..).zip(&events) {
        assert_eq!(fold.apply_at(cursor, event), Outcome::Applied);
    }
    for (cursor, event) in (1..).zip(&events) {
        assert_eq!(fold.apply_at(cursor, event), Outcome::Seen);
    }
    assert_eq!(fold.messages().next(), Some(&message));
}

#[test]
fn one_message_holds_every_round_of_a_reply() {
    let (_, message) = two_rounds();
    let types: Vec<String> = message.content().iter().map(|block| block.type_name().to_owned()).collect();
    assert_eq!(types, ["thinking", "text", "tool_call", "tool_result", "text"]);
    assert_eq!(message.usage(), Some(&Usage::new(250, 25)));
}

#[test]
fn events_are_self_contained() {
    let (events, message) = two_rounds();
    for event in events {
        let text = event.to_json();
        assert_eq!(Event::from_json(&text).unwrap(), event);
        assert_eq!(event.reply_id(), Some(message.id()));
        assert!(text.len() < 400, "{text}");
    }
}

#[test]
fn writer_message_equals_reader_message_after_every_event() {
    let reader = RefCell::new(Fold::new());
    let sink = |event: AgentEvent| assert_eq!(reader.borrow_mut().apply(&event), Outcome::Applied);
    let mut reply = ReplyWriter::start(sink, Stamps::repeatable(), "s", "Friday");
    let id = reply.reply_id().to_owned();
    let check = |written: &Msg| assert_eq!(reader.borrow().message(&id), Some(written));
    check(reply.message());
    reply.model_call("model");
    check(reply.message());
    reply.text("Let me look.");
    check(reply.message());
    let call = reply.tool_call("call_1", "get_weather");
    check(reply.message());
    reply.tool_input(&call, "{}");
    check(reply.message());
    reply.end_model_call(Some(Usage::new(100, 20)));
    check(reply.message());
    let result = reply.tool_result(call);
    check(reply.message());
    reply.end_result(result, ToolResultState::Error);
    check(reply.message());
    check(&reply.end(ReplyEnd::completed()));
}

#[test]
fn a_message_carries_text_data_tools_and_metadata_at_once() {
    let call = ToolCallBlock::new("call_1", "get_weather", "{}");
    let result = call.success("Sunny");
    let message = Msg::assistant(
        "Friday",
        (ThinkingBlock::new("Hm."), TextBlock::new("Look:"), DataBlock::from_bytes(b"\x89PNG\r\n\x1a\n"), call, result),
    )
    .with_metadata([("priority", 3)]);
    assert_eq!(Msg::from_json(&message.to_json()).unwrap(), message);
    assert!(message.has::<ToolResultBlock>() && message.images().count() == 1);
}
