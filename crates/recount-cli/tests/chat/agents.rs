//! Agents from a configuration file: MCP servers, external tools, providers.

use std::fs;
use std::path::PathBuf;

use pretty_assertions::assert_eq;
use serde_json::Value;

use crate::server::{ScriptedResponse, Server};
use crate::terminal::{Terminal, directory};

/// Returns the published MCP reference server, which covers the whole protocol.
fn everything_server() -> PathBuf {
    let installed = "../../conformance/mcp/node_modules/@modelcontextprotocol/server-everything/dist/index.js";
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(installed);
    assert!(
        script.exists(),
        "run `make conformance/mcp/node_modules/installed` first: there is no {}",
        script.display()
    );
    script
}

/// Returns the Node packages of the server, which are outside of the workspace.
fn node_modules() -> PathBuf {
    let node_modules = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../conformance/mcp/node_modules");
    fs::canonicalize(node_modules).unwrap()
}

/// Returns a recorded provider response.
fn recorded_response(case: &str) -> ScriptedResponse {
    let path = "../../conformance/vectors/python/model/stream-openai.jsonl";
    let text = fs::read_to_string(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
    let mut records = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let record = records.find(|record| record["case"] == case).unwrap();
    ScriptedResponse::pieces(record["body"].as_str().unwrap().as_bytes(), 61)
}

#[test]
fn mcp_server_tools_are_available() {
    let directory = directory("tools_of_an_mcp_server");
    let config = format!(
        "[agents.helper]\nmodel = \"demo/5000\"\ntools = []\n\n[agents.helper.mcp.everything]\ncommand = \"node\"\nargs = [\"{}\", \"stdio\"]\naccess = [\"read:{}\"]\ntrust_hints = true\n",
        everything_server().display(),
        node_modules().display()
    );
    fs::write(directory.join("recount.toml"), config).unwrap();
    let mut terminal = Terminal::start(&directory, &["--config", "recount.toml"]);
    terminal.wait_for("helper · demo/5000");
    terminal.submit(r#"everything__echo {"message": "from afar"}"#);
    terminal.wait_for("│ Echo: from afar");
    terminal.wait_for("└ everything__echo done");
    terminal.submit("/tools");
    terminal.wait_for("  everything__echo ");
    terminal.wait_for("Echoes back the input");
    terminal.leave();
}

#[test]
fn starting_mcp_server_is_reported_and_ends_with_the_program() {
    let directory = directory("a_server_that_is_still_starting");
    let config = "[agents.a]\nmodel = \"demo/5000\"\ntools = [\"glob\"]\n\n[agents.a.mcp.slow]\ncommand = \"/bin/sh\"\n\
                  args = [\"-c\", \"echo begun > begun; trap '' TERM HUP; while :; do sleep 1.0417; done\"]\naccess = [\"write\"]\n";
    fs::write(directory.join("c.toml"), config).unwrap();
    let mut terminal = Terminal::start(&directory, &["--config", "c.toml"]);
    terminal.submit("/tools");
    terminal.wait_for("  glob ");
    terminal.wait_for("the MCP server `slow` is still starting");
    terminal.leave();
    assert_eq!(fs::read_to_string(directory.join("begun")).unwrap(), "begun\n");
    assert!(!is_running("1.0417"));
}

/// Returns whether a running process has this argument.
fn is_running(word: &str) -> bool {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let mut lines = processes.filter_map(|process| fs::read(process.path().join("cmdline")).ok());
    lines.any(|line| line.split(|byte| *byte == 0).any(|argument| argument == word.as_bytes()))
}

#[tokio::test(flavor = "multi_thread")]
async fn user_supplies_the_result_of_an_external_tool() {
    let server = Server::start([recorded_response("tool/fragments"), recorded_response("text/deltas")]).await;
    let directory = directory("a_provider_answers");
    let config = format!(
        "[agents.helper]\nmodel = \"openai/gpt-5\"\nbase_url = \"{}\"\nkey_variable = \"MY_KEY\"\nprompt = \"Be brief.\"\ntools = [\"read\"]\n\n\
         [agents.helper.external.search]\ndescription = \"Asks the user to look something up.\"\n",
        server.url()
    );
    fs::write(directory.join("recount.toml"), config).unwrap();
    let dialogue = move || {
        let environment = [("NO_COLOR", "1"), ("MY_KEY", "sk-do-not-show")];
        let mut terminal = Terminal::start_with(&directory, &["--config", "recount.toml"], &environment);
        terminal.submit("Is there tea?");
        terminal.wait_for("Let me look.");
        terminal.wait_for("● search");
        terminal.wait_for(r#"{"query":"tea"}"#);
        terminal.wait_for("? What is the result of: search");
        terminal.submit("3 hits");
        terminal.wait_for("└ search done");
        terminal.wait_for("One two");
        terminal.leave();
    };
    tokio::task::spawn_blocking(dialogue).await.unwrap();

    let requests = server.requests();
    assert_eq!(requests.len(), 2);
    assert_eq!(requests[0].headers["authorization"], "Bearer sk-do-not-show");
    let (first, second): (Value, Value) =
        (serde_json::from_str(&requests[0].body).unwrap(), serde_json::from_str(&requests[1].body).unwrap());
    assert_eq!(first["messages"][0]["content"][0]["text"], "Be brief.");
    let names: Vec<&str> =
        first["tools"].as_array().unwrap().iter().map(|tool| tool["function"]["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["read", "search"]);
    assert!(second["messages"].to_string().contains("3 hits"), "{second:#}");
}
