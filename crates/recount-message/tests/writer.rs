//! Writers write valid and complete streams for any sequence of calls.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::cell::RefCell;

use pretty_assertions::assert_eq;
use proptest::prelude::*;
use recount_message::check::Checker;
use recount_message::{
    AgentEvent, ConfirmResult, ContentBlock, DataBlock, ErrorInfo, ErrorType, Event, FinishedReason, Fold, HintBlock,
    Object, OpenData, OpenResult, ReplyEnd, ReplyFold, ReplyWriter, Stamps, TextBlock, ToolCall, ToolCallState,
    ToolResultState, Usage, UserConfirmResultEvent,
};

/// A call of a writer method.
#[derive(Debug, Clone)]
enum Step {
    ModelCall,
    EndModelCall(bool),
    InterruptModelCall,
    Text(String),
    Thinking(String),
    Signature,
    EndProse,
    ToolCall(u8),
    Input(usize, String),
    EndToolCall(usize),
    Allow(usize),
    Ask(usize),
    Result(usize),
    ResultText(usize, String),
    ResultData(usize, Vec<u8>),
    EndResult(usize),
    Data,
    DataBytes(usize, Vec<u8>),
    EndData(usize),
    DataBlock,
    Hint(String),
    Block,
    Signal,
    MaxIters,
}

fn step() -> impl Strategy<Value = Step> {
    let any_text = || "\\PC{0,6}";
    prop_oneof![
        Just(Step::ModelCall),
        any::<bool>().prop_map(Step::EndModelCall),
        Just(Step::InterruptModelCall),
        any_text().prop_map(Step::Text),
        any_text().prop_map(Step::Thinking),
        Just(Step::Signature),
        Just(Step::EndProse),
        (0..3_u8).prop_map(Step::ToolCall),
        (0..4_usize, any_text()).prop_map(|(at, text)| Step::Input(at, text)),
        (0..4_usize).prop_map(Step::EndToolCall),
        (0..4_usize).prop_map(Step::Allow),
        (0..4_usize).prop_map(Step::Ask),
        (0..4_usize).prop_map(Step::Result),
        (0..4_usize, any_text()).prop_map(|(at, text)| Step::ResultText(at, text)),
        (0..4_usize, prop::collection::vec(any::<u8>(), 0..6)).prop_map(|(at, bytes)| Step::ResultData(at, bytes)),
        (0..4_usize).prop_map(Step::EndResult),
        Just(Step::Data),
        (0..4_usize, prop::collection::vec(any::<u8>(), 0..6)).prop_map(|(at, bytes)| Step::DataBytes(at, bytes)),
        (0..4_usize).prop_map(Step::EndData),
        Just(Step::DataBlock),
        any_text().prop_map(Step::Hint),
        Just(Step::Block),
        Just(Step::Signal),
        Just(Step::MaxIters),
    ]
}

/// A writer and its open handles.
struct Author<S: FnMut(AgentEvent)> {
    writer: ReplyWriter<S>,
    calls: Vec<ToolCall>,
    results: Vec<OpenResult>,
    data: Vec<OpenData>,
    given: usize,
}

impl<S: FnMut(AgentEvent)> Author<S> {
    fn new(writer: ReplyWriter<S>) -> Self {
        Self { writer, calls: Vec::new(), results: Vec::new(), data: Vec::new(), given: 0 }
    }

    fn take(&mut self, step: Step) {
        let Self { writer, calls, results, data, given } = self;
        *given += 1;
        match step {
            Step::ModelCall => writer.model_call("model"),
            Step::EndModelCall(known) => writer.end_model_call(known.then(|| Usage::new(3, 4))),
            Step::InterruptModelCall => writer.interrupt_model_call(None),
            Step::Text(text) => writer.text(text),
            Step::Thinking(text) => writer.thinking(text),
            Step::Signature => writer.thinking_extra("signature", "EqoB"),
            Step::EndProse => writer.end_prose(),
            Step::ToolCall(id) => calls.push(writer.tool_call(&format!("call_{id}"), "tool")),
            Step::Input(at, text) => with(calls, at, |call| writer.tool_input(call, text)),
            Step::EndToolCall(at) => with(calls, at, |call| writer.end_tool_call(call)),
            Step::Allow(at) => with(calls, at, |call| writer.allow(call)),
            Step::Ask(at) => with(calls, at, |call| writer.ask(call, Vec::new())),
            Step::Result(at) if at < calls.len() => results.push(writer.tool_result(calls.remove(at))),
            Step::ResultText(at, text) => with(results, at, |result| writer.result_text(result, text)),
            Step::ResultData(at, bytes) => with(results, at, |result| {
                writer.result_data(result, DataBlock::from_bytes(bytes).with_id(format!("d{}", *given % 3))).unwrap();
            }),
            Step::EndResult(at) if at < results.len() => {
                writer.end_result_with(results.remove(at), ToolResultState::Success, [("took", 7)]);
            }
            Step::Data => data.push(writer.data("image/png", Some("a.png".to_owned()))),
            Step::DataBytes(at, bytes) => with(data, at, |open| writer.data_bytes(open, &bytes)),
            Step::EndData(at) if at < data.len() => writer.end_data(data.remove(at)),
            Step::DataBlock => {
                let block = DataBlock::from_url("https://example.com/a.png").unwrap().with_id(format!("url{given}"));
                writer.data_block(block).unwrap();
            }
            Step::Hint(text) => writer.hint(HintBlock::reminder(text).with_id(format!("hint{given}"))),
            Step::Block => {
                let mut block = TextBlock::new("whole").with_id(format!("block{given}"));
                block.finished_at = Some(block.created_at.clone());
                writer.block(&ContentBlock::from(block));
            }
            Step::Signal => writer.signal("progress", [("done", 1)]),
            Step::MaxIters => writer.exceed_max_iters(),
            Step::Result(_) | Step::EndResult(_) | Step::EndData(_) => {}
        }
    }
}

fn with<T>(items: &[T], at: usize, act: impl FnOnce(&T)) {
    if let Some(item) = items.get(at) {
        act(item);
    }
}

/// Returns all problems of a stream.
fn findings(events: &[AgentEvent]) -> Vec<String> {
    let mut checker = Checker::new();
    let mut found: Vec<_> = events.iter().flat_map(|event| checker.event(event)).collect();
    found.extend(checker.finish());
    found.iter().map(|finding| format!("{}: {}", finding.code, finding.message)).collect()
}

fn folded(events: &[AgentEvent]) -> Vec<String> {
    let mut fold = Fold::new();
    fold.extend(events);
    fold.into_messages().map(|message| message.to_json()).collect()
}

proptest! {
    #[test]
    fn writer_events_are_valid_and_fold_to_its_message(
        steps in prop::collection::vec(step(), 0..40),
        is_dropped in any::<bool>(),
    ) {
        let events = RefCell::new(Vec::new());
        let writer = ReplyWriter::start(|event| events.borrow_mut().push(event), Stamps::repeatable(), "s", "Friday");
        let mut author = Author::new(writer);
        for step in steps {
            author.take(step);
            let message = author.writer.message().to_json();
            prop_assert_eq!(folded(&events.borrow()), [message]);
        }
        if is_dropped {
            drop(author);
        } else {
            let end = ReplyEnd::completed().with_structured_output([("answer", 42)]).with_metadata([("mood", "good")]);
            let message = author.writer.end(end);
            prop_assert_eq!(folded(&events.borrow()), [message.to_json()]);
        }
        prop_assert_eq!(findings(&events.borrow()), Vec::<String>::new());
        let last = events.borrow().last().map(|event| event.type_name().to_owned());
        prop_assert_eq!(last.as_deref(), Some("REPLY_END"));
    }

    #[test]
    fn writer_resumes_after_any_step(before in prop::collection::vec(step(), 0..20), after in prop::collection::vec(step(), 0..20)) {
        let events = RefCell::new(Vec::new());
        let sink = |event: AgentEvent| events.borrow_mut().push(event);
        // The first writer is dropped without ending the reply, as by a killed process.
        let mut first = Author::new(ReplyWriter::start(sink, Stamps::repeatable(), "s", "Friday"));
        before.into_iter().for_each(|step| first.take(step));
        let so_far = first.writer.message().clone();
        std::mem::forget(first);

        let stamps = Stamps::new(recount_message::CountingIds::new("later-"), recount_message::SteppingClock::default());
        let mut second = Author::new(ReplyWriter::resume(sink, stamps, "s", ReplyFold::from_message(so_far)));
        second.given = 100;
        after.into_iter().for_each(|step| second.take(step));
        let message = second.writer.end(ReplyEnd::completed());
        prop_assert_eq!(folded(&events.borrow()), [message.to_json()]);
        // The model call of the first writer was not ended.
        let errors: Vec<String> = findings(&events.borrow()).into_iter().filter(|finding| !finding.starts_with("model_call")).collect();
        prop_assert_eq!(errors, Vec::<String>::new());
    }
}

/// Runs a writer and returns its events.
fn write(act: impl FnOnce(ReplyWriter<&mut dyn FnMut(AgentEvent)>)) -> Vec<AgentEvent> {
    let mut events = Vec::new();
    let mut sink = |event: AgentEvent| events.push(event);
    act(ReplyWriter::start(&mut sink, Stamps::repeatable(), "s", "Friday"));
    events
}

fn types(events: &[AgentEvent]) -> Vec<&str> {
    events.iter().map(Event::type_name).collect()
}

#[test]
fn text_block_ends_when_thinking_starts() {
    let events = write(|mut reply| {
        reply.text("a");
        reply.thinking("b");
        reply.end(ReplyEnd::completed());
    });
    let expected = [
        "REPLY_START",
        "TEXT_BLOCK_START",
        "TEXT_BLOCK_DELTA",
        "TEXT_BLOCK_END",
        "THINKING_BLOCK_START",
        "THINKING_BLOCK_DELTA",
        "THINKING_BLOCK_END",
        "REPLY_END",
    ];
    assert_eq!(types(&events), expected);
}

#[test]
fn dropped_writer_ends_reply_as_interrupted_with_all_results() {
    let events = write(|mut reply| {
        reply.model_call("model");
        let call = reply.tool_call("c1", "search");
        reply.tool_input(&call, "{");
    });
    let message = recount_message::Msg::from_json(&folded(&events)[0]).unwrap();
    assert_eq!(message.finished_reason(), Some(FinishedReason::Interrupted));
    assert_eq!(message.result_of("c1").unwrap().state, ToolResultState::Interrupted);
    assert_eq!(message.call("c1").unwrap().state, ToolCallState::Finished);
}

#[test]
fn duplicate_call_id_is_renamed() {
    let events = write(|mut reply| {
        for _ in 0..3 {
            let call = reply.tool_call("call_0", "search");
            let result = reply.tool_result(call);
            reply.end_result(result, ToolResultState::Success);
        }
    });
    let message = recount_message::Msg::from_json(&folded(&events)[0]).unwrap();
    let ids: Vec<&str> = message.tool_pairs().map(|(call, _)| call.id.as_str()).collect();
    assert_eq!(ids, ["call_0", "call_0_2", "call_0_3"]);
    let original = message.call("call_0_3").unwrap().extra.get("provider_id").unwrap().as_str();
    assert_eq!(original, Some("call_0"));
}

#[test]
fn receive_applies_confirmation_of_another_writer() {
    let events = write(|mut reply| {
        let call = reply.tool_call("c1", "shell");
        reply.tool_input(&call, "{}");
        reply.ask(&call, Vec::new());
        let mut answered = reply.message().call("c1").unwrap().clone();
        answered.input = r#"{"safe":true}"#.to_owned();
        let answer = UserConfirmResultEvent::new(reply.reply_id().to_owned(), [ConfirmResult::allow(answered)]);
        assert_eq!(reply.receive(&Event::new(answer)).reason(), None);
        let call = reply.message().call("c1").unwrap();
        assert_eq!((call.state, call.input.as_str()), (ToolCallState::Allowed, r#"{"safe":true}"#));
    });
    assert_eq!(types(&events)[4], "REQUIRE_USER_CONFIRM");
}

#[test]
fn failed_reply_has_error() {
    let events = write(|reply| {
        reply.end(ReplyEnd::failed(ErrorInfo::new(ErrorType::RateLimit, "slow down")));
    });
    let message = recount_message::Msg::from_json(&folded(&events)[0]).unwrap();
    assert_eq!(message.finished_reason(), Some(FinishedReason::Error));
    assert_eq!(message.error().unwrap().message, "slow down");
}

#[test]
fn unknown_usage_is_not_counted_as_zero() {
    let events = write(|mut reply| {
        reply.model_call("model");
        reply.end_model_call(None);
    });
    let message = recount_message::Msg::from_json(&folded(&events)[0]).unwrap();
    assert_eq!(message.usage(), None);
    assert_eq!(message.metadata(), &Object::new());
}

#[test]
fn writer_rejects_invalid_base64() {
    let events = write(|mut reply| {
        let block = DataBlock::new(recount_message::Base64Source::from_base64("...", "image/png"));
        assert!(reply.data_block(block).is_err());
    });
    assert_eq!(types(&events), ["REPLY_START", "REPLY_END"]);
}

#[test]
fn writer_writes_nothing_after_end_of_another_writer() {
    let events = write(|mut reply| {
        reply.text("a");
        let end = recount_message::ReplyEndEvent::new("s", reply.reply_id().to_owned())
            .with_finished_reason(FinishedReason::Interrupted);
        assert_eq!(reply.record(Event::new(end)).reason(), None);
        reply.text("b");
    });
    assert_eq!(types(&events), ["REPLY_START", "TEXT_BLOCK_START", "TEXT_BLOCK_DELTA", "REPLY_END"]);
}

#[test]
fn writer_skips_result_of_call_with_result() {
    let events = write(|mut reply| {
        let call = reply.tool_call("c1", "open_door");
        reply.submit(&[&call]);
        let answer = recount_message::ToolResultBlock::success("c1", "open_door", "opened");
        let event = recount_message::ExternalExecutionResultEvent::new(reply.reply_id(), [answer]);
        assert_eq!(reply.record(Event::new(event)).reason(), None);
        let result = reply.tool_result(call);
        reply.result_text(&result, "again");
        reply.end_result(result, ToolResultState::Error);
    });
    let message = recount_message::Msg::from_json(&folded(&events)[0]).unwrap();
    assert_eq!(message.result_of("c1").unwrap().output.text().as_deref(), Some("opened"));
}

#[test]
fn extra_fields_of_data_blocks_are_written() {
    let events = write(|mut reply| {
        let image =
            DataBlock::from_url("https://example.com/a").unwrap().into_legacy(recount_message::LegacyMedia::Image);
        reply.data_block(image.clone()).unwrap();
        reply.data_block(image).unwrap();
    });
    let message = recount_message::Msg::from_json(&folded(&events)[0]).unwrap();
    assert_eq!(message.images().count(), 2);
}
