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
fn refused(toolkit: Result<Toolkit, ToolkitError>, expected: &str) {
    assert_eq!(toolkit.unwrap_err().to_string(), expected);
}

#[test]
fn names_are_unique_and_fit_for_every_provider() {
    let toolkit = || Toolkit::new().with(tool("clock", "Tells the time.")).unwrap();
    refused(
        toolkit().with(tool("clock", "Sets an alarm.")),
        r#"two tools are called `clock`: "Tells the time." and "Sets an alarm.""#,
    );
    refused(
        toolkit().with(tool("GenerateStructuredOutput", "")),
        "the agent has a tool of its own that is called `GenerateStructuredOutput`",
    );
    for name in ["", "with space", "größe", "a.b", &"x".repeat(65)] {
        let expected = format!("`{name}` cannot be a tool's name: it must be 1 to 64 letters, digits, `_` or `-`");
        refused(toolkit().with(tool(name, "")), &expected);
    }
    assert!(toolkit().with(tool(&"x".repeat(64), "")).is_ok());
}

#[test]
fn a_schema_that_is_none_is_found_when_the_tool_is_added() {
    let with = |schema: &str| {
        let spec = ToolSpec::new("lookup", "").parameters(Json::parse(schema).unwrap());
        Toolkit::new().with(FunctionTool::dynamic(spec, |_, _| async { Ok(()) }))
    };
    refused(
        with(r#"{"type":"object","properties":{"a":{"type":"text"}}}"#),
        "the tool `lookup` has a schema that cannot be used: unknown type \"text\" (at $.properties.a.type)",
    );
    // Nothing is fetched for a schema.
    let error = with(r#"{"$ref":"http://127.0.0.1:1/schema.json"}"#).unwrap_err().to_string();
    assert!(error.starts_with("the tool `lookup` has a schema that cannot be used"), "{error}");
    let error = with(r#"{"$ref":"file:///etc/hostname"}"#).unwrap_err().to_string();
    assert!(error.starts_with("the tool `lookup` has a schema that cannot be used"), "{error}");
    let spec = ToolSpec::new("lookup", "").metadata_schema(Json::from("x"));
    assert!(Toolkit::new().with(FunctionTool::dynamic_external(spec)).is_err());
}

#[test]
fn a_tool_that_is_not_there_is_told_with_those_that_are() {
    let toolkit = Toolkit::new().with(tool("clock", "")).unwrap().with(tool("alarm", "")).unwrap();
    assert_eq!(toolkit.find("clock", &none()).unwrap().spec().name, "clock");
    let unknown = toolkit.find("nope", &none()).unwrap_err();
    assert_eq!(unknown.to_string(), "there is no tool `nope`, only `clock`, `alarm`");
    assert_eq!(Toolkit::new().find("nope", &none()).unwrap_err().to_string(), "there is no tool `nope`");
}

fn browser() -> Toolkit {
    let browser = ToolGroup::new("browser", "Looks at web pages.").instructions("Open a page before you click.");
    let toolkit = Toolkit::new().with_group(browser).unwrap();
    let toolkit = toolkit.with_group(ToolGroup::new("files", "Reads files.").active()).unwrap();
    toolkit.with(tool("open", "").group("browser")).unwrap().with(tool("read", "").group("files")).unwrap()
}

#[test]
fn groups_are_switched() {
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
async fn a_model_says_which_groups_it_needs() {
    let reset = browser().find("reset_tools", &none()).unwrap();
    assert!(reset.spec().read_only);
    let schema = concat!(
        r#"{"type":"object","properties":{"browser":{"type":"boolean","description":"Looks at web pages.","default":false},"#,
        r#""files":{"type":"boolean","description":"Reads files.","default":false}},"additionalProperties":false}"#
    );
    assert_eq!(reset.spec().parameters.as_raw(), schema);

    let read = arguments::parse(r#"{"browser": "true"}"#, &reset).unwrap();
    let output = run(&*reset, &read.object.to_json()).await.unwrap();
    assert_eq!(text(&output), "active groups of tools: `browser`\n\n# browser\nOpen a page before you click.");
    assert_eq!(output.active_groups, Some(BTreeSet::from(["browser".to_owned()])));
    let output = run(&*reset, "{}").await.unwrap();
    assert_eq!(text(&output), "no group of tools is active now");
    assert_eq!(output.active_groups, Some(none()));
    let error = arguments::parse(r#"{"network": true}"#, &reset).unwrap_err().to_string();
    assert!(error.contains("network"), "{error}");
}

#[test]
fn groups_have_to_be_there_once() {
    refused(
        Toolkit::new().with(tool("open", "").group("browser")),
        "the tool `open` is in the group `browser`, which the toolkit does not have: add the group first",
    );
    refused(browser().with_group(ToolGroup::new("files", "")), "two groups of tools are called `files`");
    refused(browser().with(tool("reset_tools", "")), "the agent has a tool of its own that is called `reset_tools`");
    let own = Toolkit::new().with(tool("reset_tools", "")).unwrap();
    refused(
        own.with_group(ToolGroup::new("files", "")),
        "the agent has a tool of its own that is called `reset_tools`",
    );
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
fn the_tools_of_a_source_may_change() {
    let server = server("files");
    let toolkit = Toolkit::new().with_source(server.clone()).unwrap();
    assert!(toolkit.find("files__read", &none()).is_err());
    *server.1.lock().unwrap() = Arc::new([CompiledTool::new(tool("files__read", "")).unwrap()]);
    assert!(toolkit.find("files__read", &none()).is_ok());
    assert_eq!(toolkit.definitions(&none()).len(), 1);
}

#[test]
fn the_names_of_sources_cannot_clash() {
    let toolkit = || Toolkit::new().with_source(server("files")).unwrap();
    refused(
        toolkit().with(tool("files__read", "")),
        "the tool `files__read` has a name that belongs to the source `files`",
    );
    let own = Toolkit::new().with(tool("files__read", "")).unwrap();
    refused(own.with_source(server("files")), "the tool `files__read` has a name that belongs to the source `files`");
    refused(
        toolkit().with_source(server("files")),
        "two sources of tools could both have tools that begin with `files__`",
    );
    refused(
        toolkit().with_source(server("files__old")),
        "two sources of tools could both have tools that begin with `files__old__`",
    );
    assert!(toolkit().with_source(server("files2")).is_ok());
}
