use pretty_assertions::assert_eq;
use recount_agent::tool::{CompiledTool, StructuredOutput, Tool, ToolError, arguments};
use recount_message::{Json, Object};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::support::{run, text};

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(try_from = "Unchecked")]
#[schemars(with = "Unchecked")]
struct Weather {
    city: String,
    temp: i8,
}

#[derive(Deserialize, JsonSchema)]
struct Unchecked {
    city: String,
    #[schemars(range(min = -60, max = 60))]
    temp: i8,
    #[serde(default = "celsius")]
    unit: String,
}

fn celsius() -> String {
    "C".to_owned()
}

/// A constraint that a schema cannot express.
impl TryFrom<Unchecked> for Weather {
    type Error = String;

    fn try_from(weather: Unchecked) -> Result<Self, String> {
        match weather.unit.as_str() {
            "C" => Ok(Self { city: weather.city, temp: weather.temp }),
            other => Err(format!("unknown unit {other}")),
        }
    }
}

#[track_caller]
fn rejected(tool: &CompiledTool, input: &str, expected: &str) {
    let error = arguments::parse(input, tool).unwrap_err().to_string();
    assert_eq!(error, format!("invalid arguments for `GenerateStructuredOutput`: {expected}"));
}

#[tokio::test]
async fn output_is_validated_by_schema_and_type() {
    let output = StructuredOutput::of::<Weather>();
    let tool = CompiledTool::new(output.clone()).unwrap();
    rejected(&tool, r#"{"city":"Paris"}"#, "\"temp\" is a required property (at $)");
    rejected(&tool, r#"{"city":"Paris","temp":99}"#, "99 is greater than the maximum of 60 (at $.temp)");
    rejected(&tool, r#"{"city":"Paris","temp":20,"unit":"K"}"#, "unknown unit K");

    let parsed = arguments::parse(r#"{"city":"Paris","temp":"20"}"#, &tool).unwrap();
    assert!(parsed.is_repaired());
    assert_eq!(text(&run(&*tool, "{}").await.unwrap()), "Structured output generated successfully.");
    let answer = output.complete(&parsed.object);
    assert_eq!(answer.to_json(), r#"{"city":"Paris","temp":20,"unit":"C"}"#);
    let weather = StructuredOutput::decode::<Weather>(&answer).unwrap();
    assert_eq!(weather, Weather { city: "Paris".into(), temp: 20 });
    assert!(tool.spec().read_only && tool.spec().concurrency_safe);
}

#[test]
fn type_is_validated_again_after_reload() {
    let saved = StructuredOutput::of::<Weather>().schema().to_string();
    let invalid = r#"{"city":"Paris","temp":20,"unit":"K"}"#;
    // The schema alone does not contain the constraint.
    let from_schema = StructuredOutput::from_schema(Json::parse(&saved).unwrap());
    assert!(arguments::parse(invalid, &CompiledTool::new(from_schema.clone()).unwrap()).is_ok());
    assert_eq!(from_schema.complete(&Object::from([("city", "Rome")])).to_json(), r#"{"city":"Rome","unit":"C"}"#);

    let again = StructuredOutput::of::<Weather>();
    assert_eq!(again.schema().to_string(), saved);
    rejected(&CompiledTool::new(again).unwrap(), invalid, "unknown unit K");
    let checked = from_schema.with_validator(|output| match output.get("unit").and_then(Json::as_str) {
        Some("C") => Ok(()),
        _ => Err(ToolError::new("use degrees Celsius")),
    });
    rejected(&CompiledTool::new(checked).unwrap(), invalid, "use degrees Celsius");
}

#[test]
fn non_object_output_is_wrapped() {
    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    enum Mood {
        Good,
        Bad,
    }
    let tool = StructuredOutput::of::<Vec<Mood>>();
    let parsed = arguments::parse(r#"{"output": ["good", "bad"]}"#, &CompiledTool::new(tool.clone()).unwrap()).unwrap();
    let moods = StructuredOutput::decode::<Vec<Mood>>(&tool.complete(&parsed.object)).unwrap();
    assert_eq!(moods, [Mood::Good, Mood::Bad]);
}

#[test]
fn nested_defaults_are_applied() {
    let schema = r##"{"type":"object","properties":{
        "list":{"type":"array","items":{"$ref":"#/$defs/Node"}},"size":{"type":"integer","default":3}},
        "$defs":{"Node":{"type":"object","properties":{
            "name":{"type":"string"},"on":{"type":"boolean","default":true},"next":{"$ref":"#/$defs/Node"}}}}}"##;
    let output = StructuredOutput::from_schema(Json::parse(schema).unwrap());
    let answer =
        output.complete(&Object::parse(r#"{"list":[{"name":"a"},{"on":false,"next":{"name":"b"}}]}"#).unwrap());
    let expected = r#"{"list":[{"name":"a","on":true},{"on":false,"next":{"name":"b","on":true}}],"size":3}"#;
    assert_eq!(answer.to_json(), expected);
}

#[test]
fn recursive_type_has_schema() {
    #[derive(Serialize, Deserialize, JsonSchema)]
    struct Task {
        title: String,
        #[serde(default)]
        parts: Vec<Task>,
    }
    let output = StructuredOutput::of::<Task>();
    let tool = CompiledTool::new(output.clone()).unwrap();
    let parsed = arguments::parse(r#"{"title":"a","parts":[{"title":"b"}]}"#, &tool).unwrap();
    assert_eq!(output.complete(&parsed.object).to_json(), r#"{"title":"a","parts":[{"title":"b","parts":[]}]}"#);
    rejected(&tool, r#"{"title":"a","parts":[{"parts":[]}]}"#, "\"title\" is a required property (at $.parts[0])");
    let list = StructuredOutput::of::<Vec<Task>>();
    let tool = CompiledTool::new(list.clone()).unwrap();
    let parsed = arguments::parse(r#"{"output":[{"title":"a"}]}"#, &tool).unwrap();
    assert_eq!(list.complete(&parsed.object).to_json(), r#"{"output":[{"title":"a","parts":[]}]}"#);
    assert_eq!(list.spec().name, "GenerateStructuredOutput");
}
