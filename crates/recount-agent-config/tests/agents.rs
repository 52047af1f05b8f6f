//! Tests of agents from a configuration.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::path::Path;

use pretty_assertions::assert_eq;
use recount_agent::Input;
use recount_agent_config::{Agents, AgentsConfig, DefaultModel, Environment};
use recount_host::{AgentSource, SourceError};
use recount_log::SessionKey;
use recount_message::{EventKind, Msg, ToolCallState, ToolResultBlock, ToolResultState};
use recount_testkit::sandbox::confinement;

fn session() -> SessionKey {
    SessionKey::new("s1").unwrap()
}

fn agents(text: &str) -> Agents {
    let config = AgentsConfig::from_toml(text).unwrap();
    Agents::new(config, Path::new("."), Environment::empty()).unwrap().confine(confinement())
}

#[track_caller]
fn assert_error(text: &str, wanted: &str) {
    let error = AgentsConfig::from_toml(text).unwrap_err().to_string();
    assert!(error.starts_with(wanted), "{error}");
}

#[test]
fn parse_error_has_line_number() {
    assert_error("[agents.a]\nmodle = \"demo\"\n", "line 2: unknown field `modle`, expected one of `model`");
    assert_error("[agents.a]\nmodel = \"demo\"\n\n[agent.b]\n", "line 4: unknown field `agent`");
    assert_error("[agents.a]\nmodel = \"gpt-5\"\n", "line 2: `gpt-5` is neither `provider/name` nor `demo`");
    assert_error("[agents.a]\nmodel = \"acme/one\"\n", "line 2: unknown provider `acme`, expected one of openai, ");
    assert_error("[agents.a]\n\nmodel = \"demo/fast\"\n", "line 3: invalid name of the demo model `demo/fast`");
    assert_error("[agents.a]\ntools = [\n  \"read\",\n  \"shel\",\n]\n", "line 2: unknown built-in tool `shel`");
    assert_error(
        "[agents.a.permissions]\nmode = \"yolo\"\n",
        "line 2: unknown variant `yolo`, expected one of `default`",
    );
    assert_error("[agents.a.permissions]\nallow = [\"shell(ls\"]\n", "line 2: invalid rule `shell(ls`");
    assert_error("[agents.a.permissions]\nalow = []\n", "line 2: unknown field `alow`");
    assert_error("[agents.a]\nthinking = \"hard\"\n", "line 2: `thinking`: invalid value: string \"hard\"");
    assert_error("[agents.a]\nthinking = -1\n", "line 2: `thinking` must not be negative");
    assert_error("[agents.a.mcp.s]\ncommand = \"x\"\nhedaers = {}\n", "line 3: unknown field `hedaers`");
    assert_error(
        "[agents.a.mcp.s]\ncommand = \"x\"\nurl = \"http://h\"\n",
        "line 1: invalid configuration of an MCP server",
    );
    assert_error("[agents.a.external.t]\nname = \"x\"\n", "line 2: unknown field `name`");
    assert_error("[agents.a\n", "line 1: ");
}

#[test]
fn value_error_names_key() {
    assert_error(
        "[agents.a]\nmax_tokens = \"many\"\n",
        "line 2: `max_tokens`: invalid type: string \"many\", expected a non-negative integer",
    );
    assert_error(
        "[agents.a]\nretries = -1\n",
        "line 2: `retries`: invalid value: integer `-1`, expected a non-negative integer",
    );
    assert_error("[agents.a]\ntools = \"read\"\n", "line 2: `tools`: invalid type: string \"read\", expected a list");
    assert_error("[agents.a]\npermissions = 1\n", "line 2: `permissions`: invalid type: integer `1`, expected a table");
    assert_error("[agents.a]\nmodel = \"demo\"\nmodel = \"demo\"\n", "line 3: duplicate key `model`");
    for key in ["max_iterations", "max_tokens", "context_window", "confirm_within"] {
        let text = format!("[agents.b]\n{key} = 1\n\n[agents.a]\nmodel = \"demo\"\n{key} = 0\n");
        assert_error(&text, &format!("line 6: agent `a`: `{key}` must be at least 1"));
    }
    assert_error("[agents.a]\nretries = 4000000000\n", "line 2: agent `a`: `retries` must be at most 100");
}

#[test]
fn validate_rejects_rule_that_matches_no_tool() {
    assert_error(
        "[agents.a]\n[agents.a.permissions]\ndeny = [\n  \"fetch\",\n  \"shel(rm:*)\",\n]\n",
        "line 5: agent `a`: the rule `shel(rm:*)` matches none of its tools",
    );
    assert_error(
        "[agents.a]\ntools = [\"read\"]\n[agents.a.permissions]\nallow = [\"shell(ls:*)\"]\n",
        "line 4: agent `a`: the rule `shell(ls:*)` matches none of its tools",
    );
    let fits = "[agents.a]\ntools = [\"read\"]\nhelpers = [\"b\"]\n[agents.a.permissions]\n\
                allow = [\"read\", \"b\", \"s__x\", \"t\"]\n[agents.a.mcp.s]\ncommand = \"x\"\n\
                [agents.a.external.t]\ndescription = \"x\"\n[agents.b]\n";
    AgentsConfig::from_toml(fits).unwrap();
}

#[test]
fn missing_file_error_names_path() {
    let error = AgentsConfig::from_file(Path::new("/nowhere/recount.toml")).unwrap_err().to_string();
    assert!(error.starts_with("/nowhere/recount.toml: cannot read the configuration"), "{error}");
}

#[test]
fn config_round_trips_through_toml() {
    let text = r#"
        [server]
        listen = "127.0.0.1:1"

        [agents.zebra]
        model = "demo"
        thinking = 1000
        tools = ["read", "shell", "fetch"]
        [agents.zebra.permissions]
        mode = "accept_edits"
        allow = ["shell(git:*)", "fetch"]
        [agents.zebra.mcp.everything]
        command = "npx"

        [agents.ant]
        model = "openai/gpt-5"
        fallback = ["demo"]
    "#;
    let config = AgentsConfig::from_toml(text).unwrap();
    let names: Vec<&str> = config.agents.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["zebra", "ant"], "in the order of the file");
    let written =
        format!("{}", toml::Table::from_iter([("agents".to_owned(), toml::Value::try_from(&config).unwrap())]));
    let again = AgentsConfig::from_toml(&written).unwrap();
    assert_eq!(again.agents, config.agents);
}

#[test]
fn agent_infos_list_tools_and_descriptions() {
    let known = agents("[agents.a]\nmodel = \"demo\"\n[agents.default]\ndescription = \"Helps.\"\ntools = []\n");
    assert_eq!(known.default_agent(), "default");
    let infos = known.agents();
    assert_eq!(infos[0].tools, ["read", "write", "edit", "glob", "grep", "shell", "fetch"]);
    assert_eq!((infos[1].description.as_deref(), infos[1].tools.len()), (Some("Helps."), 0));
}

#[test]
fn default_model_depends_on_environment() {
    let chosen = |variables: &'static [(&'static str, &'static str)]| {
        let environment = Environment::new(|name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        });
        DefaultModel::from_env(&environment).to_string()
    };
    assert_eq!(chosen(&[]), "the model is `demo`, a script, because no provider's key is set");
    assert_eq!(
        chosen(&[("GOOGLE_API_KEY", "k")]),
        "the model is gemini/gemini-3.8-flash, because GOOGLE_API_KEY is set"
    );
    assert_eq!(chosen(&[("OPENAI_API_KEY", " ")]), "the model is `demo`, a script, because no provider's key is set");
    assert_eq!(
        chosen(&[("OPENAI_API_KEY", "k"), ("RECOUNT_MODEL", "ollama/qwen3")]),
        "the model is ollama/qwen3, because RECOUNT_MODEL is set",
    );
}

#[tokio::test]
async fn built_agent_requests_confirmation_for_command() {
    let known = agents("[agents.a]\nmodel = \"demo/1000000\"\n");
    let agent = known.build("a", &session()).await.unwrap().build().unwrap();
    let message = agent.reply("Use a tool").await.unwrap();
    let (call, result) = message.tool_pairs().next().unwrap();
    assert_eq!((call.name.as_str(), call.state, result), ("shell", ToolCallState::Asking, None));
    assert!(!call.suggested_rules.is_empty());
}

#[tokio::test]
async fn rules_grant_the_access_that_the_configuration_names() {
    let reply = async |rule: &str| {
        let known =
            agents(&format!("[agents.a]\nmodel = \"demo/1000000\"\n[agents.a.permissions]\nallow = [{rule}]\n"));
        let agent = known.build("a", &session()).await.unwrap().build().unwrap();
        let message = agent.reply(r#"shell {"command": "expr 6 '*' 7", "access": ["network"]}"#).await.unwrap();
        message.first::<ToolResultBlock>().map(|result| result.output.text().unwrap())
    };
    assert_eq!(reply(r#"{ rule = "shell(expr:*)", access = ["network"] }"#).await.as_deref(), Some("42\n"));
    assert_eq!(reply(r#"{ rule = "shell(expr:*)", access = ["write"] }"#).await, None);
    // A rule without access grants what the mode grants.
    assert_eq!(reply(r#""shell(expr:*)""#).await, None);
}

/// A new agent is built for each message. It can read the content that an earlier one offloaded.
#[tokio::test]
async fn offloaded_output_is_kept_until_session_is_forgotten() {
    let directory = tempfile::tempdir().unwrap();
    let known = agents("[agents.a]\nmodel = \"demo/1000000\"\ntool_result_limit = 20\n").offload_to(directory.path());
    let say = async |session: &SessionKey, text: &str| {
        let agent = known.build("a", session).await.unwrap().build().unwrap();
        let message = agent.reply(text).await.unwrap();
        let result = message.first::<ToolResultBlock>().cloned();
        (result, message)
    };
    let (result, _) = say(&session(), r#"shell {"command": "seq 20000"}"#).await;
    let text = result.unwrap().output.text().unwrap();
    let path = text.rsplit('`').find(|part| part.starts_with('/')).unwrap();
    assert!(std::fs::read_to_string(path).unwrap().ends_with("\n20000\n"));
    // Two files: the output beyond the limit of the tool, and the part of the result beyond the limit of the model.
    assert_eq!(std::fs::read_dir(directory.path().join("s1")).unwrap().count(), 2);

    let read = format!(r#"read {{"path": "{path}", "offset": 20000}}"#);
    let (result, _) = say(&session(), &read).await;
    assert_eq!(result.unwrap().output.text().as_deref(), Some(" 20000\t20000\n"));
    // Other sessions need a confirmation to read it.
    let (result, message) = say(&SessionKey::of_tenant("s1", "s2").unwrap(), &read).await;
    assert_eq!((result, message.tool_pairs().next().unwrap().0.state), (None, ToolCallState::Asking));

    known.forget(&session());
    assert!(!directory.path().join("s1").exists());
}

#[tokio::test]
async fn external_tool_waits_for_result() {
    let text = r#"
        [agents.a]
        model = "demo/1000000"
        tools = []
        [agents.a.external.ask]
        description = "Asks a person."
        parameters = { type = "object", properties = { question = { type = "string" } }, required = ["question"] }
    "#;
    let known = agents(text);
    let agent = known.build("a", &session()).await.unwrap().build().unwrap();
    let waiting = agent.reply(r#"ask {"question": "Why?"}"#).await.unwrap();
    let (call, _) = waiting.tool_pairs().next().unwrap();
    assert_eq!(call.state, ToolCallState::Submitted);
    let answer = recount_message::ExternalExecutionResultEvent::new(waiting.id(), [call.success("Because.")]);
    let message = agent.reply(Input::from(recount_message::Event::new(answer))).await.unwrap();
    assert!(message.text().unwrap().contains("Because."));
}

#[tokio::test]
async fn build_reports_missing_key_and_unknown_agent() {
    let known = agents("[agents.a]\nmodel = \"openai/gpt-5\"\n");
    let problem = known.build("a", &session()).await.unwrap_err();
    assert_eq!(problem.to_string(), "agent `a` is unavailable: no API key for openai/gpt-5: OPENAI_API_KEY is not set");
    assert_eq!(known.build("b", &session()).await.unwrap_err(), SourceError::Unknown { name: "b".to_owned() });
    for (text, expected) in [
        ("[agents.a]\nworkspace = \"/nowhere\"\n", "agent `a`: cannot use the directory /nowhere"),
        ("[agents.a.external.\"two words\"]\ndescription = \"x\"\n", "agent `a`: "),
        ("[agents.a.external.read]\ndescription = \"x\"\n", "agent `a`: "),
    ] {
        let config = AgentsConfig::from_toml(text).unwrap();
        let error = Agents::new(config, Path::new("."), Environment::empty()).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    }
}

#[tokio::test]
async fn sub_agents_run_as_tools_of_their_parents() {
    let text = r#"
        [agents.lead]
        model = "demo/1000000"
        tools = ["read"]
        helpers = ["scout"]

        [agents.scout]
        model = "demo/1000000"
        description = "Looks around."
        tools = []
        helpers = ["guide"]

        [agents.guide]
        model = "demo/1000000"
        tools = []
    "#;
    let known = agents(text);
    assert_eq!(known.agents()[0].tools, ["read", "scout"]);
    let agent = known.build("lead", &session()).await.unwrap().build().unwrap();
    let task = r#"scout {"task": "guide {\"task\": \"Say hello\"}"}"#;
    let mut stream = agent.reply_stream(task).unwrap();
    let mut names = Vec::new();
    while let Some(event) = stream.next().await {
        if let EventKind::ReplyStart(start) = &event.kind {
            names.push(start.name.to_string());
        }
    }
    assert_eq!(names, ["lead", "scout", "guide"]);
    let message = stream.into_msg().await.unwrap();
    let result = message.blocks::<ToolResultBlock>().next().unwrap();
    assert_eq!((result.name.as_str(), result.state), ("scout", ToolResultState::Success));
}

#[tokio::test]
async fn invalid_sub_agents_are_rejected_on_creation() {
    for (text, expected) in [
        (
            "[agents.a]\nhelpers = [\"b\"]\n",
            "agent `a`: unknown sub-agent `b`\nhint: the configuration has no other agent",
        ),
        ("[agents.a]\nhelpers = [\"a\"]\n", "agent `a`: its sub-agents form a cycle: a → a"),
        (
            "[agents.top]\nhelpers = [\"a\"]\n[agents.a]\nhelpers = [\"b\"]\n[agents.b]\nhelpers = [\"a\"]\n",
            "agent `a`: its sub-agents form a cycle: a → b → a",
        ),
        ("[agents.a]\nhelpers = [\"read\"]\n[agents.read]\n", "agent `a`: duplicate tool `read`"),
        ("[agents.a]\nhelpers = [\"two words\"]\n[agents.\"two words\"]\n", "agent `a`: invalid tool name `two words`"),
    ] {
        let config = AgentsConfig::from_toml(text).unwrap();
        let error = Agents::new(config, Path::new("."), Environment::empty()).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    }
    let known = agents("[agents.a]\nmodel = \"demo\"\nhelpers = [\"b\"]\n[agents.b]\nmodel = \"openai/gpt-5\"\n");
    let expected = "agent `b` is unavailable: no API key for openai/gpt-5: OPENAI_API_KEY is not set";
    assert_eq!(known.check("a").unwrap_err().to_string(), expected);
    let problem = known.build("a", &session()).await.unwrap_err().to_string();
    assert!(problem.starts_with("agent `a` is unavailable: sub-agent `b`: no API key"), "{problem}");
}

#[tokio::test]
async fn set_model_affects_next_build() {
    let known = agents("[agents.a]\nmodel = \"openai/gpt-5\"\n");
    assert!(known.set_model("a", "demo/1000000".parse().unwrap()));
    assert!(!known.set_model("b", "demo".parse().unwrap()));
    let agent = known.build("a", &session()).await.unwrap().build().unwrap();
    let message = agent.reply(Msg::user("Alice", "Hello")).await.unwrap();
    assert!(message.text().unwrap().contains("demo model"));
}

/// `docs/chat.md` documents every configuration key.
#[test]
fn documentation_lists_every_key() {
    let page = include_str!("../../../docs/chat.md");
    let example = page.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    assert_eq!(AgentsConfig::from_toml(example).unwrap().agents.len(), 2);

    for (table, unknown) in [("agents.a", "key"), ("agents.a.permissions", "key"), ("agents.a.mcp.s", "key")] {
        let error = AgentsConfig::from_toml(&format!("[{table}]\n{unknown} = 1\n")).unwrap_err().message;
        let (_, keys) = error.split_once("expected").unwrap();
        for key in keys.split('`').skip(1).step_by(2) {
            let is_there = page.contains(&format!("`{key}`")) || page.contains(&format!("`{key}.NAME`"));
            assert!(is_there, "docs/chat.md does not have `{key}` of `{table}`");
        }
    }
}

/// A silent MCP server delays only the agent that uses it.
#[tokio::test]
async fn build_does_not_wait_for_mcp_servers_of_other_agents() {
    let known = agents(
        "[agents.slow]\nmodel = \"demo\"\n[agents.slow.mcp.silent]\ncommand = \"sleep\"\nargs = [\"600\"]\n\
         [agents.quick]\nmodel = \"demo\"\n",
    );
    let session = session();
    let slow = known.build("slow", &session);
    tokio::select! {
        biased;
        _ = slow => panic!("the silent server did not delay its agent"),
        built = known.build("quick", &session) => drop(built.unwrap()),
    }
}

/// The wait for a silent MCP server is limited.
#[tokio::test(start_paused = true)]
async fn build_continues_without_silent_mcp_server() {
    let known = agents("[agents.a]\nmodel = \"demo\"\n[agents.a.mcp.silent]\ncommand = \"sleep\"\nargs = [\"600\"]\n");
    assert_eq!(known.mcp_problems("a"), [""; 0]);
    drop(known.build("a", &session()).await.unwrap());
    assert_eq!(known.mcp_problems("a"), ["the MCP server `silent` is not running: it has not responded yet"]);
}
