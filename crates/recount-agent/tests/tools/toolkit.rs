use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use pretty_assertions::assert_eq;
use recount_agent::tool::{
    CompiledTool, FunctionTool, NoArguments, ToolGroup, ToolSource, ToolSpec, Toolkit, ToolkitError, arguments,
};
use recount_message::Json;

use super::support::{run, text};

fn tool(name: &str, description: &str) -> FunctionTool<NoArguments> {
    FunctionTool::new(name, description, |_: NoArguments| async { Ok("ok") })
}

fn none() -> BTreeSet<String> {
    BTreeSet::new()
}

#[track_caller]
fn rejected(toolkit: Result<Toolkit, ToolkitError>, expected: &str) {
    assert_eq!(toolkit.unwrap_err().to_string(), expected);
}

#[test]
fn toolkit_rejects_duplicate_and_invalid_names() {
    let toolkit = || Toolkit::new().with(tool("clock", "Returns the time.")).unwrap();
    rejected(
        toolkit().with(tool("clock", "Sets an alarm.")),
        r#"duplicate tool `clock`: "Returns the time." and "Sets an alarm.""#,
    );
    rejected(
        toolkit().with(tool("GenerateStructuredOutput", "")),
        "the tool name `GenerateStructuredOutput` is reserved",
    );
    for name in ["", "with space", "größe", "a.b", &"x".repeat(65)] {
        let expected = format!("invalid tool name `{name}`: expected 1 to 64 letters, digits, `_` or `-`");
        rejected(toolkit().with(tool(name, "")), &expected);
    }
    assert!(toolkit().with(tool(&"x".repeat(64), "")).is_ok());
}

#[test]
fn toolkit_rejects_invalid_schema() {
    let with = |schema: &str| {
        let spec = ToolSpec::new("lookup", "").parameters(Json::parse(schema).unwrap());
        Toolkit::new().with(FunctionTool::dynamic(spec, |_, _| async { Ok(()) }))
    };
    rejected(
        with(r#"{"type":"object","properties":{"a":{"type":"text"}}}"#),
        "invalid schema of tool `lookup`: unknown type \"text\" (at $.properties.a.type)",
    );
    // References to files and addresses are not followed.
    let error = with(r#"{"$ref":"http://127.0.0.1:1/schema.json"}"#).unwrap_err().to_string();
    assert!(error.starts_with("invalid schema of tool `lookup`"), "{error}");
    let error = with(r#"{"$ref":"file:///etc/hostname"}"#).unwrap_err().to_string();
    assert!(error.starts_with("invalid schema of tool `lookup`"), "{error}");
    let spec = ToolSpec::new("lookup", "").metadata_schema(Json::from("x"));
    assert!(Toolkit::new().with(FunctionTool::dynamic_external(spec)).is_err());
}

#[test]
fn unknown_tool_error_lists_available_tools() {
    let toolkit = Toolkit::new().with(tool("clock", "")).unwrap().with(tool("alarm", "")).unwrap();
    assert_eq!(toolkit.find("clock", &none()).unwrap().spec().name, "clock");
    let unknown = toolkit.find("nope", &none()).unwrap_err();
    assert_eq!(unknown.to_string(), "unknown tool `nope`; available tools: `clock`, `alarm`");
    assert_eq!(Toolkit::new().find("nope", &none()).unwrap_err().to_string(), "unknown tool `nope`");
}

fn browser() -> Toolkit {
    let browser = ToolGroup::new("browser", "Looks at web pages.").instructions("Open a page before you click.");
    let toolkit = Toolkit::new().with_group(browser).unwrap();
    let toolkit = toolkit.with_group(ToolGroup::new("files", "Reads files.").active()).unwrap();
    toolkit.with(tool("open", "").group("browser")).unwrap().with(tool("read", "").group("files")).unwrap()
}

#[test]
fn only_tools_of_active_groups_are_available() {
    let toolkit = browser();
    let active = toolkit.initially_active();
    assert_eq!(active, BTreeSet::from(["files".to_owned()]));
    assert_eq!(
        toolkit.find("open", &active).unwrap_err().to_string(),
        "the tool `open` is in the group `browser`, which is not active: activate it with `reset_tools` first"
    );
    let names = |active: &BTreeSet<String>| -> Vec<String> {
        toolkit.definitions(active).iter().map(|tool| tool.name().to_owned()).collect()
    };
    assert_eq!(names(&active), ["read", "reset_tools"]);
    assert_eq!(names(&none()), ["reset_tools"]);
    let both = BTreeSet::from(["files".to_owned(), "browser".to_owned()]);
    assert_eq!(names(&both), ["open", "read", "reset_tools"]);
    assert_eq!(toolkit.instructions(&active), [""; 0]);
    assert_eq!(toolkit.instructions(&both), ["Open a page before you click."]);
}

#[tokio::test]
async fn reset_tools_sets_active_groups() {
    let reset = browser().find("reset_tools", &none()).unwrap();
    assert!(reset.spec().read_only);
    let schema = concat!(
        r#"{"type":"object","properties":{"browser":{"type":"boolean","description":"Looks at web pages.","default":false},"#,
        r#""files":{"type":"boolean","description":"Reads files.","default":false}},"additionalProperties":false}"#
    );
    assert_eq!(reset.spec().parameters.as_raw(), schema);

    let parsed = arguments::parse(r#"{"browser": "true"}"#, &reset).unwrap();
    let output = run(&*reset, &parsed.object.to_json()).await.unwrap();
    assert_eq!(text(&output), "active tool groups: `browser`\n\n# browser\nOpen a page before you click.");
    assert_eq!(output.active_groups, Some(BTreeSet::from(["browser".to_owned()])));
    let output = run(&*reset, "{}").await.unwrap();
    assert_eq!(text(&output), "no tool groups are active");
    assert_eq!(output.active_groups, Some(none()));
    let error = arguments::parse(r#"{"network": true}"#, &reset).unwrap_err().to_string();
    assert!(error.contains("network"), "{error}");
}

#[test]
fn toolkit_rejects_unknown_and_duplicate_groups() {
    rejected(
        Toolkit::new().with(tool("open", "").group("browser")),
        "unknown group `browser` of tool `open`: add the group first",
    );
    rejected(browser().with_group(ToolGroup::new("files", "")), "duplicate tool group `files`");
    rejected(browser().with(tool("reset_tools", "")), "the tool name `reset_tools` is reserved");
    let own = Toolkit::new().with(tool("reset_tools", "")).unwrap();
    rejected(own.with_group(ToolGroup::new("files", "")), "the tool name `reset_tools` is reserved");
}

struct Server(&'static str, Mutex<Arc<[CompiledTool]>>);

impl ToolSource for Server {
    fn name(&self) -> &str {
        self.0
    }

    fn tools(&self) -> Arc<[CompiledTool]> {
        self.1.lock().unwrap().clone()
    }
}

fn server(name: &'static str) -> Arc<Server> {
    Arc::new(Server(name, Mutex::new(Arc::new([]))))
}

#[test]
fn source_tools_can_change() {
    let server = server("files");
    let toolkit = Toolkit::new().with_source(server.clone()).unwrap();
    assert!(toolkit.find("files__read", &none()).is_err());
    *server.1.lock().unwrap() = Arc::new([CompiledTool::new(tool("files__read", "")).unwrap()]);
    assert!(toolkit.find("files__read", &none()).is_ok());
    assert_eq!(toolkit.definitions(&none()).len(), 1);
}

#[test]
fn toolkit_rejects_conflicting_source_names() {
    let toolkit = || Toolkit::new().with_source(server("files")).unwrap();
    rejected(toolkit().with(tool("files__read", "")), "the tool name `files__read` is reserved for the source `files`");
    let own = Toolkit::new().with(tool("files__read", "")).unwrap();
    rejected(own.with_source(server("files")), "the tool name `files__read` is reserved for the source `files`");
    rejected(
        toolkit().with_source(server("files")),
        "conflicting tool sources: another source can also have tools that begin with `files__`",
    );
    rejected(
        toolkit().with_source(server("files__old")),
        "conflicting tool sources: another source can also have tools that begin with `files__old__`",
    );
    assert!(toolkit().with_source(server("files2")).is_ok());
}
