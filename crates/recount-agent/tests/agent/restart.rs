//! Resuming a reply in another process after a crash.

use pretty_assertions::assert_eq;
use recount_agent::scripted::ScriptedModel;
use recount_agent::tool::{FunctionTool, NoArguments};
use recount_agent::{Agent, AgentBuilder, Error, InputRejection, OnRestart, SavedAgent};
use recount_message::{AgentEvent, EventKind, FinishedReason, Fold, HintBlock, Msg, ToolResultState};

use crate::support::{Kept, agent, echo, elsewhere, order, say};

/// Returns what is persisted when the process dies after this many entries: the fold of the events, and the last state.
fn left(kept: &Kept, entries: usize) -> (SavedAgent, Vec<AgentEvent>) {
    let kept = kept.0.lock().unwrap();
    let events: Vec<AgentEvent> = kept.iter().take(entries).map(|(event, _)| event.clone()).collect();
    let state = kept.iter().take(entries).rev().find_map(|(_, state)| state.clone()).unwrap();
    let mut fold = Fold::new();
    fold.extend(&events);
    (SavedAgent::new(state, fold.checkpoint()), events)
}

/// Returns the same agent in another process, which generates different ids.
fn again(model: &ScriptedModel) -> AgentBuilder {
    agent(model).stamps(elsewhere())
}

fn script() -> ScriptedModel {
    ScriptedModel::new()
        .thinks("I should look.")
        .says("Let me look.")
        .calls_as("c1", "search", "{}")
        .then()
        .says("Done.")
}

async fn kept() -> Kept {
    let kept = Kept::default();
    let agent = agent(&script()).tool(echo("search")).sink(kept.clone()).build().unwrap();
    agent.reply("Hi").await.unwrap();
    kept
}

/// The process dies after each entry in turn. The resumed agent must end the same reply, and its message must be the
/// fold of all events.
#[tokio::test]
async fn reply_resumes_after_a_crash_at_any_event() {
    let first = kept().await;
    let length = first.events().len();
    for entries in 2..length {
        let (saved, mut events) = left(&first, entries);
        let reply_id = saved.state().reply.as_ref().unwrap().id.clone();
        // The scripted model answers from the beginning, whatever was requested before.
        let model = script();
        let kept = Kept::default();
        let second = again(&model).tool(echo("search")).sink(kept.clone()).resume(saved).build().unwrap();
        assert!(matches!(second.reply("Hi?").await, Err(Error::Rejected(InputRejection::Unfinished { .. }))));
        let message = second.reply(()).await.unwrap();
        assert_eq!(message.id(), reply_id, "after {entries}");
        assert_eq!(message.finished_reason(), Some(FinishedReason::Completed), "after {entries}");
        assert!(message.tool_pairs().all(|(_, result)| result.is_some_and(|result| result.finished_at.is_some())));
        events.extend(kept.events());
        let mut fold = Fold::new();
        for event in &events {
            let outcome = fold.apply(event);
            assert_eq!(outcome.reason(), None, "after {entries}: {}", event.to_json());
        }
        assert_eq!(fold.message(&reply_id), Some(&message), "after {entries}");
    }
}

#[tokio::test]
async fn interrupted_model_call_is_marked_and_retried() {
    let first = kept().await;
    let texts = first.events().iter().position(|event| event.type_name() == "TEXT_BLOCK_DELTA").unwrap();
    let (saved, _) = left(&first, texts + 1);
    let model = ScriptedModel::new().says("Hello.");
    let second = again(&model).tool(echo("search")).resume(saved).build().unwrap();
    let events = say(&second, ()).await;
    assert_eq!(
        order(&events)[..4],
        ["TEXT_BLOCK_END", "THINKING_BLOCK_START", "THINKING_BLOCK_END", "MODEL_CALL_END interrupted"]
    );
    let asked = model.requests().pop().unwrap();
    assert!(asked.messages.iter().all(|message| message.name() != "Friday"), "{:?}", asked.messages);
    assert_eq!(second.messages()[1].text().as_deref(), Some("Let me look.\nHello."));
}

fn died_while_running(first: &Kept) -> SavedAgent {
    let started = first.events().iter().position(|event| event.type_name() == "TOOL_RESULT_START").unwrap();
    left(first, started + 1).0
}

#[tokio::test]
async fn only_idempotent_tools_are_rerun_after_a_crash() {
    let first = kept().await;
    for (is_idempotent, state) in [(false, ToolResultState::Interrupted), (true, ToolResultState::Success)] {
        let model = ScriptedModel::new().says("Done.");
        let tool = if is_idempotent { echo("search").idempotent() } else { echo("search") };
        let second = again(&model).tool(tool).resume(died_while_running(&first)).build().unwrap();
        let events = say(&second, ()).await;
        assert!(events.iter().all(|event| event.type_name() != "TOOL_RESULT_START"));
        let message = second.messages()[1].clone();
        let result = message.result_of("c1").unwrap();
        assert_eq!(result.state, state);
        let reported =
            model.requests().pop().unwrap().messages.last().and_then(|message| message.result_of("c1").cloned());
        assert_eq!(reported.unwrap().output, result.output);
    }
}

#[tokio::test]
async fn reply_is_resumed_at_most_three_times() {
    let first = kept().await;
    let mut saved = died_while_running(&first);
    for times in 1..=4 {
        let kept = Kept::default();
        let gone = FunctionTool::new("search", "Never comes back.", |_: NoArguments| {
            std::future::pending::<Result<&str, recount_agent::tool::ToolError>>()
        });
        let next =
            again(&ScriptedModel::new()).tool(gone.idempotent()).sink(kept.clone()).resume(saved).build().unwrap();
        if times == 4 {
            let Err(Error::Failed { message, .. }) = next.reply(()).await else { panic!() };
            assert_eq!(message.finished_reason(), Some(FinishedReason::Error));
            return;
        }
        saved = die(next, &kept).await;
    }
}

/// Resumes an agent, and returns what is persisted when it dies again.
async fn die(agent: Agent, kept: &Kept) -> SavedAgent {
    let before = agent.save().unwrap();
    let mut stream = agent.reply_stream(()).unwrap();
    {
        let mut next = std::pin::pin!(stream.next());
        // The tool never returns, so the reply makes no progress.
        std::future::poll_fn(|context| {
            let _ = next.as_mut().poll(context);
            std::task::Poll::Ready(())
        })
        .await;
    }
    let mut state = agent.state();
    if kept.events().is_empty() {
        state.reply = before.state().reply.clone().map(|mut reply| {
            reply.restarts += 1;
            reply
        });
    }
    let messages: Vec<Msg> = before.messages().cloned().collect();
    let replies = messages.into_iter().map(|message| recount_message::CheckpointReply { message, call_floor: Some(0) });
    SavedAgent::new(state, recount_message::Checkpoint { cursor: 0, replies: replies.collect(), taken: vec![] })
}

#[tokio::test]
async fn on_restart_close_ends_the_reply() {
    let first = kept().await;
    let second =
        again(&ScriptedModel::new()).on_restart(OnRestart::Close).resume(died_while_running(&first)).build().unwrap();
    let events = say(&second, ()).await;
    assert_eq!(order(&events), ["TOOL_RESULT_TEXT_DELTA", "TOOL_RESULT_END interrupted", "REPLY_END error"]);
}

/// The interrupted call belongs to the old reply, which ends under its own id.
#[tokio::test]
async fn d19_interrupted_call_runs_in_its_own_reply() {
    let first = kept().await;
    let ended = first.events().iter().position(|event| event.type_name() == "MODEL_CALL_END").unwrap();
    let (saved, _) = left(&first, ended + 1);
    let reply_id = saved.state().reply.as_ref().unwrap().id.clone();
    let model = ScriptedModel::new().says("Done.");
    let second = again(&model).tool(echo("search")).resume(saved).build().unwrap();
    let message = second.reply(()).await.unwrap();
    assert_eq!(message.id(), reply_id);
    assert_eq!(message.result_of("c1").unwrap().output.text().as_deref(), Some("search ran"));
    assert_eq!(model.requests().len(), 1);
}

/// An agent with a background tool that never finishes, after its reply has ended.
async fn with_background() -> Kept {
    let kept = Kept::default();
    let model = ScriptedModel::new().calls_as("c1", "build", "{}").then().says("Started.");
    let agent = agent(&model).tool(never()).sink(kept.clone()).build().unwrap();
    agent.reply("Build it.").await.unwrap();
    kept
}

fn never() -> FunctionTool<NoArguments> {
    let build = FunctionTool::new("build", "Builds.", |_: NoArguments| async { std::future::pending::<Ran>().await });
    build.background()
}

type Ran = Result<&'static str, recount_agent::tool::ToolError>;

#[tokio::test]
async fn lost_background_result_is_reported_as_unknown() {
    let first = with_background().await;
    let (saved, events) = left(&first, usize::MAX);
    let model = ScriptedModel::new().says("I see.").then().says("Yes.");
    let kept = Kept::default();
    let second = again(&model).tool(never()).sink(kept.clone()).resume(saved).build().unwrap();
    let reported = say(&second, "Is it green?").await;
    let EventKind::HintBlock(hint) = &reported[1].kind else { panic!("{:?}", order(&reported)) };
    assert_eq!(hint.block_id, "c1.outcome");
    assert!(hint.hint.text().unwrap().contains("unknown"));
    assert!(model.requests()[0].messages.iter().any(Msg::has::<HintBlock>));

    // Reported once, even if the next process dies as well.
    let mut fold = Fold::new();
    fold.extend(events.iter().chain(&kept.events()));
    let saved = SavedAgent::new(kept.state(), fold.checkpoint());
    let third = again(&model).tool(never()).resume(saved).build().unwrap();
    assert!(!order(&say(&third, "Sure?").await).contains(&"HINT_BLOCK".to_owned()));
}

#[tokio::test]
async fn running_background_tool_is_not_reported_as_lost() {
    let first = with_background().await;
    let (saved, _) = left(&first, usize::MAX);
    let calls = saved.state().background.clone();
    let model = ScriptedModel::new().says("Not yet.").then().says("It is.");
    let second = again(&model).tool(never()).still_running(calls).resume(saved).build().unwrap();
    assert!(!order(&say(&second, "Is it green?").await).contains(&"HINT_BLOCK".to_owned()));
    assert_eq!(second.state().background.len(), 1);
    second.hint(HintBlock::new("It is green.").with_id("c1.outcome"));
    assert!(second.state().background.is_empty());
    assert!(order(&say(&second, ()).await).contains(&"HINT_BLOCK".to_owned()));
}
