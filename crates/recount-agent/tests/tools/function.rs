use std::error::Error;

use pretty_assertions::assert_eq;
use recount_agent::permission::{PermissionContext, ToolPermission};
use recount_agent::tool::{CompiledTool, FunctionTool, NoArguments, Tool, ToolError, ToolEvent, ToolOutput, arguments};
use recount_message::{DataBlock, Json, MediaBlock, Object, ToolResultState};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::support::{context, run, text};

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
struct Weather {
    /// The city.
    city: String,
    /// The number of days.
    days: Option<u8>,
}

#[tokio::test]
async fn function_tool_has_schema_of_argument_type() {
    let tool = FunctionTool::new("get_weather", "Returns the weather.", |weather: Weather| async move {
        Ok(format!("Sunny in {}", weather.city))
    });
    assert_eq!(text(&run(&tool, r#"{"city":"Paris"}"#).await.unwrap()), "Sunny in Paris");
    let expected = concat!(
        r#"{"type":"function","function":{"name":"get_weather","description":"Returns the weather.","#,
        r#""parameters":{"properties":{"city":{"description":"The city.","type":"string"},"#,
        r#""days":{"description":"The number of days.","format":"uint8","maximum":255,"minimum":0,"type":["integer","null"]}},"#,
        r#""required":["city"],"type":"object"}}}"#
    );
    assert_eq!(CompiledTool::new(tool).unwrap().definition().to_value().as_raw(), expected);
}

async fn parsed(weather: Weather) -> Result<Vec<u32>, ToolError> {
    let days: u32 = weather.city.parse()?;
    Ok(vec![days, u32::from(weather.days.ok_or("say how many days")?)])
}

#[tokio::test]
async fn return_values_and_errors_are_converted() {
    let tool = FunctionTool::new("parsed", "", parsed);
    assert_eq!(text(&run(&tool, r#"{"city":"3","days":4}"#).await.unwrap()), "[3,4]");
    assert_eq!(run(&tool, r#"{"city":"3"}"#).await.unwrap_err().to_string(), "say how many days");
    assert_eq!(run(&tool, r#"{"city":"x"}"#).await.unwrap_err().to_string(), "invalid digit found in string");

    let echo = FunctionTool::new("echo", "", |weather: Weather| async { Ok(weather) });
    assert_eq!(text(&run(&echo, r#"{"city":"Rome"}"#).await.unwrap()), r#"{"city":"Rome","days":null}"#);
    let nothing = FunctionTool::new("nothing", "", |_: NoArguments| async { Ok(()) });
    assert_eq!(text(&run(&nothing, "{}").await.unwrap()), "done");
    let failed = FunctionTool::new("failed", "", |_: NoArguments| async { Ok(ToolOutput::failed("no")) });
    assert_eq!(run(&failed, "{}").await.unwrap().state(), ToolResultState::Error);
}

#[tokio::test]
async fn output_contains_images() {
    let image = FunctionTool::new("image", "", |_: NoArguments| async {
        Ok(ToolOutput::new(("a chart:", DataBlock::from_bytes(b"GIF89a"))))
    });
    let output = run(&image, "{}").await.unwrap();
    assert!(matches!(output.content.blocks(), [_, MediaBlock::Data(data)] if data.media_type() == "image/gif"));
}

#[derive(Debug)]
struct Outer(std::num::ParseIntError);

impl std::fmt::Display for Outer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("invalid port")
    }
}

impl Error for Outer {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.0)
    }
}

#[test]
fn tool_error_includes_sources() {
    let error = ToolError::from(Outer("x".parse::<u8>().unwrap_err()));
    assert_eq!(error.to_string(), "invalid port: invalid digit found in string");
    let boxed: Box<dyn Error + Send + Sync> = "no such city".into();
    assert_eq!(ToolError::from(boxed).to_string(), "no such city");
}

#[tokio::test]
async fn context_sends_events_in_order() {
    let tool = FunctionTool::with_context("build", "", |_: NoArguments, context| async move {
        context.write_text("compiling\n").await;
        context.signal("progress", [("percent", 50)]).await;
        context.request_stop("the disk is full").await;
        Ok(format!("{} {} {}", context.session_id(), context.call_id(), context.agent()))
    });
    let (context, mut receiver) = context();
    let output = tool.run(Object::new(), &context).await.unwrap();
    assert_eq!(text(&output), "s1 c1 Friday");
    drop(context);
    let mut events = Vec::new();
    while let Some((call, event)) = receiver.recv().await {
        assert_eq!(call, "c1");
        events.push(event);
    }
    let progress = ToolEvent::Signal { name: "progress".into(), value: Object::from([("percent", 50)]) };
    assert_eq!(
        events,
        [ToolEvent::Text("compiling\n".into()), progress, ToolEvent::Stop { reason: "the disk is full".into() }]
    );
}

#[test]
fn deserialization_errors_are_found_by_parse() {
    #[derive(Deserialize, JsonSchema)]
    #[serde(try_from = "u8")]
    struct Even;

    impl TryFrom<u8> for Even {
        type Error = String;

        fn try_from(number: u8) -> Result<Self, String> {
            if number.is_multiple_of(2) { Ok(Self) } else { Err(format!("{number} is odd")) }
        }
    }

    #[derive(Deserialize, JsonSchema)]
    struct Pair {
        #[schemars(with = "u8")]
        #[allow(dead_code, reason = "only its deserialization is tested")]
        number: Even,
    }
    let tool = FunctionTool::new("pair", "", |_: Pair| async { Ok(()) });
    let tool = CompiledTool::new(tool).unwrap();
    assert!(arguments::parse(r#"{"number": 4}"#, &tool).is_ok());
    let error = arguments::parse(r#"{"number": 3}"#, &tool).unwrap_err();
    assert_eq!(error.to_string(), "invalid arguments for `pair`: `number`: 3 is odd at line 1 column 12");
}

#[tokio::test]
async fn whole_float_is_accepted_as_integer() {
    let tool = FunctionTool::new("echo", "", |weather: Weather| async { Ok(weather) });
    let tool = CompiledTool::new(tool).unwrap();
    let parsed = arguments::parse(r#"{"city": "Rome", "days": 3.0}"#, &tool).unwrap();
    assert!(!parsed.is_repaired());
    assert_eq!(text(&run(&*tool, &parsed.object.to_json()).await.unwrap()), r#"{"city":"Rome","days":3}"#);
}

#[tokio::test]
async fn tool_permission_depends_on_arguments() {
    let tool = FunctionTool::new("order", "", |_: Weather| async { Ok(()) }).permission(|weather| {
        if weather.city == "Paris" { ToolPermission::Allow } else { ToolPermission::Deny("too far".into()) }
    });
    let context = PermissionContext::default();
    let paris = Object::from([("city", "Paris")]);
    assert_eq!(tool.check_permission(&paris, &context).await, ToolPermission::Allow);
    let rome = Object::from([("city", "Rome")]);
    assert_eq!(tool.check_permission(&rome, &context).await, ToolPermission::Deny("too far".into()));
    let without = FunctionTool::new("order", "", |_: Weather| async { Ok(()) });
    assert_eq!(without.check_permission(&rome, &context).await, ToolPermission::Passthrough);
}

#[tokio::test]
async fn external_tool_rejects_run() {
    let schema = Json::parse(r#"{"type":"object","required":["exit"]}"#).unwrap();
    let tool = FunctionTool::<Weather>::external("ask", "Asks.").metadata_schema(schema);
    assert!(tool.spec().external);
    assert_eq!(
        run(&tool, r#"{"city":"x"}"#).await.unwrap_err().to_string(),
        "the external tool `ask` cannot run in the agent"
    );
    let tool = CompiledTool::new(tool).unwrap();
    assert!(tool.validate_metadata(&Object::from([("exit", 0)])).is_ok());
    let violations = tool.validate_metadata(&Object::new()).unwrap_err();
    assert_eq!(violations.to_string(), "\"exit\" is a required property (at $)");
}
