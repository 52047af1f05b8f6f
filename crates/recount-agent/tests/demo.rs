//! The demo model.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::sync::{Arc, Mutex};

use pretty_assertions::assert_eq;
use recount_agent::demo::DemoModel;
use recount_agent::tool::{FunctionTool, NoArguments};
use recount_agent::{Agent, AgentReplyWriter, ChatModel};
use recount_message::{
    AgentEvent, DataBlock, EventKind, FinishedReason, Msg, ReplyEnd, ReplyWriter, Stamps, ThinkingBlock,
    ToolResultBlock,
};
use recount_model::client::{CallOptions, CancellationToken};

fn fast() -> DemoModel {
    "demo/1000000".parse().unwrap()
}

#[tokio::test]
async fn answer_is_deterministic() {
    let ask = || async {
        let agent =
            Agent::builder("demo").model(fast()).runtime_state(None).stamps(Stamps::repeatable()).session_id("s1");
        agent.build().unwrap().reply(Msg::user("Alice", "think of an image").with_id("m1")).await.unwrap()
    };
    let (first, second) = (ask().await, ask().await);
    assert_eq!(first, second);
    assert!(first.has::<ThinkingBlock>() && first.has::<DataBlock>());
    assert!(first.text().unwrap().contains("computed"));
    let usage = first.usage().unwrap();
    assert!(usage.input_tokens > 0 && usage.output_tokens > 0, "{usage:?}");
}

#[tokio::test]
async fn image_is_streamed_png() {
    let agent = Agent::builder("demo").model(fast()).build().unwrap();
    let message = agent.reply("image").await.unwrap();
    let picture = message.first::<DataBlock>().unwrap();
    assert_eq!((picture.media_type(), picture.name.as_deref()), ("image/png", Some("rings.png")));
    let recount_message::Source::Base64(source) = &picture.source else { panic!("{picture:?}") };
    assert!(source.bytes().unwrap().starts_with(b"\x89PNG"));
}

#[tokio::test]
async fn tool_is_called_and_result_quoted() {
    let clock = FunctionTool::new("clock", "Says what time it is.", |_: NoArguments| async { Ok("noon") }).read_only();
    let agent = Agent::builder("demo").model(fast()).tool(clock).build().unwrap();
    let message = agent.reply("clock {}").await.unwrap();
    assert_eq!(message.first::<ToolResultBlock>().unwrap().output.text().as_deref(), Some("noon"));
    assert!(
        message.text().unwrap().ends_with("The tool `clock` returned:\n\n```\nnoon\n```\n"),
        "{:?}",
        message.text()
    );
    assert_eq!(message.finished_reason(), Some(FinishedReason::Completed));
}

#[tokio::test(start_paused = true)]
async fn default_pace_is_thirty_words_per_second() {
    let begin = tokio::time::Instant::now();
    let agent = Agent::builder("demo").model(DemoModel::new()).build().unwrap();
    agent.reply("long").await.unwrap();
    let seconds = begin.elapsed().as_secs_f64();
    assert!((16.0..17.5).contains(&seconds), "500 words took {seconds} s");
}

#[tokio::test(start_paused = true)]
async fn cancelled_call_stops() {
    let cancel = CancellationToken::new();
    let events = Arc::new(Mutex::new(Vec::new()));
    let write = {
        let (cancel, events) = (cancel.clone(), Arc::clone(&events));
        move |event: AgentEvent| {
            if matches!(event.kind, EventKind::TextBlockDelta(_)) {
                cancel.cancel();
            }
            events.lock().unwrap().push(event);
        }
    };
    let mut reply: AgentReplyWriter = ReplyWriter::start(Box::new(write), Stamps::repeatable(), "s1", "demo");
    let options = CallOptions::new().cancelled_by(cancel);
    let outcome = DemoModel::new().call(&[Msg::user("Alice", "long")], &options, &mut reply).await;
    assert!(outcome.is_cancelled());
    let message = reply.end(ReplyEnd::completed());
    assert_eq!(message.text().as_deref(), Some("**Paragraph "));
    assert_eq!(message.usage().map(|usage| usage.output_tokens), Some(3));
}

#[test]
fn names_round_trip() {
    for name in ["demo", "demo/2000"] {
        assert_eq!(name.parse::<DemoModel>().unwrap().id(), name);
    }
    for name in ["demo/", "demo/0", "demo/fast", "openai/gpt-5", "demonstration"] {
        assert!(name.parse::<DemoModel>().is_err(), "{name}");
    }
}
