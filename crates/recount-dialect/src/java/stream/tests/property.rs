//! Arbitrary events in any order.

use proptest::prelude::*;
use proptest::sample::select;

use super::{ResumingStream, errors, folded, summarize};

fn config() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::default() }
}

/// A step of a test.
#[derive(Debug, Clone)]
enum Step {
    /// The type and fields of an event.
    Event(&'static str, String),
    UserTurn,
}

fn step() -> impl Strategy<Value = Step> {
    let event = (any_event(), select(vec!["", "", "", r#","source":"helper""#, r#","source":"helper/below""#]));
    prop_oneof![
        40 => event.prop_map(|((kind, fields), source)| Step::Event(kind, fields + source)),
        1 => Just(Step::UserTurn),
    ]
}

fn any_event() -> impl Strategy<Value = (&'static str, String)> {
    prop_oneof![
        3 => agent_event(),
        3 => model_event(),
        6 => block_event(),
        6 => call_event(),
        6 => result_event(),
        3 => list_event(),
        2 => agent_result(),
    ]
}

fn reply() -> impl Strategy<Value = &'static str> {
    select(vec!["a", "b", "m1", "m2", ""])
}

fn call() -> impl Strategy<Value = &'static str> {
    select(vec!["c1", "c2", "c3", "c1_2", ""])
}

fn agent_event() -> impl Strategy<Value = (&'static str, String)> {
    let kind = select(vec!["AGENT_START", "AGENT_END", "EXCEED_MAX_ITERS", "REQUEST_STOP", "CUSTOM", "HINT_BLOCK"]);
    (kind, reply()).prop_map(|(kind, reply)| {
        let more = match kind {
            "CUSTOM" => r#","name":"progress","value":{}"#,
            "HINT_BLOCK" => r#","blockId":"h","hint":"hurry""#,
            "AGENT_START" => r#","name":"Friday""#,
            _ => "",
        };
        (kind, format!(r#","replyId":"{reply}"{more}"#))
    })
}

fn model_event() -> impl Strategy<Value = (&'static str, String)> {
    let usage = select(vec!["", r#","usage":{"inputTokens":3,"outputTokens":2}"#]);
    (select(vec!["MODEL_CALL_START", "MODEL_CALL_END"]), reply(), usage)
        .prop_map(|(kind, reply, usage)| (kind, format!(r#","replyId":"{reply}"{usage}"#)))
}

fn block_event() -> impl Strategy<Value = (&'static str, String)> {
    let kind = select(vec![
        "TEXT_BLOCK_START",
        "TEXT_BLOCK_DELTA",
        "TEXT_BLOCK_END",
        "THINKING_BLOCK_START",
        "THINKING_BLOCK_DELTA",
        "THINKING_BLOCK_END",
        "DATA_BLOCK_START",
        "DATA_BLOCK_DELTA",
        "DATA_BLOCK_END",
    ]);
    (kind, reply(), select(vec!["text", "thinking", "x", ""]))
        .prop_map(|(kind, reply, block)| (kind, format!(r#","replyId":"{reply}","blockId":"{block}","delta":"QUJD""#)))
}

fn call_event() -> impl Strategy<Value = (&'static str, String)> {
    let kind = select(vec!["TOOL_CALL_START", "TOOL_CALL_DELTA", "TOOL_CALL_END"]);
    let name = select(vec!["look", "__fragment__"]);
    (kind, reply(), call(), name, select(vec!["", "{", "}"])).prop_map(|(kind, reply, call, name, delta)| {
        (kind, format!(r#","replyId":"{reply}","toolCallId":"{call}","toolCallName":"{name}","delta":"{delta}""#))
    })
}

fn result_event() -> impl Strategy<Value = (&'static str, String)> {
    let kind = select(vec!["TOOL_RESULT_START", "TOOL_RESULT_TEXT_DELTA", "TOOL_RESULT_DATA_DELTA", "TOOL_RESULT_END"]);
    let state = select(vec!["success", "running", "denied"]);
    let data = select(vec![
        r#"{"type":"image","source":{"type":"url","url":"https://example.com/a.png"}}"#,
        r#"{"type":"data","source":{"type":"base64","media_type":"audio/wav","data":"UklGRg=="},"id":"d"}"#,
        r#"{"type":"thinking","thinking":"hm"}"#,
    ]);
    (kind, call(), state, data).prop_map(|(kind, call, state, data)| {
        let more = match kind {
            "TOOL_RESULT_TEXT_DELTA" => r#","delta":"x""#.to_owned(),
            "TOOL_RESULT_DATA_DELTA" => format!(r#","data":{data}"#),
            "TOOL_RESULT_END" => format!(r#","state":"{state}""#),
            _ => String::new(),
        };
        (kind, format!(r#","replyId":"t","toolCallId":"{call}","toolCallName":"look"{more}"#))
    })
}

fn tool_use(id: &str) -> String {
    format!(r#"{{"type":"tool_use","id":"{id}","name":"look","input":{{"x":1}},"content":"{{}}"}}"#)
}

fn tool_result(id: &str, state: &str) -> String {
    let output = r#"[{"type":"text","text":"seen"}]"#;
    format!(r#"{{"type":"tool_result","id":"{id}","name":"look","output":{output},"state":"{state}"}}"#)
}

fn list_event() -> impl Strategy<Value = (&'static str, String)> {
    let kind = select(vec![
        "REQUIRE_USER_CONFIRM",
        "REQUIRE_EXTERNAL_EXECUTION",
        "USER_CONFIRM_RESULT",
        "EXTERNAL_EXECUTION_RESULT",
        "ALL_TOOLS_DENIED",
    ]);
    (kind, prop::collection::vec(call(), 0..3), any::<bool>()).prop_map(|(kind, calls, confirmed)| {
        let item = |id: &&str| match kind {
            "USER_CONFIRM_RESULT" => format!(r#"{{"confirmed":{confirmed},"toolCall":{}}}"#, tool_use(id)),
            "EXTERNAL_EXECUTION_RESULT" => tool_result(id, "success"),
            _ => tool_use(id),
        };
        let name = match kind {
            "USER_CONFIRM_RESULT" => "confirmResults",
            "EXTERNAL_EXECUTION_RESULT" => "toolResults",
            "ALL_TOOLS_DENIED" => "deniedToolCalls",
            _ => "toolCalls",
        };
        let items: Vec<String> = calls.iter().map(item).collect();
        (kind, format!(r#","replyId":"t","{name}":[{}]"#, items.join(",")))
    })
}

fn agent_result() -> impl Strategy<Value = (&'static str, String)> {
    let content = prop_oneof![
        Just(r#"{"type":"text","text":"QUJD"}"#.to_owned()),
        call().prop_map(tool_use),
        (call(), select(vec!["running", "success"])).prop_map(|(id, state)| tool_result(id, state)),
    ];
    let reason = select(vec!["", "PERMISSION_ASKING", "TOOL_SUSPENDED", "MODEL_STOP", "MIDDLEWARE_STOP_REQUESTED"]);
    (prop::collection::vec(content, 0..3), reason, any::<bool>()).prop_map(|(content, reason, has_usage)| {
        let metadata = match reason {
            "" => String::new(),
            reason => format!(r#""agentscope_generate_reason":"{reason}""#),
        };
        let usage = if has_usage { r#"{"inputTokens":3,"outputTokens":2}"# } else { "null" };
        let content = content.join(",");
        let result =
            format!(r#"{{"role":"ASSISTANT","content":[{content}],"metadata":{{{metadata}}},"usage":{usage}}}"#);
        ("AGENT_RESULT", format!(r#","result":{result}"#))
    })
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn events_in_any_order_give_a_valid_stream(steps in prop::collection::vec(step(), 0..50)) {
        let mut resumed = ResumingStream::default();
        for (number, step) in steps.iter().enumerate() {
            match step {
                Step::Event(kind, fields) => {
                    let time = format!("2026-01-01T00:00:00.{number:03}Z");
                    resumed.push(&format!(r#"{{"type":"{kind}","id":"e{number}","createdAt":"{time}"{fields}}}"#));
                }
                Step::UserTurn => resumed.user_turn(),
            }
        }
        let waiting = resumed.stream.agents.iter().filter(|agent| agent.reply.as_ref().is_some_and(|reply| reply.waits));
        let waiting = waiting.count();
        let events = resumed.finish();
        prop_assert_eq!(errors(&events), [], "{:#?}", summarize(&events));
        let open = folded(&events).iter().filter(|message| message.finished_at().is_none()).count();
        prop_assert_eq!(open, waiting);
    }
}
