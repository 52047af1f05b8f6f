//! The fields of a message.

use pretty_assertions::assert_eq;
use recount_message::{
    ContentBlock, ErrorInfo, ErrorType, FinishedReason, GenerateReason, Json, Msg, Object, Role, TextBlock,
    ToolCallState, ToolResultState, Usage, parse_time, parse_time_in,
};
use serde_json::json;

use crate::support::{at, event, fold, json};

#[test]
fn every_message_gets_an_id_of_its_own() {
    let (one, other) = (Msg::user("Alice", "Hello"), Msg::user("Alice", "Hello"));
    assert_eq!(one.id().len(), 32);
    assert_ne!(one.id(), other.id());
}

#[test]
fn a_message_names_its_sender() {
    assert_eq!(Msg::user("Alice", "Hello").name(), "Alice");
    assert!(Msg::user("Alice", "Hello").has_name());
}

#[test]
fn names_distinguish_participants() {
    let views = [Msg::assistant("AgentA", "View A"), Msg::assistant("AgentB", "View B")];
    let of_b: Vec<Option<String>> = views.iter().filter(|view| view.name() == "AgentB").map(Msg::text).collect();
    assert_eq!(of_b, [Some("View B".to_owned())]);
}

#[test]
fn a_message_may_have_no_name() {
    let message = Msg::builder().text_content("Hello").build().unwrap();
    assert_eq!((message.name(), message.has_name()), ("", false));

    let read = Msg::from_json(&message.to_json()).unwrap();
    assert_eq!(read, message);
    assert!(!read.has_name());
    assert!(read.with_name("Alice").has_name());
}

#[test]
fn an_empty_name_is_a_name() {
    assert!(Msg::user("", "Hello").has_name());
}

#[test]
fn builder_defaults_to_user_role() {
    assert_eq!(Msg::builder().text_content("Hello").build().unwrap().role(), Role::User);
}

#[test]
fn roles_are_lower_case_in_json() {
    for (message, role) in
        [(Msg::user("n", "t"), "user"), (Msg::assistant("n", "t"), "assistant"), (Msg::system("n", "t"), "system")]
    {
        assert_eq!(json(&message)["role"], role);
        assert_eq!(Msg::from_json(&message.to_json()).unwrap().role().as_str(), role);
    }
}

#[test]
fn there_are_four_roles() {
    for role in [Role::User, Role::Assistant, Role::System, Role::Tool] {
        assert_eq!(Role::from_name(role.as_str()), Some(role));
    }
    assert_eq!(Role::from_name("developer"), None);
}

#[test]
fn content_keeps_its_order() {
    let texts = ["one", "two", "three"];
    let message = Msg::assistant("Friday", ("one", "two", "three"));
    let read = Msg::from_json(&message.to_json()).unwrap();
    for message in [message, read] {
        let found: Vec<&str> = message.blocks::<TextBlock>().map(|block| block.text.as_str()).collect();
        assert_eq!(found, texts);
    }
}

#[test]
fn a_changed_copy_leaves_the_message_as_it_was() {
    let message = Msg::user("Alice", "Hello");
    let before = message.clone();
    let copy = message.to_builder().name("Bob").metadata_entry("edited", true).build().unwrap();
    assert_eq!(message, before);
    assert_eq!((copy.name(), copy.id(), copy.content()), ("Bob", message.id(), message.content()));
}

#[test]
fn metadata_holds_any_json() {
    let text = r#"{"task_id":"12345","priority":3,"tags":["important","urgent"],"nested":{"deep":[null,true,1.5]}}"#;
    let message = Msg::assistant("Friday", "Task completed").with_metadata(Object::parse(text).unwrap());
    let read = Msg::from_json(&message.to_json()).unwrap();
    assert_eq!(read.metadata().to_json(), text);
    assert_eq!(read.metadata().get("priority").unwrap().deserialize_as::<u8>().unwrap(), 3);
}

#[test]
fn numbers_in_metadata_keep_their_text() {
    let text = r#"{"a":25,"b":25.0,"c":1.0E-4,"d":123456789012345678901234567890,"e":-0}"#;
    let stored = format!(r#"{{"name":"n","role":"user","content":[],"id":"m","created_at":"","metadata":{text}}}"#);
    assert_eq!(Msg::from_json(&stored).unwrap().metadata().to_json(), text);
}

#[test]
fn metadata_values_keep_their_json_kind() {
    let metadata: Object =
        [("temperature", Json::from(25)), ("condition", "sunny".into()), ("tags", ["a", "b"].into())]
            .into_iter()
            .collect();
    let message = Msg::assistant("Friday", "").with_metadata(metadata);
    assert_eq!(json(&message)["metadata"], json!({"temperature": 25, "condition": "sunny", "tags": ["a", "b"]}));
}

#[test]
fn created_at_is_an_iso_time() {
    let message = Msg::user("Alice", "Hello");
    assert!(message.created_at().ends_with("+00:00"), "{}", message.created_at());
    assert_eq!(message.created(), parse_time(message.created_at()));
    assert!(message.created().is_some());
}

#[test]
fn time_text_is_preserved() {
    for text in ["2026-11-15T19:38:53.133908", "2024-01-15T10:30:00Z", "2026-11-15 19:38:53.133", "yesterday"] {
        let stored = format!(r#"{{"name":"n","role":"user","content":[],"id":"m","created_at":"{text}"}}"#);
        let message = Msg::from_json(&stored).unwrap();
        assert_eq!(message.created_at(), text);
        assert_eq!(json(&message)["created_at"], text);
    }
}

#[test]
fn java_times_are_parsed() {
    let moment = parse_time("2026-11-15T19:38:53.133+00:00");
    assert!(moment.is_some());
    for text in ["2026-11-15T19:38:53.133Z", "2026-11-15 19:38:53.133", "2026-11-16T03:38:53.133+08:00"] {
        assert_eq!(parse_time(text), moment, "{text}");
    }
}

#[test]
fn the_zone_of_a_time_without_one_is_an_argument() {
    let shanghai = jiff::tz::offset(8);
    assert_eq!(parse_time_in("2026-11-16 03:38:53.133", shanghai), parse_time("2026-11-15T19:38:53.133Z"));
    assert_eq!(parse_time_in("2026-11-15T19:38:53Z", shanghai), parse_time("2026-11-15T19:38:53Z"));
}

#[test]
fn finished_at_is_null_until_the_reply_ends() {
    let mut message = fold(&[]);
    assert_eq!((message.finished_at(), json(&message)["finished_at"].is_null()), (None, true));
    let _ = message.append_event(&event(7, r#"REPLY_END "session_id":"s""#));
    assert_eq!(message.finished_at(), Some(at(7).as_str()));
    assert_eq!(message.finished(), parse_time(&at(7)));
}

#[test]
fn only_an_assistants_message_is_open_when_it_is_made() {
    assert_eq!(Msg::assistant("Friday", "Hello").finished_at(), None);
    for message in [Msg::user("n", "t"), Msg::system("n", "t"), Msg::tool("n", [])] {
        assert_eq!(message.finished_at(), Some(message.created_at()));
    }
}

#[test]
fn usage_is_summed_over_the_model_calls_of_a_reply() {
    let call = r#"MODEL_CALL_START "model_name":"m""#;
    assert_eq!(fold(&[call]).usage(), None);
    let message = fold(&[
        call,
        r#"MODEL_CALL_END "input_tokens":100,"output_tokens":20,"cache_input_tokens":60"#,
        call,
        r#"MODEL_CALL_END "input_tokens":150,"output_tokens":30,"cache_creation_input_tokens":7"#,
    ]);
    let expected = Usage::new(250, 50).with_cache_input_tokens(60).with_cache_creation_input_tokens(7);
    assert_eq!(message.usage(), Some(&expected));
    assert_eq!(message.usage().unwrap().total(), 300);
}

#[test]
fn the_generate_reason_is_model_stop_unless_stated() {
    assert_eq!(Msg::assistant("Friday", "Hello").generate_reason(), GenerateReason::ModelStop);
    let odd = Msg::assistant("Friday", "").with_metadata([("agentscope_generate_reason", "no such reason")]);
    assert_eq!(odd.generate_reason(), GenerateReason::ModelStop);
}

#[test]
fn every_generate_reason_can_be_stated_and_stored() {
    for &reason in GenerateReason::ALL {
        let message = Msg::builder().role(Role::Assistant).generate_reason(reason).build().unwrap();
        assert_eq!(Msg::from_json(&message.to_json()).unwrap().generate_reason(), reason);
    }
}

#[test]
fn the_generate_reason_follows_from_the_end_of_the_reply() {
    for (end, expected) in [
        ("completed", GenerateReason::ModelStop),
        ("interrupted", GenerateReason::Interrupted),
        ("exceed_max_iters", GenerateReason::MaxIterations),
    ] {
        let message = fold(&[&format!(r#"REPLY_END "session_id":"s","finished_reason":"{end}""#)]);
        assert_eq!(message.generate_reason(), expected, "{end}");
    }
}

#[test]
fn roles_states_and_reasons_print_their_names() {
    assert_eq!(Role::Assistant.to_string(), "assistant");
    assert_eq!(ToolResultState::Success.to_string(), "success");
    assert_eq!(ToolCallState::Asking.to_string(), "asking");
    assert_eq!(FinishedReason::ExceedMaxIters.to_string(), "exceed_max_iters");
    assert_eq!(GenerateReason::ModelStop.to_string(), "MODEL_STOP");
    assert_eq!(format!("[{:>10}]", Role::User), "[      user]");
}

#[test]
fn every_field_can_be_read() {
    let message = Msg::builder()
        .id("m1")
        .name("Friday")
        .role(Role::Assistant)
        .block(TextBlock::new("Hello").with_id("t1"))
        .metadata([("priority", 3)])
        .created_at(at(1))
        .finished_at(at(2))
        .usage(Usage::new(10, 2))
        .finished_reason(FinishedReason::Error)
        .structured_output([("goal", "tea")])
        .error(ErrorInfo::new(ErrorType::Upstream, "the kettle is broken"))
        .build()
        .unwrap();
    assert_eq!((message.id(), message.name(), message.role()), ("m1", "Friday", Role::Assistant));
    assert_eq!(message.content().iter().map(ContentBlock::id).collect::<Vec<_>>(), ["t1"]);
    assert_eq!(message.metadata(), &Object::from([("priority", 3)]));
    assert_eq!((message.created_at(), message.finished_at()), (at(1).as_str(), Some(at(2).as_str())));
    assert_eq!(message.usage(), Some(&Usage::new(10, 2)));
    assert_eq!(message.finished_reason(), Some(FinishedReason::Error));
    assert_eq!(message.structured_output(), Some(&Object::from([("goal", "tea")])));
    assert_eq!(message.error().map(|error| error.message.as_str()), Some("the kettle is broken"));
}

#[test]
fn the_reason_survives_metadata_that_is_set_later() {
    let message = Msg::builder()
        .role(Role::Assistant)
        .generate_reason(GenerateReason::ToolSuspended)
        .metadata([("a", 1)])
        .build()
        .unwrap();
    assert_eq!(message.generate_reason(), GenerateReason::ToolSuspended);
}

#[test]
fn an_extra_cannot_replace_a_declared_field() {
    let mut block = recount_message::ThinkingBlock::new("a").with_extra("thinking", "b");
    let message = Msg::assistant("Friday", block.clone());
    assert_eq!(Msg::from_json(&message.to_json()).unwrap(), message);

    block.extra.insert("thinking", "b");
    let message = Msg::assistant("Friday", block);
    assert_eq!(
        Msg::from_json(&message.to_json()).unwrap().first::<recount_message::ThinkingBlock>().unwrap().thinking,
        "a"
    );
}
