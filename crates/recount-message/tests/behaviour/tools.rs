//! Tool calls and their results.

use pretty_assertions::assert_eq;
use recount_message::{
    ContentBlock, DataBlock, Msg, Object, Payload, PermissionBehavior, PermissionRule, ToolCallBlock, ToolCallState,
    ToolResultBlock, ToolResultState,
};

use crate::support::{block, block_json};

#[test]
fn a_tool_call_has_id_name_input_state_and_suggested_rules() {
    let text = concat!(
        r#"{"type":"tool_call","id":"call_1","name":"shell","input":"{\"command\": \"ls\"}","state":"asking","#,
        r#""suggested_rules":[{"tool_name":"shell","rule_content":"ls:*","behavior":"allow","source":"suggested"}],"#,
        r#""created_at":"","finished_at":null}"#
    );
    let read = block(text);
    assert_eq!(block_json(read.clone()), text);
    let ContentBlock::ToolCall(call) = read else { panic!("{read:?}") };
    assert_eq!((call.id.as_str(), call.name.as_str()), ("call_1", "shell"));
    assert_eq!((call.input.as_str(), call.state), (r#"{"command": "ls"}"#, ToolCallState::Asking));
    let expected = PermissionRule::new("shell", Some("ls:*"), PermissionBehavior::Allow).with_source("suggested");
    assert_eq!(call.suggested_rules, [expected]);
}

#[test]
fn a_tool_call_is_pending_unless_it_says_otherwise() {
    let read = block(r#"{"type":"tool_call","id":"call_1","name":"shell","input":"{}"}"#);
    let ContentBlock::ToolCall(call) = read else { panic!("{read:?}") };
    assert_eq!(call.state, ToolCallState::Pending);
    assert_eq!(ToolCallBlock::new("call_1", "shell", "{}").state, ToolCallState::Pending);
}

#[test]
fn a_tool_call_goes_through_five_states() {
    let words: Vec<&str> = ToolCallState::ALL.iter().map(|state| state.as_str()).collect();
    assert_eq!(words, ["pending", "asking", "allowed", "submitted", "finished"]);
}

#[test]
fn a_tool_result_has_the_calls_id_a_name_an_output_and_a_state() {
    let text = concat!(
        r#"{"type":"tool_result","id":"call_1","name":"get_weather","output":"Sunny","state":"success","#,
        r#""metadata":{"took":1.0},"created_at":"","finished_at":null}"#
    );
    let read = block(text);
    assert_eq!(block_json(read.clone()), text);
    let ContentBlock::ToolResult(result) = read else { panic!("{read:?}") };
    assert_eq!((result.id.as_str(), result.name.as_str()), ("call_1", "get_weather"));
    assert_eq!((result.output, result.state), (Payload::from("Sunny"), ToolResultState::Success));
}

#[test]
fn a_tool_result_is_in_one_of_five_states() {
    let words: Vec<&str> = ToolResultState::ALL.iter().map(|state| state.as_str()).collect();
    assert_eq!(words, ["success", "error", "interrupted", "denied", "running"]);
}

#[test]
fn a_result_is_found_by_the_id_of_its_call() {
    let call = ToolCallBlock::new("call_1", "get_weather", "{}");
    let result = call.success("Sunny");
    let message = Msg::assistant("Friday", (call, ToolCallBlock::new("call_2", "search", "{}"), result.clone()));
    assert_eq!(message.result_of("call_1"), Some(&result));
    assert_eq!(message.result_of("call_2"), None);
    let answered: Vec<(&str, bool)> =
        message.tool_pairs().map(|(call, result)| (call.id.as_str(), result.is_some())).collect();
    assert_eq!(answered, [("call_1", true), ("call_2", false)]);
}

#[test]
fn a_result_may_be_made_of_text_and_data() {
    let output = ("A chart:", DataBlock::from_bytes(b"\x89PNG\r\n\x1a\n"));
    let result = ToolResultBlock::success("call_1", "plot", output);
    assert_eq!(block(&block_json(result.clone())), result.clone().into());
    assert_eq!(result.output.blocks().len(), 2);
    assert_eq!(result.output.text().as_deref(), Some("A chart:"));
}

#[test]
fn a_result_refuses_a_tool_call_inside() {
    let text = r#"{"name":"n","role":"assistant","id":"m","created_at":"","content":[{"type":"tool_result","id":"c",
        "name":"t","output":[{"type":"tool_call","id":"x","name":"t","input":"{}"}]}]}"#;
    let error = Msg::from_json(text).unwrap_err();
    assert_eq!(error.path(), "content[0].output[0]");
}

#[test]
fn a_result_may_be_an_error() {
    let error = ToolResultBlock::error("call_1", "get_weather", "API call failed: Connection timeout");
    assert_eq!(error.state, ToolResultState::Error);
    assert_eq!(error.output.text().as_deref(), Some("API call failed: Connection timeout"));
}

#[test]
fn a_result_without_a_state_is_running() {
    let read = block(r#"{"type":"tool_result","id":"c","name":"t","output":"…"}"#);
    let ContentBlock::ToolResult(result) = read else { panic!("{read:?}") };
    assert_eq!(result.state, ToolResultState::Running);
}

#[test]
fn arguments_may_be_given_and_read_as_a_map() {
    let call =
        ToolCallBlock::with_arguments("call_1", "get_weather", &Object::from([("location", "Beijing")])).unwrap();
    assert_eq!(call.input, r#"{"location":"Beijing"}"#);
    assert_eq!(call.arguments::<Object>().unwrap(), Object::from([("location", "Beijing")]));
}

#[test]
fn arguments_are_read_as_a_rust_type() {
    #[derive(Debug, PartialEq, serde::Deserialize)]
    struct Weather {
        city: String,
    }
    let call = |input: &str| ToolCallBlock::new("call_1", "get_weather", input);
    assert_eq!(call(r#"{"city": "Beijing"}"#).arguments::<Weather>().unwrap(), Weather { city: "Beijing".to_owned() });
    let error = call(r#"{"city": 7}"#).arguments::<Weather>().unwrap_err();
    assert!(error.to_string().starts_with("`city`: invalid type"), "{error}");
    assert!(call("").arguments::<Object>().unwrap().is_empty());
}

#[test]
fn tool_input_keeps_its_text() {
    for input in [r#"{"a": 25, "b": 25.0, "c": 1.0E-4, "d": 123456789012345678901234567890}"#, "{\"cut\": tru", ""] {
        let call = ToolCallBlock::new("call_1", "t", input);
        let read = block(&block_json(call));
        let ContentBlock::ToolCall(read) = read else { panic!("{read:?}") };
        assert_eq!(read.input, input);
    }
}

#[test]
fn call_has_one_result() {
    let call = [
        r#"MODEL_CALL_START "model_name":"m""#,
        r#"TOOL_CALL_START "tool_call_id":"c","tool_call_name":"t""#,
        r#"TOOL_RESULT_START "tool_call_id":"c","tool_call_name":"t""#,
        r#"TOOL_RESULT_END "tool_call_id":"c","state":"success""#,
        r#"MODEL_CALL_START "model_name":"m""#,
    ];
    let again = r#"TOOL_RESULT_START "tool_call_id":"c","tool_call_name":"t""#;
    let (_, outcome) = crate::support::fold_to_last(&[&call[..], &[again]].concat());
    assert_eq!(outcome.reason().unwrap().code(), "result_exists");

    let whole = r#"CUSTOM "name":"recount.block","value":{"reply_id":"r","block":{"type":"tool_result","id":"c","name":"t","output":"x"}}"#;
    let (_, outcome) = crate::support::fold_to_last(&[&call[..], &[whole]].concat());
    assert_eq!(outcome.reason().unwrap().code(), "result_exists");
}

#[test]
fn a_result_that_comes_as_a_whole_block_finishes_its_call() {
    let message = crate::support::fold(&[
        r#"TOOL_CALL_START "tool_call_id":"c","tool_call_name":"t""#,
        r#"CUSTOM "name":"recount.block","value":{"reply_id":"r","block":{"type":"tool_result","id":"c","name":"t","output":"x"}}"#,
    ]);
    assert_eq!(message.call("c").unwrap().state, ToolCallState::Finished);
}

#[test]
fn an_external_result_whose_deltas_follow_is_an_input() {
    let waiting = [
        r#"TOOL_CALL_START "tool_call_id":"c","tool_call_name":"t""#,
        r#"TOOL_RESULT_START "tool_call_id":"c","tool_call_name":"t""#,
        r#"EXTERNAL_EXECUTION_RESULT "execution_results":[{"type":"tool_result","id":"c","name":"t","output":"x"}]"#,
    ];
    let (message, outcome) = crate::support::fold_to_last(&waiting);
    assert_eq!(outcome, recount_message::Outcome::Applied);
    assert_eq!(message.result_of("c").unwrap().output.blocks().len(), 0);
}
