//! Property tests for conversations that exceed the context window: messages are unchanged, nothing is lost, and calls
//! keep their results.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "shared/presentable.rs"]
mod presentable;
#[path = "../../recount-model/tests/rules/mod.rs"]
mod rules;

use std::sync::{Arc, Mutex};

use presentable::presentable;
use pretty_assertions::assert_eq;
use proptest::collection::vec;
use proptest::prelude::*;
use recount_agent::permission::{Mode, Permissions};
use recount_agent::scripted::ScriptedModel;
use recount_agent::tool::{FunctionTool, NoArguments};
use recount_agent::{Agent, AgentBuilder, AgentState, BoxFuture, Compression, Offload, SavedAgent, Sink, SinkError};
use recount_message::{
    AgentEvent, ContentBlock, CustomEvent, Event, Fold, Msg, Stamps, ThinkingBlock, ToolCallBlock, ToolResultBlock,
    ToolResultState,
};
use recount_model::estimate_tokens;

/// One turn: the input, and the rounds of the reply. Numbers are lengths in tokens.
#[derive(Debug, Clone)]
struct Turn {
    question: usize,
    rounds: Vec<Round>,
    answer: usize,
}

#[derive(Debug, Clone)]
struct Round {
    thinking: bool,
    text: usize,
    calls: Vec<usize>,
}

fn turns() -> impl Strategy<Value = Vec<Turn>> {
    let round = (any::<bool>(), 0..40_usize, vec(1..60_usize, 1..3)).prop_map(|(thinking, text, calls)| Round {
        thinking,
        text,
        calls,
    });
    let turn = (1..60_usize, vec(round, 0..4), 1..60_usize).prop_map(|(question, rounds, answer)| Turn {
        question,
        rounds,
        answer,
    });
    vec(turn, 1..6)
}

/// A text with a unique marker, of about this many tokens.
fn marked(marks: &mut Vec<String>, tokens: usize) -> String {
    let mark = format!("<{}>", marks.len());
    let text = format!("{mark}{}", "abcd".repeat(tokens));
    marks.push(mark);
    text
}

/// A conversation, and the markers of all of its texts.
fn conversation(turns: &[Turn]) -> (Vec<Msg>, Vec<String>) {
    let (mut messages, mut marks, mut calls) = (Vec::new(), Vec::new(), 0);
    for (index, turn) in turns.iter().enumerate() {
        let question = marked(&mut marks, turn.question);
        messages.push(Msg::user("Alice", question).with_id(format!("q{index}")));
        let mut blocks: Vec<ContentBlock> = Vec::new();
        for round in &turn.rounds {
            if round.thinking {
                blocks.push(ThinkingBlock::new("hm".repeat(20)).into());
            }
            if round.text > 0 {
                blocks.push(marked(&mut marks, round.text).into());
            }
            let made: Vec<String> = round
                .calls
                .iter()
                .map(|_| {
                    calls += 1;
                    format!("c{calls}")
                })
                .collect();
            blocks.extend(made.iter().map(|id| ToolCallBlock::new(id, "look", "{}").into()));
            for (id, tokens) in made.iter().zip(&round.calls) {
                let text = marked(&mut marks, *tokens);
                let mut result = ToolResultBlock::new(id, "look", text, ToolResultState::Success);
                result.finished_at = Some("2026-01-01T00:00:00+00:00".into());
                blocks.push(result.into());
            }
        }
        blocks.push(marked(&mut marks, turn.answer).into());
        messages.push(Msg::assistant("Friday", blocks).with_id(format!("a{index}")));
    }
    (messages, marks)
}

/// A log in memory.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<Entry>>>);

type Entry = (AgentEvent, Option<AgentState>);

impl Sink for Kept {
    fn append(&mut self, event: &AgentEvent, state: Option<&AgentState>) -> Result<(), SinkError> {
        self.0.lock().unwrap().push((event.clone(), state.cloned()));
        Ok(())
    }

    fn commit(&mut self) -> BoxFuture<'static, Result<(), SinkError>> {
        Box::pin(async { Ok(()) })
    }
}

fn builder(model: &ScriptedModel, by: &ScriptedModel, window: u64) -> AgentBuilder {
    let look = FunctionTool::new("look", "Looks.", |_: NoArguments| async { Ok("seen ".repeat(20)) });
    Agent::builder("Friday")
        .model(model.clone())
        .permissions(Permissions::new(Mode::Bypass))
        .tool(look)
        .runtime_state(None)
        .compression(Compression::new(window).summary_model(by.clone()))
}

fn model() -> ScriptedModel {
    ScriptedModel::new().thinks("hm").calls("look", "{}").then().says("Done.")
}

fn summariser() -> ScriptedModel {
    (0..9).fold(ScriptedModel::new(), |model, index| model.says(format!("summary {index}")).then())
}

fn all_text(messages: &[Msg]) -> String {
    messages.iter().map(Msg::to_json).collect()
}

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Laws 2 and 8, and the guarantees of a summary.
    #[test]
    fn compression_keeps_messages_unchanged_and_complete(turns in turns(), window in 60..600_u64) {
        run(async {
            let (messages, marks) = conversation(&turns);
            let (model, by, log) = (model(), summariser(), Kept::default());
            let agent = builder(&model, &by, window).conversation(messages.clone()).sink(log.clone()).build().unwrap();
            let reply = agent.reply("Go on.").await.unwrap();

            // The conversation is unchanged, and the reply is the fold of its events.
            assert_eq!(agent.messages()[..messages.len()], messages[..]);
            let mut fold = Fold::new();
            let events: Vec<AgentEvent> = log.0.lock().unwrap().iter().map(|(event, _)| event.clone()).collect();
            fold.extend(&events);
            assert_eq!(fold.messages().last().map(Msg::to_json), Some(reply.to_json()));
            assert!(reply.tool_pairs().all(|(_, result)| result.is_some()));

            for asked in model.requests() {
                // Every provider accepts the request without changes by the formatter.
                presentable(&asked.messages);
                // Texts that no request contains were summarised, and no later request contains summarised texts.
                let (shown, summarised) = (all_text(&asked.messages), all_text(&by.requests().iter().flat_map(|asked| asked.messages.clone()).collect::<Vec<_>>()));
                for mark in &marks {
                    assert!(shown.contains(mark) || summarised.contains(mark), "{mark} is lost");
                }
                let seen: Vec<bool> = marks.iter().map(|mark| shown.contains(mark)).collect();
                assert!(seen.is_sorted(), "the request contains the newest messages without a gap: {seen:?}");
            }
            // The request is smaller than the trigger, unless nothing more can be left out.
            let last = model.requests().pop().unwrap();
            let is_small = estimate_tokens(&last.messages, &[]) <= window * 8 / 10;
            let is_bare = last.messages.iter().filter(|message| message.id() != reply.id()).count() <= 2;
            assert!(is_small || is_bare, "{} tokens of {window}", estimate_tokens(&last.messages, &[]));
        });
    }
}

proptest! {
    // Each case is resumed after each of its events.
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    /// Law 3: an agent that is resumed from any point of the log sends the same requests.
    #[test]
    fn reply_resumes_after_any_event(turns in turns(), window in 60..400_u64) {
        run(async {
            let (messages, _) = conversation(&turns);
            let (directory, log) = (tempfile::tempdir().unwrap(), Kept::default());
            let start = |model: &ScriptedModel, by: &ScriptedModel| {
                builder(model, by, window).tool_result_limit(5).offload(Offload::to(directory.path()))
            };
            let (first, by) = (model(), summariser());
            let agent = start(&first, &by).conversation(messages.clone()).sink(log.clone()).build().unwrap();
            let whole = agent.reply("Go on.").await.unwrap();
            let asked = first.requests();

            let entries = log.0.lock().unwrap().clone();
            for cut in 1..entries.len() {
                let mut fold = Fold::new();
                for message in &messages {
                    let _ = fold.apply(&Event::new(CustomEvent::message(message)));
                }
                for (event, _) in &entries[..cut] {
                    let _ = fold.apply(event);
                }
                let state = entries[..cut].iter().rev().find_map(|(_, state)| state.clone()).unwrap();
                let saved = SavedAgent::from_json(&SavedAgent::new(state, fold.checkpoint()).to_json()).unwrap();
                let is_answered = saved.messages().any(|message| message.id() == whole.id() && message.has::<ToolResultBlock>());
                let is_silent = saved.messages().any(|message| message.id() == whole.id() && message.content().is_empty());
                // The remaining answers depend on the point of the crash.
                let second = if is_answered { ScriptedModel::new().says("Done.").then().says("Done.") } else { model() };
                let other = start(&second, &summariser()).stamps(Stamps::default()).resume(saved).build().unwrap();
                if other.open_reply().is_none() {
                    continue;
                }
                let reply = other.reply(()).await.unwrap();
                assert_eq!(reply.id(), whole.id());
                assert_eq!(other.messages()[..messages.len()], messages[..]);
                assert!(reply.tool_pairs().all(|(_, result)| result.is_some()));
                for request in second.requests() {
                    presentable(&request.messages);
                }
                // If the reply was empty, the request is the same as in the first process, including the summary.
                if is_silent {
                    assert_eq!(bare(&second.requests()[0].messages), bare(&asked[0].messages));
                }
            }
        });
    }
}

/// The contents of messages, without the ids and times that are generated for a request.
fn bare(messages: &[Msg]) -> Vec<(String, String, usize)> {
    let bare = |message: &Msg| (message.name().to_owned(), message.text_or_empty(), message.content().len());
    messages.iter().map(bare).collect()
}
