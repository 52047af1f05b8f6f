use std::sync::Arc;

use pretty_assertions::assert_eq;
use recount_agent::tool::{
    BackgroundEvent, BackgroundTools, CallIds, CompiledTool, FunctionTool, NoArguments, ToolError, ToolEvent,
    ToolOutput,
};
use recount_message::{DataBlock, HintBlock, Object, ToolResultState};
use tokio::sync::{Notify, mpsc};

type Reports = mpsc::UnboundedReceiver<BackgroundEvent>;

fn ids(call: &str) -> CallIds {
    CallIds::new("s1", "r1", call)
}

/// Starts a tool, and gives what its call is told.
fn start<F, R>(background: &BackgroundTools, function: F) -> String
where
    F: Fn(NoArguments, recount_agent::tool::ToolContext) -> R + Send + Sync + 'static,
    R: Future<Output = Result<ToolOutput, ToolError>> + Send + 'static,
{
    let tool = FunctionTool::with_context("build", "Builds.", function).background();
    let started = background.start(&CompiledTool::new(tool).unwrap(), Object::new(), ids("c1"), "Friday");
    started.content.text().unwrap()
}

async fn done(reports: &mut Reports) -> (ToolResultState, HintBlock, Object) {
    match reports.recv().await.unwrap() {
        BackgroundEvent::Finished { ids: of, state, hint, metadata } => {
            assert_eq!(of, ids("c1"));
            (state, *hint, metadata)
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn the_outcome_comes_as_a_hint_with_its_source() {
    let (background, mut reports) = BackgroundTools::new();
    let go = Arc::new(Notify::new());
    let wait = Arc::clone(&go);
    let started = start(&background, move |_, context| {
        let wait = Arc::clone(&wait);
        async move {
            context.write_text("compiling\n").await;
            wait.notified().await;
            context.write_text("linking\n").await;
            Ok(ToolOutput::new("green").with_metadata([("exit", 0)]))
        }
    });
    assert_eq!(started, "`build` has started; its outcome will be told later");
    assert_eq!(background.running(), [ids("c1")]);
    go.notify_one();
    let (state, hint, metadata) = done(&mut reports).await;
    assert_eq!(state, ToolResultState::Success);
    assert_eq!(
        hint.hint.text().unwrap(),
        "`build` (call c1), which ran in the background, is done:\ncompiling\nlinking\ngreen"
    );
    let label = hint.label().unwrap();
    assert_eq!((label.label.as_str(), label.sublabel.as_deref()), ("Background tool", Some("build")));
    assert_eq!(hint.id, "c1.outcome");
    assert_eq!(metadata, Object::from([("exit", 0)]));
    assert_eq!(background.running(), []);
}

#[tokio::test]
async fn signals_are_passed_on_at_once() {
    let (background, mut reports) = BackgroundTools::new();
    start(&background, |_, context| async move {
        context.signal("progress", [("percent", 50)]).await;
        context.write_data(DataBlock::from_bytes(b"GIF89a")).await;
        Ok(ToolOutput::new("done"))
    });
    let event = ToolEvent::Signal { name: "progress".into(), value: Object::from([("percent", 50)]) };
    assert_eq!(reports.recv().await.unwrap(), BackgroundEvent::Progress { ids: ids("c1"), event });
    assert_eq!(done(&mut reports).await.1.hint.blocks().len(), 3);
}

#[tokio::test]
async fn an_error_and_a_panic_are_outcomes_too() {
    let (background, mut reports) = BackgroundTools::new();
    start(&background, |_, _| async { Err(ToolError::new("no disk")) });
    let (state, hint, _) = done(&mut reports).await;
    assert_eq!(state, ToolResultState::Error);
    assert_eq!(hint.hint.text().unwrap(), "`build` (call c1), which ran in the background, failed:\nno disk");
    start(&background, |_, _| async { panic!("on purpose") });
    assert_eq!(
        done(&mut reports).await.1.hint.text().unwrap(),
        "`build` (call c1), which ran in the background, failed:\nit panicked"
    );
}

#[tokio::test(start_paused = true)]
async fn a_call_can_be_stopped() {
    let (background, mut reports) = BackgroundTools::new();
    start(&background, |_, context| async move {
        context.write_text("half").await;
        context.cancelled().cancelled().await;
        context.write_text(" and cleaned up").await;
        Err(ToolError::new("cancelled"))
    });
    tokio::task::yield_now().await;
    assert!(background.cancel(&ids("c1")) && !background.cancel(&ids("c2")));
    let (state, hint, _) = done(&mut reports).await;
    assert_eq!(state, ToolResultState::Interrupted);
    assert_eq!(
        hint.hint.text().unwrap(),
        "`build` (call c1), which ran in the background, was stopped:\nhalf and cleaned up"
    );
    // One that does not listen is dropped.
    start(&background, |_, _| std::future::pending());
    background.cancel_all();
    assert_eq!(done(&mut reports).await.0, ToolResultState::Interrupted);
}

#[tokio::test]
async fn everything_stops_when_the_agent_is_gone() {
    let (background, mut reports) = BackgroundTools::new();
    let other = background.clone();
    start(&background, |_, context| async move {
        context.cancelled().cancelled().await;
        Ok(ToolOutput::new("stopped"))
    });
    drop(background);
    assert_eq!(other.running(), [ids("c1")]);
    drop(other);
    assert_eq!(
        done(&mut reports).await.1.hint.text().unwrap(),
        "`build` (call c1), which ran in the background, is done:\nstopped"
    );
    assert_eq!(reports.recv().await, None);
}

#[tokio::test]
async fn what_floods_is_cut() {
    let (background, mut reports) = BackgroundTools::new();
    start(&background, |_, context| async move {
        for _ in 0..40 {
            context.write_text("x".repeat(100_000)).await;
        }
        Ok(ToolOutput::new("the end"))
    });
    let text = done(&mut reports).await.1.hint.text().unwrap();
    assert!(text.len() < 1_100_000 && text.ends_with("the end") && text.contains("left out"), "{}", text.len());
}
