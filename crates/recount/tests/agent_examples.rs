//! The examples with an agent run and print what they should.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(dead_code, reason = "the examples' own `main` is not called here")]

#[path = "../examples/agent_confirmation.rs"]
mod agent_confirmation;
#[path = "../examples/agent_console.rs"]
mod agent_console;
#[path = "../examples/agent_hub.rs"]
mod agent_hub;
#[path = "../examples/agent_structured_output.rs"]
mod agent_structured_output;
#[path = "../examples/agent_sub_agent.rs"]
mod agent_sub_agent;
#[path = "../examples/agent_team.rs"]
mod agent_team;

use pretty_assertions::assert_eq;

#[track_caller]
fn check(out: Vec<u8>, expected: &str) {
    assert_eq!(String::from_utf8(out).unwrap(), expected);
}

#[tokio::test]
async fn a_reply_is_shown_while_it_comes_in() {
    let mut out = Vec::new();
    let agent = agent_console::built_in().unwrap();
    let message = agent_console::run(&mut out, &agent, "How is the weather in Beijing?").await.unwrap();
    check(
        out,
        "Let me look.
[Calling get_weather...]
[Tool finished: success]
It is sunny in Beijing.
[Done]
",
    );
    assert_eq!(message.text_joined_by(" ").as_deref(), Some("Let me look. It is sunny in Beijing."));
}

#[tokio::test]
async fn a_waiting_agent_goes_on_in_another_process() {
    let mut out = Vec::new();
    agent_confirmation::run(&mut out).await.unwrap();
    check(
        out,
        r#"finished: false
delete_file {"path": "old.log"}? yes
delete_file {"path": "thesis.tex"}? no
{"path": "old.log"}: success
{"path": "thesis.tex"}: denied
I deleted the log and left your thesis alone.
"#,
    );
}

#[tokio::test]
async fn an_answer_is_a_rust_type() {
    let mut out = Vec::new();
    agent_structured_output::run(&mut out).await.unwrap();
    check(out, "a shed in 3 days: draw, saw, nail\n");
}

#[tokio::test]
async fn agents_hear_each_other_by_name() {
    let mut out = Vec::new();
    agent_team::run(&mut out).await.unwrap();
    check(
        out,
        "[AgentA]: I think we should rewrite it.
[AgentB]: I disagree: it has no tests.
[AgentA]: Tests first, then.
AgentA was shown: Alice, AgentA, AgentB, AgentA
",
    );
}

#[tokio::test]
async fn several_agents_discuss_vote_and_pass_on() {
    let mut out = Vec::new();
    agent_hub::run(&mut out).await.unwrap();
    check(
        out,
        "[AgentA]: I think we should do this...
[AgentB]: I disagree because...
[AgentA]: Tests first, then.
AgentB has heard 4 messages.
AgentA votes yes
AgentB votes no
It rains.
",
    );
}

#[tokio::test]
async fn sub_agent_confirmation_is_answered_through_the_parent() {
    let mut out = Vec::new();
    agent_sub_agent::run(&mut out).await.unwrap();
    check(
        out,
        r#"Friday begins
Gardener begins, for the one before
measure? yes
"It has 25 degrees."
completed
"Warm enough for a walk."
completed
"#,
    );
}
