//! The scripted model.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::sync::{Arc, Mutex};

use pretty_assertions::assert_eq;
use recount_agent::scripted::{Answer, Gate, Piece, ScriptedModel};
use recount_agent::{AgentReplyWriter, ChatModel};
use recount_message::{AgentEvent, DataBlock, EventKind, Msg, Object, ReplyEnd, ReplyWriter, Stamps, TextBlock, Usage};
use recount_model::client::{CallOptions, CallOutcome};

/// Calls a model once. Returns the outcome, the event types between the start and the end of the call, and the message.
async fn ask(model: &ScriptedModel, options: &CallOptions) -> (CallOutcome, Vec<String>, Msg) {
    let events = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&events);
    let write = move |event: AgentEvent| sink.lock().unwrap().push(event);
    let mut reply: AgentReplyWriter = ReplyWriter::start(Box::new(write), Stamps::repeatable(), "s1", "Friday");
    let outcome = model.call(&[Msg::user("Alice", "Hi")], options, &mut reply).await;
    let message = reply.end(ReplyEnd::completed());
    let describe = |event: &AgentEvent| match &event.kind {
        EventKind::ToolCallStart(call) => format!("{} {}", event.type_name(), call.tool_call_id),
        EventKind::ToolCallDelta(call) => format!("{} {}", event.type_name(), call.tool_call_id),
        EventKind::ToolCallEnd(call) => format!("{} {}", event.type_name(), call.tool_call_id),
        _ => event.type_name().to_owned(),
    };
    let events: Vec<String> = events.lock().unwrap().iter().map(describe).collect();
    let (begin, end) = (events.iter().position(|event| event == "MODEL_CALL_START").unwrap(), "MODEL_CALL_END");
    let written = events[begin + 1..].iter().take_while(|event| *event != end).cloned().collect();
    (outcome, written, message)
}

fn call(id: &str, input: &str) -> Piece {
    Piece::Call { id: id.to_owned(), name: "search".to_owned(), input: input.to_owned() }
}

#[tokio::test]
async fn pieces_of_chunk_have_fixed_order() {
    let pieces = [
        Piece::Data(DataBlock::from_bytes(b"GIF89a")),
        call("c1", "{}"),
        Piece::Text("Look.".to_owned()),
        Piece::Thinking { thinking: "Hm.".to_owned(), extra: Object::from([("signature", "s")]) },
    ];
    let model = ScriptedModel::new().answer(Answer::new().chunk(pieces).tokens(3, 4));
    let (outcome, written, message) = ask(&model, &CallOptions::new()).await;
    assert_eq!(
        written,
        [
            "THINKING_BLOCK_START",
            "THINKING_BLOCK_DELTA",
            "THINKING_BLOCK_END",
            "TEXT_BLOCK_START",
            "TEXT_BLOCK_DELTA",
            "TEXT_BLOCK_END",
            "TOOL_CALL_START c1",
            "TOOL_CALL_DELTA c1",
            "DATA_BLOCK_START",
            "DATA_BLOCK_DELTA",
            "TOOL_CALL_END c1",
            "DATA_BLOCK_END",
        ]
    );
    assert_eq!((outcome.end.usage, outcome.end.error), (Some(Usage::new(3, 4)), None));
    assert_eq!(message.usage(), Some(&Usage::new(3, 4)));
}

#[tokio::test]
async fn call_ends_after_its_last_piece() {
    let answer = Answer::new().chunk([call("c1", "{")]).chunk([call("c2", "{}")]).chunk([call("c1", "}")]);
    let (_, written, message) = ask(&ScriptedModel::new().answer(answer), &CallOptions::new()).await;
    assert_eq!(
        written,
        [
            "TOOL_CALL_START c1",
            "TOOL_CALL_DELTA c1",
            "TOOL_CALL_START c2",
            "TOOL_CALL_DELTA c2",
            "TOOL_CALL_DELTA c1",
            "TOOL_CALL_END c2",
            "TOOL_CALL_END c1",
        ]
    );
    assert_eq!(message.call("c1").unwrap().input, "{}");
}

#[tokio::test]
async fn requests_consume_answers_in_order() {
    let model = ScriptedModel::new().says("one").then().then().says("three").fails("it broke");
    assert_eq!(model.remaining(), 3);
    let mut texts = Vec::new();
    for _ in 0..4 {
        let (outcome, _, message) = ask(&model, &CallOptions::new()).await;
        texts.push((message.text(), outcome.end.error.map(|error| error.to_string())));
    }
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(
        texts,
        [
            (text("one"), None),
            (None, None),
            (text("three"), text("it broke")),
            (None, text("the script has no more answers")),
        ]
    );
    assert_eq!(model.requests().len(), 4);
}

#[tokio::test]
async fn call_waiting_at_gate_can_be_cancelled() {
    let gate = Gate::new();
    let model = ScriptedModel::new().says("Once upon").waits(&gate).says(" a time");
    let options = CallOptions::new();
    let cancel = options.cancel.clone();
    let stop = async {
        gate.reached().await;
        cancel.cancel();
    };
    let ((outcome, _, message), ()) = tokio::join!(ask(&model, &options), stop);
    assert!(outcome.is_cancelled() && outcome.end.has_output);
    assert_eq!(message.text().as_deref(), Some("Once upon"));
    // The text was visible before the cancellation, so it stays a part of the conversation.
    assert!(message.first::<TextBlock>().unwrap().extra.is_empty());
}
