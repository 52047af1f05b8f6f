//! Running a scenario, turn by turn.

use std::collections::BTreeMap;

use recount_agent::scripted::ScriptedModel;
use recount_agent::tool::STRUCTURED_OUTPUT;
use recount_agent::{Agent, AgentBuilder, Compression, Input, Offload, RuntimeState, SavedAgent};
use recount_message::{
    AgentEvent, ConfirmResult, ContentBlock, EventKind, ExternalExecutionResultEvent, MediaBlock, Msg, Payload,
    PermissionRule, Role, TextBlock, ToolCallBlock, ToolResultBlock, ToolResultState, UserConfirmResultEvent,
    UserInterruptEvent,
};

use crate::essence::{Essence, Playing};
use crate::gates::Gates;
use crate::middleware::{GatedPermission, SwallowFirstEnd};
use crate::model::{data, model, object};
use crate::presentable::presentable;
use crate::script::{Block, Call, Chunk, Confirm, During, Message, Outcome, Output, Scenario, Turn};
use crate::tools::{Scripted, permissions, toolkit};

/// Runs our agent in a scenario.
pub(crate) async fn play(scenario: &Scenario) -> Essence {
    let mut player = Player::new(scenario);
    for turn in &scenario.turns {
        player.turn(turn).await;
    }
    let compressed = player.agent.state().compressed;
    assert_eq!(
        compressed.is_some(),
        !scenario.summaries.is_empty(),
        "{}: long conversations are summarised",
        scenario.name
    );
    if let Some(compressed) = compressed {
        assert_eq!(compressed.is_truncated, scenario.summaries[0].get("fails").is_some(), "{}", scenario.name);
        assert_eq!(compressed.transcript_files.is_empty(), !scenario.options.offload, "{}", scenario.name);
    }
    if player.agent.open_reply().is_none() {
        // The agent accepts another turn, however the last reply ended.
        presentable(&player.agent.messages());
    }
    let mut asked = player.model.requests();
    asked.extend(player.fallback.requests());
    player.played.essence(&asked)
}

struct Player<'a> {
    scenario: &'a Scenario,
    gates: Gates,
    scripted: Scripted,
    model: ScriptedModel,
    fallback: ScriptedModel,
    agent: Agent,
    /// The directory for offloaded content.
    offload_directory: tempfile::TempDir,
    /// The reply that was started last.
    reply_id: String,
    played: Playing,
}

impl<'a> Player<'a> {
    fn new(scenario: &'a Scenario) -> Self {
        let (gates, scripted) = (Gates::default(), Scripted::default());
        let model = model("script-model", &scenario.model, &gates);
        let fallback = crate::model::model("fallback-model", &scenario.fallback, &gates);
        let offload_directory = tempfile::tempdir().unwrap();
        let builder = builder(scenario, &gates, &scripted, &model, &fallback);
        let builder = offloading(scenario, builder, &offload_directory).permissions(permissions(scenario));
        let agent = builder.conversation(scenario.context.iter().map(message)).build().unwrap();
        let reply_id = String::new();
        Self {
            scenario,
            gates,
            scripted,
            model,
            fallback,
            agent,
            offload_directory,
            reply_id,
            played: Playing::default(),
        }
    }

    async fn turn(&mut self, turn: &Turn) {
        self.played.begin_turn();
        if turn.reload {
            let saved = SavedAgent::from_json(&self.agent.save().unwrap().to_json()).unwrap();
            let builder = builder(self.scenario, &self.gates, &self.scripted, &self.model, &self.fallback);
            self.agent = offloading(self.scenario, builder, &self.offload_directory).resume(saved).build().unwrap();
            return;
        }
        if let Some(text) = &turn.observe {
            self.agent.observe([Msg::user("user", text)]).unwrap();
            return;
        }
        let input = self.input(turn);
        let begun = match &turn.schema {
            Some(schema) => self.agent.reply_stream_with_schema(input, crate::model::json(schema)),
            None => self.agent.reply_stream(input),
        };
        let Ok(mut stream) = begun else { return self.played.refused() };
        let watching: Vec<_> = turn.during.iter().filter_map(|during| self.watch(during)).collect();
        while let Some(event) = stream.next().await {
            if let EventKind::ReplyStart(start) = &event.kind {
                self.reply_id = start.reply_id.to_string();
            }
            for during in turn.during.iter().filter(|during| follows(during, &event)) {
                act(during, &self.agent, &self.gates);
            }
            self.played.take(event, &self.scripted);
        }
        if stream.into_msg().await.is_err() {
            self.played.refused();
        }
        watching.iter().for_each(tokio::task::JoinHandle::abort);
    }

    /// Waits until a gate is reached, then runs the step that belongs to it.
    fn watch(&self, during: &During) -> Option<tokio::task::JoinHandle<()>> {
        let gate = self.gates.get(during.at.as_ref()?);
        let (during, agent, gates) = (during.clone(), self.agent.clone(), self.gates.clone());
        Some(tokio::spawn(async move {
            gate.reached().await;
            act(&during, &agent, &gates);
        }))
    }

    fn input(&self, turn: &Turn) -> Input {
        let reply_id = turn.reply.clone().unwrap_or_else(|| self.reply_id.clone());
        if let Some(text) = &turn.say {
            return Msg::user("user", text).into();
        }
        if let Some(messages) = &turn.messages {
            return messages.iter().map(message).collect::<Vec<_>>().into();
        }
        if let Some(confirm) = &turn.confirm {
            let results = confirm.iter().map(|confirm| self.confirm(confirm));
            return UserConfirmResultEvent::new(reply_id, results).into();
        }
        if let Some(results) = &turn.results {
            let results = results.iter().map(|result| self.result(result));
            return ExternalExecutionResultEvent::new(reply_id, results).into();
        }
        if turn.interrupt {
            return UserInterruptEvent::new(reply_id).into();
        }
        assert!(turn.none, "a turn without a step is marked with `none`");
        ().into()
    }

    fn confirm(&self, said: &Confirm) -> ConfirmResult {
        let known = calls(self.scenario);
        let (name, input) = known.get(&said.call).cloned().unwrap_or_default();
        let name = said.name.clone().unwrap_or(name);
        let call = ToolCallBlock::new(&said.call, name, said.input.clone().unwrap_or(input));
        let answer = if said.yes { ConfirmResult::allow(call) } else { ConfirmResult::deny(call) };
        match &said.rules {
            Some(rules) => answer.with_rules(rules.iter().map(rule)),
            None => answer,
        }
    }

    fn result(&self, said: &Outcome) -> ToolResultBlock {
        let known = calls(self.scenario);
        let name = said.name.clone().unwrap_or_else(|| known[&said.call].0.clone());
        let output = match &said.output {
            Output::Text(text) => {
                self.scripted.lock().unwrap().insert(text.clone());
                Payload::Text(text.clone())
            }
            Output::Blocks(blocks) => {
                let media = |block: &Block| -> MediaBlock {
                    let Block::Text { text } = block else { return data(block).unwrap().into() };
                    self.scripted.lock().unwrap().insert(text.clone());
                    TextBlock::new(text).into()
                };
                Payload::Blocks(blocks.iter().map(media).collect())
            }
        };
        let state = match said.state.as_deref() {
            None => ToolResultState::Success,
            Some("error") => ToolResultState::Error,
            Some("running") => ToolResultState::Running,
            Some(other) => panic!("unknown kind of results: {other}"),
        };
        ToolResultBlock::new(&said.call, name, output, state).with_metadata(object(&said.metadata))
    }
}

fn builder(
    scenario: &Scenario,
    gates: &Gates,
    scripted: &Scripted,
    model: &ScriptedModel,
    fallback: &ScriptedModel,
) -> AgentBuilder {
    let options = &scenario.options;
    let mut builder = Agent::builder("Friday")
        .system_prompt("Be brief.")
        .model(model.clone())
        .toolkit(toolkit(scenario, gates, scripted))
        .stop_on_reject(options.stop_on_reject)
        .raise_on_interrupt(options.raise_cancelled)
        .max_retries(options.retries)
        .runtime_state(options.injection.then(RuntimeState::default));
    if !scenario.fallback.is_empty() {
        builder = builder.fallback(fallback.clone());
    }
    if let Some(times) = options.max_iters {
        builder = builder.max_iterations(times);
    }
    if let Some(times) = options.grace_iters {
        builder = builder.structured_output_grace(times);
    }
    if let Some(tokens) = options.tool_result_limit {
        builder = builder.tool_result_limit(tokens);
    }
    if let Some(tokens) = options.context_size {
        builder = builder.compression(Compression::new(tokens).summary_model(summariser(scenario)));
    }
    if options.swallow_first_end {
        builder = builder.middleware(SwallowFirstEnd::default());
    }
    let gated = [(&options.gate_in_permission, false), (&options.gate_before_tools, true)];
    for (gate, only_confirmed) in gated {
        if let Some(gate) = gate {
            builder = builder.middleware(GatedPermission { gate: gates.get(gate), only_confirmed });
        }
    }
    builder
}

fn offloading(scenario: &Scenario, builder: AgentBuilder, offload_directory: &tempfile::TempDir) -> AgentBuilder {
    if scenario.options.offload { builder.offload(Offload::to(offload_directory.path())) } else { builder }
}

/// A model that returns the summaries of the scenario.
fn summariser(scenario: &Scenario) -> ScriptedModel {
    scenario.summaries.iter().fold(ScriptedModel::new(), |model, summary| match summary["fails"].as_str() {
        Some(message) => model.fails(message).then(),
        None => model.calls(STRUCTURED_OUTPUT, summary.to_string()).then(),
    })
}

fn follows(during: &During, event: &AgentEvent) -> bool {
    let call = match &event.kind {
        EventKind::ToolResultStart(event) => Some(&event.tool_call_id),
        EventKind::ToolResultTextDelta(event) => Some(&event.tool_call_id),
        EventKind::ToolResultEnd(event) => Some(&event.tool_call_id),
        _ => None,
    };
    during.after.as_deref() == Some(event.type_name()) && during.call.as_deref() == call.map(AsRef::as_ref)
}

fn act(during: &During, agent: &Agent, gates: &Gates) {
    match during.doing.as_deref() {
        Some("cancel") => assert!(agent.interrupt(), "a reply is in progress"),
        Some(other) => panic!("unknown action {other}"),
        None => {}
    }
    if let Some(gate) = &during.open {
        gates.get(gate).open();
    }
}

/// Returns the tools and arguments of the calls in a scenario, by call id.
fn calls(scenario: &Scenario) -> BTreeMap<String, (String, String)> {
    let mut calls = BTreeMap::<String, (String, String)>::new();
    let chunks = scenario.model.iter().flat_map(|call| match call {
        Call::Chunks { chunks, .. } => chunks.as_slice(),
        Call::Text(_) | Call::Fails { .. } | Call::Whole { .. } => &[],
    });
    for chunk in chunks {
        let Chunk::Blocks(blocks) = chunk else { continue };
        for block in blocks {
            if let Block::Call { call, tool, input } = block {
                let known = calls.entry(call.clone()).or_default();
                known.0.clone_from(tool);
                known.1.push_str(input);
            }
        }
    }
    calls
}

fn rule(value: &serde_json::Value) -> PermissionRule {
    use recount_message::PermissionBehavior as Behavior;
    let behavior = match value["behavior"].as_str().unwrap() {
        "allow" => Behavior::Allow,
        "deny" => Behavior::Deny,
        other => panic!("unknown rule behavior {other}"),
    };
    let rule = PermissionRule::new(value["tool_name"].as_str().unwrap(), value["rule_content"].as_str(), behavior);
    rule.with_source(value["source"].as_str().unwrap())
}

fn message(said: &Message) -> Msg {
    let role = match said.role.as_str() {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "system" => Role::System,
        other => panic!("unknown role {other}"),
    };
    let builder =
        Msg::builder().name(&said.name).role(role).content(said.content.iter().map(content).collect::<Vec<_>>());
    builder.build().unwrap()
}

fn content(block: &Block) -> ContentBlock {
    match block {
        Block::Text { text } => text.as_str().into(),
        Block::Call { call, tool, input } => ToolCallBlock::new(call, tool, input).into(),
        Block::Data { .. } | Block::Url { .. } => data(block).unwrap().into(),
        Block::Thinking { .. } => panic!("thinking in an input message"),
    }
}
