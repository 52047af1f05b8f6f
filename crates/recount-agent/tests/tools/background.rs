use std::sync::Arc;

use pretty_assertions::assert_eq;
use recount_agent::tool::{
    BackgroundEvent, BackgroundTools, CallIds, CompiledTool, FunctionTool, NoArguments, ToolError, ToolEvent,
    ToolOutput,
};
use recount_message::{DataBlock, HintBlock, Object, ToolResultState};
use tokio::sync::{Notify, mpsc};

type Events = mpsc::UnboundedReceiver<BackgroundEvent>;

fn ids(call: &str) -> CallIds {
    CallIds::new("s1", "r1", call)
}

/// Starts a tool and returns the immediate result of its call.
fn start<F, R>(background: &BackgroundTools, function: F) -> String
where
    F: Fn(NoArguments, recount_agent::tool::ToolContext) -> R + Send + Sync + 'static,
    R: Future<Output = Result<ToolOutput, ToolError>> + Send + 'static,
{
    let tool = FunctionTool::with_context("build", "Builds.", function).background();
    let started = background.start(&CompiledTool::new(tool).unwrap(), Object::new(), ids("c1"), "Friday");
    started.content.text().unwrap()
}

async fn finished(events: &mut Events) -> (ToolResultState, HintBlock, Object) {
    match events.recv().await.unwrap() {
        BackgroundEvent::Finished { ids: of, state, hint, metadata } => {
            assert_eq!(of, ids("c1"));
            (state, *hint, metadata)
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn outcome_is_hint_with_source() {
    let (background, mut events) = BackgroundTools::new();
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
    assert_eq!(started, "`build` has started; its outcome will be reported later");
    assert_eq!(background.running(), [ids("c1")]);
    go.notify_one();
    let (state, hint, metadata) = finished(&mut events).await;
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
async fn signals_are_forwarded_immediately() {
    let (background, mut events) = BackgroundTools::new();
    start(&background, |_, context| async move {
        context.signal("progress", [("percent", 50)]).await;
        context.write_data(DataBlock::from_bytes(b"GIF89a")).await;
        Ok(ToolOutput::new("done"))
    });
    let event = ToolEvent::Signal { name: "progress".into(), value: Object::from([("percent", 50)]) };
    assert_eq!(events.recv().await.unwrap(), BackgroundEvent::Progress { ids: ids("c1"), event });
    assert_eq!(finished(&mut events).await.1.hint.blocks().len(), 3);
}

#[tokio::test]
async fn errors_and_panics_are_outcomes() {
    let (background, mut events) = BackgroundTools::new();
    start(&background, |_, _| async { Err(ToolError::new("no disk")) });
    let (state, hint, _) = finished(&mut events).await;
    assert_eq!(state, ToolResultState::Error);
    assert_eq!(hint.hint.text().unwrap(), "`build` (call c1), which ran in the background, failed:\nno disk");
    start(&background, |_, _| async { panic!("on purpose") });
    assert_eq!(
        finished(&mut events).await.1.hint.text().unwrap(),
        "`build` (call c1), which ran in the background, failed:\nit panicked"
    );
}

#[tokio::test(start_paused = true)]
async fn cancelled_call_is_interrupted() {
    let (background, mut events) = BackgroundTools::new();
    start(&background, |_, context| async move {
        context.write_text("half").await;
        context.cancelled().cancelled().await;
        context.write_text(" and cleaned up").await;
        Err(ToolError::new("cancelled"))
    });
    tokio::task::yield_now().await;
    assert!(background.cancel(&ids("c1")) && !background.cancel(&ids("c2")));
    let (state, hint, _) = finished(&mut events).await;
    assert_eq!(state, ToolResultState::Interrupted);
    assert_eq!(
        hint.hint.text().unwrap(),
        "`build` (call c1), which ran in the background, was stopped:\nhalf and cleaned up"
    );
    // A tool that ignores the cancellation is dropped.
    start(&background, |_, _| std::future::pending());
    background.cancel_all();
    assert_eq!(finished(&mut events).await.0, ToolResultState::Interrupted);
}

#[tokio::test]
async fn dropping_last_handle_cancels_all() {
    let (background, mut events) = BackgroundTools::new();
    let other = background.clone();
    start(&background, |_, context| async move {
        context.cancelled().cancelled().await;
        Ok(ToolOutput::new("stopped"))
    });
    drop(background);
    assert_eq!(other.running(), [ids("c1")]);
    drop(other);
    assert_eq!(
        finished(&mut events).await.1.hint.text().unwrap(),
        "`build` (call c1), which ran in the background, is done:\nstopped"
    );
    assert_eq!(events.recv().await, None);
}

#[tokio::test]
async fn long_output_is_truncated() {
    let (background, mut events) = BackgroundTools::new();
    start(&background, |_, context| async move {
        for _ in 0..40 {
            context.write_text("x".repeat(100_000)).await;
        }
        Ok(ToolOutput::new("the end"))
    });
    let text = finished(&mut events).await.1.hint.text().unwrap();
    assert!(text.len() < 1_100_000 && text.ends_with("the end") && text.contains("left out"), "{}", text.len());
}
