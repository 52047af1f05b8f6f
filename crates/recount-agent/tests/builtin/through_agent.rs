//! Hostile calls through the whole agent.

use std::os::unix::fs::symlink;
use std::sync::Arc;
use std::time::Duration;

use pretty_assertions::assert_eq;
use recount_agent::builtin::{self, Shell, Workspace};
use recount_agent::permission::{Mode, Permissions};
use recount_agent::scripted::ScriptedModel;
use recount_agent::tool::{FunctionTool, NoArguments, Toolkit};
use recount_agent::{Agent, AgentBuilder, Offload};
use recount_message::{
    EventKind, FinishedReason, Json, Msg, Object, PermissionBehavior, PermissionRule, ToolCallState, ToolResultState,
};

fn agent(model: &ScriptedModel, workspace: Workspace, permissions: Permissions) -> AgentBuilder {
    let tools = builtin::all(workspace).into_iter();
    let toolkit = tools.fold(Toolkit::new(), |toolkit, tool| toolkit.with_shared(tool).unwrap());
    Agent::builder("Friday").model(model.clone()).toolkit(toolkit).permissions(permissions).runtime_state(None)
}

fn allowing(tool: &str, content: &str) -> Permissions {
    Permissions::default().with_rule(PermissionRule::new(tool, Some(content), PermissionBehavior::Allow))
}

/// Permissions with a rule that grants access to the workspace.
fn granting(content: &str) -> Permissions {
    let mut rule = PermissionRule::new("shell", Some(content), PermissionBehavior::Allow);
    rule.extra.insert("access", vec!["write"]);
    Permissions::default().with_rule(rule)
}

/// The arguments of a command that requests to write to the workspace.
fn writing(command: &str) -> String {
    let mut arguments = Object::from([("command", command)]);
    arguments.insert("access", vec!["write"]);
    arguments.to_json()
}

fn arguments<const N: usize>(pairs: [(&str, &str); N]) -> String {
    Object::from(pairs).to_json()
}

/// Returns the message of a reply that makes one call.
async fn call(directory: &std::path::Path, permissions: Permissions, tool: &str, input: &str) -> Msg {
    let model = ScriptedModel::new().calls(tool, input).then().says("Done.");
    let agent = agent(&model, Workspace::new(directory).unwrap(), permissions).build().unwrap();
    agent.reply("Do it.").await.unwrap()
}

#[tokio::test]
async fn paths_outside_workspace_ask() {
    let directory = tempfile::tempdir().unwrap();
    let work = directory.path().join("work");
    std::fs::create_dir(&work).unwrap();
    std::fs::write(directory.path().join("secret"), "secret").unwrap();
    symlink(directory.path().join("secret"), work.join("link")).unwrap();
    symlink("/etc", work.join("etc")).unwrap();
    for path in ["../secret", "link", "etc/passwd", "/etc/passwd", "x/../../secret"] {
        let message = call(&work, Permissions::default(), "read", &arguments([("path", path)])).await;
        assert_eq!(message.call("call_1").unwrap().state, ToolCallState::Asking, "{path}");
        assert!(!message.to_json().contains("root:"), "{path}");
    }
    // Without a user it is denied.
    let message = call(&work, Permissions::new(Mode::DontAsk), "read", &arguments([("path", "link")])).await;
    assert_eq!(message.result_of("call_1").unwrap().state, ToolResultState::Denied);
    let written = call(
        &work,
        allowing("write", &format!("{}/**", work.display())),
        "write",
        &arguments([("path", "link"), ("content", "x")]),
    )
    .await;
    assert_eq!(written.call("call_1").unwrap().state, ToolCallState::Asking);
    assert_eq!(std::fs::read_to_string(directory.path().join("secret")).unwrap(), "secret");
}

#[tokio::test]
async fn hidden_commands_ask() {
    let directory = tempfile::tempdir().unwrap();
    for command in [
        "echo $(touch hidden)",
        "echo `touch hidden`",
        "echo hi; touch hidden",
        "echo hi | tee hidden",
        "echo <(touch hidden)",
        "echo hi > hidden",
        "echo \"$(touch hidden)\"",
    ] {
        let message = call(directory.path(), granting("echo:*"), "shell", &writing(command)).await;
        assert_eq!(message.call("call_1").unwrap().state, ToolCallState::Asking, "{command}");
        assert!(!directory.path().join("hidden").exists(), "{command}");
    }
    let message = call(directory.path(), granting("echo:*"), "shell", &writing("echo hi")).await;
    assert_eq!(message.result_of("call_1").unwrap().output.text().as_deref(), Some("hi\n"));
}

#[tokio::test]
async fn reply_continues_after_endless_output() {
    let directory = tempfile::tempdir().unwrap();
    let workspace = Arc::new(Workspace::new(directory.path()).unwrap().max_output_bytes(1_000));
    let model = ScriptedModel::new().calls("shell", r#"{"command":"yes 86421"}"#).then().says("Enough.");
    let agent = Agent::builder("Friday")
        .model(model.clone())
        .tool(Shell::new(workspace).max_offloaded_bytes(50_000))
        .permissions(Permissions::new(Mode::Bypass))
        .build()
        .unwrap();
    let message = agent.reply("Go.").await.unwrap();
    assert_eq!(message.text().as_deref(), Some("Enough."));
    assert!(message.result_of("call_1").unwrap().output.text().unwrap().len() < 2_000);
}

#[tokio::test]
async fn hanging_panicking_and_flooding_tools_fail_alone() {
    let directory = tempfile::tempdir().unwrap();
    let model = ScriptedModel::new()
        .calls("shell", r#"{"command":"sleep 86422","timeout_seconds":1}"#)
        .calls("panic", "{}")
        .calls("flood", "{}")
        .then()
        .says("Done.");
    let flood = FunctionTool::with_context("flood", "Floods.", |_: NoArguments, context| async move {
        for _ in 0..20_000 {
            context.write_text("0123456789").await;
        }
        Ok("")
    });
    let panics = FunctionTool::new("panic", "Panics.", |_: NoArguments| async {
        if true {
            std::panic::resume_unwind(Box::new("on purpose"));
        }
        Ok("")
    });
    let agent = agent(&model, Workspace::new(directory.path()).unwrap(), Permissions::new(Mode::Bypass))
        .tool(flood)
        .tool(panics)
        .tool_result_limit(100)
        .offload(Offload::to(directory.path().join("aside")))
        .build()
        .unwrap();
    let message = agent.reply("Go.").await.unwrap();
    let state = |id: &str| message.result_of(id).unwrap().state;
    assert_eq!(
        (state("call_1"), state("call_2"), state("call_3")),
        (ToolResultState::Error, ToolResultState::Error, ToolResultState::Success)
    );
    assert_eq!(message.finished_reason(), Some(FinishedReason::Completed));
    // The message contains the complete output, the request to the model a part of it.
    assert_eq!(message.result_of("call_3").unwrap().output.text().unwrap().len(), 200_000);
    let shown: usize = model.requests()[1].messages.iter().map(|message| message.to_json().len()).sum();
    assert!(shown < 10_000, "{shown}");
}

#[tokio::test]
async fn interrupt_ends_hanging_tool() {
    let directory = tempfile::tempdir().unwrap();
    let model = ScriptedModel::new().calls("shell", r#"{"command":"touch begun; sleep 86423"}"#);
    let agent =
        agent(&model, Workspace::new(directory.path()).unwrap(), Permissions::new(Mode::Bypass)).build().unwrap();
    let begun = directory.path().join("begun");
    let watch = async {
        while !begun.exists() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert!(agent.interrupt());
    };
    let (message, ()) = tokio::join!(agent.reply("Go."), watch);
    let message = message.unwrap();
    assert_eq!(message.finished_reason(), Some(FinishedReason::Interrupted));
    assert_eq!(message.result_of("call_1").unwrap().state, ToolResultState::Interrupted);
}

#[tokio::test]
async fn offloaded_output_is_readable() {
    let directory = tempfile::tempdir().unwrap();
    let (work, aside) = (directory.path().join("work"), directory.path().join("aside"));
    std::fs::create_dir(&work).unwrap();
    let workspace = Workspace::new(&work).unwrap().offload_to(&aside).unwrap();
    let lines = FunctionTool::new("lines", "Says much.", |_: NoArguments| async {
        Ok((1..=500).map(|line| format!("line {line}\n")).collect::<String>())
    });
    let model = ScriptedModel::new().calls_as("c1", "lines", "{}").then().says("Much.");
    let agent = agent(&model, workspace, Permissions::default())
        .tool(lines.read_only())
        .tool_result_limit(20)
        .offload(Offload::to(&aside))
        .build()
        .unwrap();
    let mut stream = agent.reply_stream("Go.").unwrap();
    let mut path = None;
    while let Some(event) = stream.next().await {
        if let EventKind::Custom(custom) = &event.kind
            && custom.name == "recount.offloaded"
        {
            path = custom.value.get("path").and_then(Json::as_str).map(str::to_owned);
        }
    }
    drop(stream);
    // Reading the offloaded output needs no permission.
    let mut input = Object::from([("path", path.unwrap())]);
    input.insert("offset", 499);
    let _ = model.clone().calls_as("c2", "read", input.to_json()).then().says("I see.");
    let message = agent.reply("Read on.").await.unwrap();
    let read = message.result_of("c2").unwrap();
    assert_eq!(read.state, ToolResultState::Success);
    assert!(read.output.text().unwrap().contains("line 500"), "{read:?}");
}
