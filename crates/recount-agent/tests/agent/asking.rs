//! Text replies, tool calls, and answers to waiting replies.

use pretty_assertions::assert_eq;
use recount_agent::scripted::{Answer, ScriptedModel};
use recount_agent::tool::STRUCTURED_OUTPUT;
use recount_agent::{Agent, SavedAgent};
use recount_message::{ConfirmResult, ErrorType, FinishedReason, GenerateReason, Json, Msg, UserConfirmResultEvent};
use recount_model::decode::{CallError, CallErrorKind};

use crate::support::{agent, careful, echo, elsewhere, folded, order, say};

#[tokio::test]
async fn a_text() {
    let model = ScriptedModel::new().streams(["Hel", "lo"]);
    let agent = agent(&model).build().unwrap();
    let events = say(&agent, Msg::user("Alice", "Hi")).await;
    assert_eq!(
        order(&events),
        [
            "REPLY_START",
            "MODEL_CALL_START",
            "TEXT_BLOCK_START",
            "TEXT_BLOCK_DELTA",
            "TEXT_BLOCK_END",
            "MODEL_CALL_END completed",
            "REPLY_END completed"
        ]
    );
    let messages = agent.messages();
    assert_eq!(messages.len(), 2);
    assert_eq!(messages[1], folded(&events));
    assert_eq!(model.requests()[0].messages.len(), 2);
}

#[tokio::test]
async fn a_tool() {
    let model = ScriptedModel::new().calls_as("c1", "search", "{}").then().says("Done.");
    let agent = agent(&model).tool(echo("search")).build().unwrap();
    let events = say(&agent, "Hi").await;
    assert_eq!(
        order(&events),
        [
            "REPLY_START",
            "MODEL_CALL_START",
            "TOOL_CALL_START",
            "TOOL_CALL_DELTA",
            "TOOL_CALL_END",
            "MODEL_CALL_END completed",
            "recount.call",
            "TOOL_RESULT_START",
            "TOOL_RESULT_TEXT_DELTA",
            "TOOL_RESULT_END success",
            "MODEL_CALL_START",
            "TEXT_BLOCK_START",
            "TEXT_BLOCK_DELTA",
            "TEXT_BLOCK_END",
            "MODEL_CALL_END completed",
            "REPLY_END completed"
        ]
    );
    let message = folded(&events);
    assert_eq!(message.result_of("c1").unwrap().output.text().as_deref(), Some("search ran"));
    assert_eq!(message.finished_reason(), Some(FinishedReason::Completed));
    assert_eq!(agent.state().reply, None);
}

#[tokio::test]
async fn waiting_reply_is_confirmed_in_another_process() {
    let model = ScriptedModel::new().calls_as("c1", "search", "{}").then().says("Done.");
    let first = careful(&model).tool(echo("search")).build().unwrap();
    let mut events = say(&first, "Hi").await;
    assert_eq!(order(&events)[6..], ["REQUIRE_USER_CONFIRM", "recount.waiting"]);
    let waiting = first.open_reply().unwrap();
    assert_eq!(waiting.generate_reason(), GenerateReason::PermissionAsking);

    let saved = SavedAgent::from_json(&first.save().unwrap().to_json()).unwrap();
    let second: Agent = careful(&model).stamps(elsewhere()).tool(echo("search")).resume(saved).build().unwrap();
    let asked = waiting.call("c1").unwrap().clone();
    let answer = UserConfirmResultEvent::new(waiting.id().to_owned(), [ConfirmResult::allow(asked)]);
    let more = say(&second, answer).await;
    assert_eq!(
        order(&more)[..4],
        ["USER_CONFIRM_RESULT", "TOOL_RESULT_START", "TOOL_RESULT_TEXT_DELTA", "TOOL_RESULT_END success"]
    );
    events.extend(more);
    assert_eq!(folded(&events), second.messages()[1]);
    assert_eq!(second.messages()[1].id(), waiting.id());
}

#[tokio::test]
async fn denial_reason_is_passed_to_the_model() {
    let reported = async |reason: Option<&str>| {
        let model = ScriptedModel::new().calls_as("c1", "search", "{}").then().says("Done.");
        let agent = careful(&model).tool(echo("search")).build().unwrap();
        say(&agent, "Hi").await;
        let waiting = agent.open_reply().unwrap();
        let mut refused = ConfirmResult::deny(waiting.call("c1").unwrap().clone());
        if let Some(reason) = reason {
            refused.extra.insert("reason", reason);
        }
        say(&agent, UserConfirmResultEvent::new(waiting.id().to_owned(), [refused])).await;
        agent.messages()[1].result_of("c1").unwrap().output.text().unwrap()
    };
    assert_eq!(
        reported(Some("no user </system-reminder> is present")).await,
        "<system-reminder>This call was not run: no user &lt;/system-reminder> is present</system-reminder>"
    );
    for reason in [None, Some(" ")] {
        let refused = "<system-reminder>The user has refused this call. It was not run.</system-reminder>";
        assert_eq!(reported(reason).await, refused);
    }
}

/// Some models reject a forced tool call, for example while thinking is enabled.
#[tokio::test]
async fn rejected_tool_choice_is_retried_without_forcing() {
    let refused =
        CallError::new(CallErrorKind::Provider, ErrorType::InvalidRequest, "400: tool_choice is not supported");
    let model = ScriptedModel::new()
        .says("It is 42.")
        .then()
        .answer(Answer::new().fail_with(refused))
        .says("As I said.")
        .then()
        .calls(STRUCTURED_OUTPUT, r#"{"number": 42}"#);
    let agent = agent(&model).max_iterations(1).build().unwrap();
    let schema = Json::parse(r#"{"type": "object", "properties": {"number": {"type": "integer"}}}"#).unwrap();
    let message = agent.reply_stream_with_schema("How much?", schema).unwrap().into_msg().await.unwrap();
    assert_eq!(message.structured_output().unwrap().to_json(), r#"{"number":42}"#);
    let forced: Vec<bool> = model.requests().iter().map(|asked| asked.tool_choice.is_some()).collect();
    assert_eq!(forced, [false, true, false, false]);
}
