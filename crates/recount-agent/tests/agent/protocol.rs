//! Properties that AgentScope's protocol does not guarantee, but that this agent does.

use pretty_assertions::assert_eq;
use recount_agent::scripted::ScriptedModel;
use recount_message::{ConfirmResult, EventKind, Fold, ToolCallState, UserConfirmResultEvent, parse_time};

use crate::support::{agent, careful, echo, folded, say};

#[tokio::test]
async fn d20_same_script_produces_the_same_events() {
    let play = || async {
        let mut model = ScriptedModel::new();
        for call in 0..8 {
            model = model.calls_as(format!("c{call}"), "search", "{}");
        }
        let agent = agent(&model.then().says("Done.")).tool(echo("search")).build().unwrap();
        say(&agent, "Hi").await.iter().map(recount_message::Event::to_json).collect::<Vec<_>>()
    };
    assert_eq!(play().await, play().await);
}

#[tokio::test]
async fn d21_recorded_event_is_not_modified() {
    let model = ScriptedModel::new().calls_as("c1", "search", "{}").then().says("Done.");
    let agent = careful(&model).tool(echo("search")).build().unwrap();
    let events = say(&agent, "Hi").await;
    let waiting = agent.open_reply().unwrap();
    let asked = waiting.call("c1").unwrap().clone();
    agent.reply(UserConfirmResultEvent::new(waiting.id().to_owned(), [ConfirmResult::allow(asked)])).await.unwrap();
    let required = events.iter().find_map(|event| match &event.kind {
        EventKind::RequireUserConfirm(kind) => Some(kind.tool_calls[0].state),
        _ => None,
    });
    assert_eq!(required, Some(ToolCallState::Asking));
}

#[tokio::test]
async fn d22_replayed_stream_is_folded_once() {
    let model = ScriptedModel::new().says("Hello.");
    let agent = agent(&model).build().unwrap();
    let events = say(&agent, "Hi").await;
    let mut fold = Fold::new();
    for _ in 0..2 {
        for (cursor, event) in (1..).zip(&events) {
            let _ = fold.apply_at(cursor, event);
        }
    }
    assert_eq!(fold.messages().next(), Some(&folded(&events)));
    for event in &events {
        assert!(
            parse_time(&event.created_at).is_some() && event.created_at.ends_with("+00:00"),
            "{}",
            event.created_at
        );
    }
}
