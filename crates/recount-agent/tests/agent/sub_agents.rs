//! Sub-agents.

use std::collections::BTreeMap;

use pretty_assertions::assert_eq;
use recount_agent::multi_agent::SubAgent;
use recount_agent::scripted::{Gate, ScriptedModel};
use recount_agent::{Agent, AgentBuilder, Error, Input, InputRejection, SavedAgent};
use recount_message::check::Checker;
use recount_message::{
    AgentEvent, ConfirmResult, EventKind, FinishedReason, Fold, Msg, ToolCallState, ToolResultState,
    UserConfirmResultEvent, UserInterruptEvent,
};

use crate::looker::looker;
use crate::support::{Kept, agent, drain, echo, elsewhere, say};

const TASK: &str = r#"{"task": "Find out."}"#;

/// An agent with a sub-agent that needs a confirmation.
fn helped(model: &ScriptedModel) -> AgentBuilder {
    let sub_agent = || {
        let model = looker(vec![vec![("h1", "look", "{}")]], "It is 42.");
        Agent::builder("Helper").model(model).tool(echo("look")).runtime_state(None)
    };
    agent(model).tool(SubAgent::new("research", "Finds something out.", sub_agent))
}

fn model() -> ScriptedModel {
    ScriptedModel::new().calls_as("c1", "research", TASK).then().says("42, then.")
}

/// Returns all replies of a legal stream, applying every event.
fn folded(events: &[AgentEvent]) -> Vec<Msg> {
    let mut fold = Fold::new();
    for event in events {
        assert_eq!(fold.apply(event).reason(), None, "{}", event.to_json());
    }
    fold.into_messages().collect()
}

/// Returns the waiting reply of a stream, and its call.
fn asked(events: &[AgentEvent]) -> (String, recount_message::ToolCallBlock) {
    let asked = events.iter().rev().find_map(|event| match &event.kind {
        EventKind::RequireUserConfirm(kind) => Some((kind.reply_id.to_string(), kind.tool_calls[0].clone())),
        _ => None,
    });
    asked.unwrap()
}

fn yes(events: &[AgentEvent]) -> Input {
    let (reply_id, call) = asked(events);
    UserConfirmResultEvent::new(reply_id, [ConfirmResult::allow(call)]).into()
}

#[tokio::test]
async fn sub_agent_writes_its_own_reply_to_the_stream() {
    let sub_agent =
        || Agent::builder("Helper").model(ScriptedModel::new().streams(["It is ", "42."])).runtime_state(None);
    let model = model();
    let agent = agent(&model).tool(SubAgent::new("research", "Finds something out.", sub_agent)).build().unwrap();
    let events = say(&agent, "Well?").await;
    let mut checker = Checker::new();
    let mut findings: Vec<_> = events.iter().flat_map(|event| checker.event(event)).collect();
    findings.extend(checker.finish());
    assert!(findings.is_empty(), "{findings:?}");

    let [reply, sub_agent] = folded(&events).try_into().unwrap();
    assert_eq!((sub_agent.name(), sub_agent.text().as_deref()), ("Helper", Some("It is 42.")));
    assert_eq!(sub_agent.parent().as_deref(), Some(reply.id()));
    assert_eq!(sub_agent.metadata().get("tool_call_id").unwrap().as_str(), Some("c1"));
    assert_eq!(sub_agent.finished_reason(), Some(FinishedReason::Completed));
    let result = reply.result_of("c1").unwrap();
    assert_eq!(result.output.text().as_deref(), Some("It is 42."));
    assert_eq!(result.metadata.get("reply_id").unwrap().as_str(), Some(sub_agent.id()));
    // It ends before the parent continues, and is not part of the parent's conversation.
    assert_eq!(agent.messages()[1], reply);
    assert_eq!(agent.messages().len(), 2);
    assert!(agent.state().sub_agents.is_empty());
}

#[tokio::test]
async fn text_stream_excludes_sub_agents() {
    let model = model();
    let sub_agent = || Agent::builder("Helper").model(ScriptedModel::new().says("It is 42."));
    let agent = agent(&model).tool(SubAgent::new("research", "Finds out.", sub_agent)).build().unwrap();
    let mut text = agent.reply_stream("Well?").unwrap().text();
    let mut said = String::new();
    while let Some(piece) = text.next().await {
        said.push_str(&piece);
    }
    assert_eq!(said, "42, then.");
}

#[tokio::test]
async fn sub_agent_confirmation_is_answered_through_the_parent() {
    let model = model();
    let agent = helped(&model).build().unwrap();
    let first = say(&agent, "Well?").await;
    let open = agent.open_reply().unwrap();
    assert_eq!(open.call("c1").unwrap().state, ToolCallState::Submitted);
    let (reply_id, call) = asked(&first);
    assert_ne!(reply_id, open.id());
    assert_eq!(call.name, "look");

    // The call has no external result, and messages are rejected while it waits.
    let result = recount_message::ExternalExecutionResultEvent::new(
        open.id().to_owned(),
        [open.call("c1").unwrap().clone().success("I know!")],
    );
    assert!(matches!(agent.reply(result).await, Err(Error::Rejected(InputRejection::NotWaiting { .. }))));
    assert!(matches!(agent.reply("Hello?").await, Err(Error::Rejected(InputRejection::Waiting { .. }))));

    let second = say(&agent, yes(&first)).await;
    let events = [first, second].concat();
    let [reply, sub_agent] = folded(&events).try_into().unwrap();
    assert_eq!(sub_agent.result_of("h1").unwrap().output.text().as_deref(), Some("look ran"));
    assert_eq!((sub_agent.finished_at().is_some(), reply.text().as_deref()), (true, Some("42, then.")));
    assert_eq!(reply.result_of("c1").unwrap().output.text().as_deref(), Some("Let me look.\nIt is 42."));
    assert_eq!(agent.messages()[1], reply);
    // The second answer is rejected.
    assert!(matches!(agent.reply(yes(&events)).await, Err(Error::Rejected(_))));
}

#[tokio::test]
async fn sub_agent_is_answered_in_another_process() {
    let model = model();
    let here = helped(&model).build().unwrap();
    let first = say(&here, "Well?").await;
    let saved = SavedAgent::from_json(&here.save().unwrap().to_json()).unwrap();
    let there = helped(&model).stamps(elsewhere()).resume(saved).build().unwrap();
    assert_eq!(there.messages(), here.messages());
    let second = say(&there, yes(&first)).await;
    let [reply, sub_agent] = folded(&[first, second].concat()).try_into().unwrap();
    assert_eq!((sub_agent.finished_at().is_some(), reply.text().as_deref()), (true, Some("42, then.")));
}

#[tokio::test]
async fn sub_agent_resumes_after_a_crash_at_any_event() {
    let log = Kept::default();
    let model_here = model();
    let here = helped(&model_here).sink(log.clone()).build().unwrap();
    let first = say(&here, "Well?").await;
    say(&here, yes(&first)).await;
    let entries = log.0.lock().unwrap().clone();
    for cut in 2..entries.len() {
        let mut events: Vec<AgentEvent> = entries[..cut].iter().map(|(event, _)| event.clone()).collect();
        let state = entries[..cut].iter().rev().find_map(|(_, state)| state.clone()).unwrap();
        let fold: Fold = events.iter().collect();
        if fold.open_replies().next().is_none() {
            continue;
        }
        let saved = SavedAgent::from_json(&SavedAgent::new(state, fold.checkpoint()).to_json()).unwrap();
        let (more, scripted) = (Kept::default(), ScriptedModel::new());
        // The model may be called from the beginning, or only for the final answer.
        let is_called =
            saved.messages().any(|message| message.call("c1").is_some_and(|call| call.finished_at.is_some()));
        let scripted = if is_called { scripted } else { scripted.calls_as("c1", "research", TASK).then() };
        let scripted = scripted.says("42, then.").then().says("42, then.");
        let there = helped(&scripted).stamps(elsewhere()).sink(more.clone()).resume(saved).build().unwrap();
        for _ in 0..4 {
            let Some(_) = there.open_reply() else { break };
            let so_far = [events.clone(), more.events()].concat();
            let fold: Fold = so_far.iter().collect();
            let waits = fold.open_replies().find_map(|reply| {
                let asking =
                    reply.message().tool_pairs().map(|(call, _)| call).find(|call| call.state == ToolCallState::Asking);
                asking.map(|call| (reply.message().id().to_owned(), call.clone()))
            });
            let input: Input = match waits {
                Some((reply_id, call)) => UserConfirmResultEvent::new(reply_id, [ConfirmResult::allow(call)]).into(),
                None => ().into(),
            };
            there.reply(input).await.unwrap_or_else(|error| panic!("cut at {cut}: {error}"));
        }
        events.extend(more.events());
        let messages = folded(&events);
        let mut ends = BTreeMap::new();
        for event in &events {
            if let EventKind::ReplyEnd(end) = &event.kind {
                *ends.entry(end.reply_id.to_string()).or_insert(0) += 1;
            }
        }
        let replies: Vec<&Msg> = messages.iter().filter(|message| message.name() != "user").collect();
        assert!(replies.iter().all(|reply| ends.get(reply.id()) == Some(&1)), "cut at {cut}: {ends:?}");
        let own = replies.iter().find(|reply| reply.parent().is_none()).unwrap();
        assert!(own.text().unwrap().ends_with("42, then."), "cut at {cut}: {}", own.to_json());
        assert!(own.tool_pairs().all(|(_, result)| result.is_some_and(|result| result.finished_at.is_some())));
    }
}

#[tokio::test]
async fn interrupt_ends_the_running_sub_agent() {
    let gate = Gate::new();
    let model = model();
    let slow = gate.clone();
    let sub_agent = move || {
        Agent::builder("Helper").model(ScriptedModel::new().says("Hm").waits(&slow).says("!")).runtime_state(None)
    };
    let agent = agent(&model).tool(SubAgent::new("research", "Finds out.", sub_agent)).build().unwrap();
    let stream = agent.reply_stream("Well?").unwrap();
    let other = agent.clone();
    let interrupt = async {
        gate.reached().await;
        assert!(other.interrupt());
    };
    let (events, ()) = tokio::join!(drain(stream), interrupt);
    let [reply, sub_agent] = folded(&events).try_into().unwrap();
    assert_eq!(sub_agent.finished_reason(), Some(FinishedReason::Interrupted));
    assert_eq!(reply.finished_reason(), Some(FinishedReason::Interrupted));
    assert_eq!(reply.result_of("c1").unwrap().state, ToolResultState::Interrupted);
}

#[tokio::test]
async fn interrupt_ends_the_waiting_sub_agent() {
    let model = model();
    let agent = helped(&model).build().unwrap();
    let first = say(&agent, "Well?").await;
    let open = agent.open_reply().unwrap();
    let second = say(&agent, UserInterruptEvent::new(open.id().to_owned())).await;
    let [reply, sub_agent] = folded(&[first, second].concat()).try_into().unwrap();
    assert_eq!(sub_agent.finished_reason(), Some(FinishedReason::Interrupted));
    assert!(sub_agent.tool_pairs().all(|(_, result)| result.is_some()));
    assert_eq!(reply.finished_reason(), Some(FinishedReason::Interrupted));
}

#[tokio::test]
async fn sub_agent_can_be_interrupted_alone() {
    let model = model();
    let agent = helped(&model).build().unwrap();
    let first = say(&agent, "Well?").await;
    let (reply_id, _) = asked(&first);
    let second = say(&agent, UserInterruptEvent::new(reply_id)).await;
    let [reply, sub_agent] = folded(&[first, second].concat()).try_into().unwrap();
    assert_eq!(sub_agent.finished_reason(), Some(FinishedReason::Interrupted));
    let result = reply.result_of("c1").unwrap();
    assert_eq!(result.state, ToolResultState::Error);
    assert!(result.output.text().unwrap().starts_with("the agent was interrupted"));
    assert_eq!(reply.text().as_deref(), Some("42, then."));
}

#[tokio::test]
async fn dropped_stream_ends_parent_and_sub_agent() {
    let (gate, log) = (Gate::new(), Kept::default());
    let model = model();
    let slow = gate.clone();
    let sub_agent =
        move || Agent::builder("Helper").model(ScriptedModel::new().says("Hm").waits(&slow)).runtime_state(None);
    let agent =
        agent(&model).tool(SubAgent::new("research", "Finds out.", sub_agent)).sink(log.clone()).build().unwrap();
    let mut stream = agent.reply_stream("Well?").unwrap();
    tokio::select! {
        () = async { while stream.next().await.is_some() {} } => panic!("it does not end"),
        () = gate.reached() => {}
    }
    drop(stream);
    tokio::task::yield_now().await;
    let messages = folded(&log.events());
    let replies: Vec<&Msg> = messages.iter().filter(|message| message.name() != "user").collect();
    assert_eq!(replies.len(), 2);
    for reply in replies {
        assert_eq!(reply.finished_reason(), Some(FinishedReason::Interrupted));
    }
    let text = agent.messages()[1].result_of("c1").unwrap().output.text().unwrap();
    assert!(!text.contains("user"), "the sub-agent was not interrupted: {text}");
}

#[tokio::test]
async fn sub_agents_can_be_nested() {
    let innermost = || {
        let model = looker(vec![vec![("i1", "look", "{}")]], "Deep down it is 42.");
        Agent::builder("Innermost").model(model).tool(echo("look")).runtime_state(None)
    };
    let sub_agent = move || {
        let model = looker(vec![vec![("h1", "dig", TASK)]], "They say 42.");
        let dig = SubAgent::new("dig", "Digs.", innermost);
        Agent::builder("Helper").model(model).tool(dig).runtime_state(None)
    };
    let model = model();
    let build = || agent(&model).tool(SubAgent::new("research", "Finds out.", sub_agent));
    let here = build().build().unwrap();
    let first = say(&here, "Well?").await;
    let (_, call) = asked(&first);
    assert_eq!(call.id, "i1");
    let saved = SavedAgent::from_json(&here.save().unwrap().to_json()).unwrap();
    let there = build().stamps(elsewhere()).resume(saved).build().unwrap();
    let second = say(&there, yes(&first)).await;
    let [reply, middle, inner] = folded(&[first, second].concat()).try_into().unwrap();
    assert_eq!(inner.parent().as_deref(), Some(middle.id()));
    assert_eq!(middle.parent().as_deref(), Some(reply.id()));
    assert_eq!(reply.result_of("c1").unwrap().output.text().as_deref(), Some("Let me look.\nThey say 42."));
    assert_eq!(reply.text().as_deref(), Some("42, then."));
}

#[tokio::test]
async fn sub_agents_run_and_wait_concurrently() {
    let model =
        ScriptedModel::new().calls_as("c1", "research", TASK).calls_as("c2", "research", TASK).then().says("Both.");
    let agent = helped(&model).build().unwrap();
    let mut events = say(&agent, "Well?").await;
    for round in 0..2 {
        let fold: Fold = events.iter().collect();
        let waits: Vec<_> = fold
            .open_replies()
            .filter_map(|reply| {
                let call = reply.message().call("h1")?;
                (call.state == ToolCallState::Asking).then(|| (reply.message().id().to_owned(), call.clone()))
            })
            .collect();
        assert_eq!(waits.len(), 2 - round);
        let (reply_id, call) = waits[0].clone();
        events.extend(say(&agent, UserConfirmResultEvent::new(reply_id, [ConfirmResult::allow(call)])).await);
    }
    let messages = folded(&events);
    assert_eq!(messages.len(), 3);
    assert_eq!(messages[0].text().as_deref(), Some("Both."));
}

#[tokio::test]
async fn failed_sub_agent_is_a_failed_result() {
    let model = model();
    let sub_agent = || Agent::builder("Helper").model(ScriptedModel::new().fails("no line")).runtime_state(None);
    let agent = agent(&model).tool(SubAgent::new("research", "Finds out.", sub_agent)).build().unwrap();
    let message = agent.reply("Well?").await.unwrap();
    let result = message.result_of("c1").unwrap();
    assert_eq!(
        (result.state, result.output.text().as_deref()),
        (ToolResultState::Error, Some("the agent failed: no line"))
    );
}

#[tokio::test]
async fn recorded_answer_is_not_written_again() {
    let (log, model) = (Kept::default(), model());
    let agent = helped(&model).sink(log.clone()).build().unwrap();
    let first = say(&agent, "Well?").await;
    let (reply_id, mut call) = asked(&first);
    call.input = r#"{"edited": true}"#.to_owned();
    // A host records the answer before it reaches the agent.
    let answer = AgentEvent::new(UserConfirmResultEvent::new(reply_id, [ConfirmResult::allow(call)]));
    log.0.lock().unwrap().push((answer.clone(), None));
    let message = agent.reply(Input::from(answer).recorded()).await.unwrap();
    assert_eq!(message.text().as_deref(), Some("42, then."));
    let messages = folded(&log.events());
    let sub_agent = messages.iter().find(|message| message.name() == "Helper").unwrap();
    assert_eq!(sub_agent.call("h1").unwrap().input, r#"{"edited": true}"#);
    assert_eq!(sub_agent.finished_reason(), Some(FinishedReason::Completed));
    let confirmations = log.events().iter().filter(|event| event.type_name() == "USER_CONFIRM_RESULT").count();
    assert_eq!(confirmations, 1);
}

#[tokio::test]
async fn sub_agent_keeps_waiting_after_a_rejected_answer() {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Times {
        times: u8,
    }
    let sub_agent = || {
        let model = looker(vec![vec![("h1", "wave", r#"{"times": 1}"#)]], "Waved.");
        let wave = recount_agent::tool::FunctionTool::new("wave", "Waves.", |wave: Times| async move {
            Ok(format!("{} times", wave.times))
        });
        Agent::builder("Helper").model(model).tool(wave).runtime_state(None)
    };
    let model = model();
    let agent = agent(&model).tool(SubAgent::new("research", "Finds out.", sub_agent)).build().unwrap();
    let first = say(&agent, "Well?").await;
    let (reply_id, call) = asked(&first);
    let with = |input: &str| {
        let mut call = call.clone();
        call.input = input.to_owned();
        UserConfirmResultEvent::new(reply_id.clone(), [ConfirmResult::allow(call)])
    };
    let second = say(&agent, with(r#"{"times": "often"}"#)).await;
    assert!(agent.open_reply().is_some());
    let third = say(&agent, with(r#"{"times": 2}"#)).await;
    let [reply, sub_agent] = folded(&[first, second, third].concat()).try_into().unwrap();
    assert_eq!(sub_agent.result_of("h1").unwrap().output.text().as_deref(), Some("2 times"));
    assert_eq!(reply.text().as_deref(), Some("42, then."));
}

/// Every call builds a new sub-agent, but granted permissions persist.
#[tokio::test]
async fn sub_agent_permissions_apply_to_its_next_call() {
    let model = ScriptedModel::new()
        .calls_as("c1", "research", TASK)
        .then()
        .says("42, then.")
        .then()
        .calls_as("c2", "research", TASK)
        .then()
        .says("Still 42.");
    let agent = helped(&model).build().unwrap();
    let first = say(&agent, "Well?").await;
    let (reply_id, call) = asked(&first);
    let rules = call.suggested_rules.clone();
    assert!(!rules.is_empty());
    let always = UserConfirmResultEvent::new(reply_id, [ConfirmResult::allow(call).with_rules(rules)]);
    say(&agent, always).await;
    let saved = SavedAgent::from_json(&agent.save().unwrap().to_json()).unwrap();
    let elsewhere = helped(&model).stamps(elsewhere()).resume(saved).build().unwrap();
    assert_eq!(elsewhere.reply("Sure?").await.unwrap().text().as_deref(), Some("Still 42."));
}
