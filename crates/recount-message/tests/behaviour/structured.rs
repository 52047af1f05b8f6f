//! Structured data of a message.

use pretty_assertions::assert_eq;
use recount_message::{Json, Msg, Object, StructuredError};
use serde::Deserialize;

#[derive(Debug, PartialEq, Deserialize)]
struct TaskPlan {
    goal: String,
    steps: Vec<String>,
    #[serde(default)]
    estimated_hours: u32,
}

fn plan(goal: &str) -> Object {
    Object::parse(&format!(r#"{{"goal":"{goal}","steps":["boil","pour"],"estimated_hours":1}}"#)).unwrap()
}

fn goal(message: &Msg) -> String {
    message.structured::<TaskPlan>().unwrap().goal
}

#[test]
fn structured_data_is_read_as_a_rust_type() {
    let message = Msg::assistant("Planner", "Here is the plan.").with_structured_output(plan("tea"));
    let expected =
        TaskPlan { goal: "tea".to_owned(), steps: vec!["boil".to_owned(), "pour".to_owned()], estimated_hours: 1 };
    assert_eq!(message.structured::<TaskPlan>().unwrap(), expected);
}

#[test]
fn structured_output_comes_before_javas_key_and_that_before_the_metadata() {
    let mut metadata = plan("metadata");
    let only_metadata = Msg::assistant("Planner", "").with_metadata(metadata.clone());
    assert_eq!(goal(&only_metadata), "metadata");

    metadata.insert("_structured_output", plan("java"));
    let with_java = only_metadata.with_metadata(metadata);
    assert_eq!(goal(&with_java), "java");

    assert_eq!(goal(&with_java.with_structured_output(plan("native"))), "native");
}

#[test]
fn a_message_with_metadata_has_structured_data() {
    let message = Msg::assistant("Assistant", "Task completed").with_metadata([
        ("task_id", Json::from("12345")),
        ("priority", Json::from(3)),
        ("tags", Json::from(["important", "urgent"])),
    ]);
    assert!(message.has_structured());
    assert_eq!(message.structured::<Object>().unwrap(), *message.metadata());
}

#[test]
fn a_message_without_metadata_has_no_structured_data() {
    let message = Msg::assistant("Assistant", "Hello").with_id("m1");
    assert!(!message.has_structured());
    let error = message.structured::<Object>().unwrap_err();
    assert!(matches!(&error, StructuredError::Missing { id } if id == "m1"));
    assert_eq!(error.to_string(), r#"the message "m1" has no structured data"#);
}

#[test]
fn framework_metadata_is_not_structured_data() {
    let unnamed = Msg::builder().text_content("Hello").build().unwrap();
    assert!(!unnamed.metadata().is_empty() && !unnamed.has_structured());
    let stopped = Msg::assistant("Friday", "").with_generate_reason(recount_message::GenerateReason::ModelStop);
    assert!(!stopped.has_structured());
}

#[test]
fn structured_data_error_names_path() {
    let message = Msg::assistant("Planner", "")
        .with_structured_output(Object::parse(r#"{"goal":"tea","steps":["boil",2]}"#).unwrap());
    let error = message.structured::<TaskPlan>().unwrap_err();
    assert!(error.to_string().starts_with("`steps[1]`: invalid type: integer `2`, expected a string"), "{error}");
}
