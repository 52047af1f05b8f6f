//! The tools of a scenario.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use recount_agent::BoxFuture;
use recount_agent::permission::{Mode, PermissionContext, Permissions, ToolPermission};
use recount_agent::tool::{Tool, ToolContext, ToolError, ToolGroup, ToolOutput, ToolSpec, Toolkit};
use recount_message::{Json, MediaBlock, Object, Payload, PermissionBehavior, PermissionRule, TextBlock};

use crate::gates::Gates;
use crate::model::{data, json, object};
use crate::script::{self, Block, Scenario, Step};

/// The texts that the script contains, to tell them apart from the agent's own texts.
pub(crate) type Scripted = Arc<Mutex<BTreeSet<String>>>;

struct ScriptedTool {
    spec: ToolSpec,
    script: script::Tool,
    gates: Gates,
    scripted: Scripted,
}

impl ScriptedTool {
    fn new(script: &script::Tool, gates: &Gates, scripted: &Scripted) -> Self {
        let schema = script
            .schema
            .clone()
            .unwrap_or_else(|| serde_json::json!({"type": "object", "properties": {"x": {"type": "string"}}}));
        let mut spec = ToolSpec::new(&script.name, "A tool.").parameters(json(&schema));
        spec.concurrency_safe = script.concurrent;
        spec.external = script.external;
        spec.group.clone_from(&script.group);
        spec.metadata_schema = script.metadata_schema.as_ref().map(json);
        Self { spec, script: script.clone(), gates: gates.clone(), scripted: Arc::clone(scripted) }
    }

    /// Returns the text of a step, and records that it is part of the script.
    fn said(&self, text: &str, arguments: &Object) -> String {
        let x = arguments.get("x").and_then(Json::as_str).map(str::to_owned).unwrap_or_default();
        let text = text.replace("{x}", &x);
        self.scripted.lock().unwrap().insert(text.clone());
        text
    }

    fn payload(&self, blocks: &[Block], arguments: &Object) -> Payload {
        let block = |block: &Block| match block {
            Block::Text { text } => MediaBlock::Text(TextBlock::new(self.said(text, arguments))),
            other => MediaBlock::Data(data(other).unwrap()),
        };
        Payload::Blocks(blocks.iter().map(block).collect())
    }

    async fn steps(&self, arguments: &Object, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let Some(steps) = &self.script.steps else {
            let text = format!("{}({})", self.script.name, arguments.to_json());
            self.scripted.lock().unwrap().insert(text.clone());
            return Ok(ToolOutput::new(text));
        };
        let mut known = Object::new();
        let mut output = ToolOutput::new(Payload::Blocks(Vec::new()));
        for (number, step) in steps.iter().enumerate() {
            let (payload, has_failed, metadata) = match step {
                Step::Gate { gate } => {
                    self.gates.get(gate).pass().await;
                    continue;
                }
                Step::Raises { raises } => return Err(ToolError::new(self.said(raises, arguments))),
                // Our tools cannot raise a cancellation, so the tool fails instead.
                Step::Cancels { .. } => return Err(ToolError::new("cancelled")),
                // Our tools cannot return an invalid value, so the tool panics instead.
                Step::BreaksContract { .. } => panic!("invalid tool result"),
                Step::Blocks { blocks, metadata } => (self.payload(blocks, arguments), false, metadata),
                Step::Block { block, state, metadata } => {
                    let payload = self.payload(std::slice::from_ref(block), arguments);
                    (payload, state.as_deref() == Some("error"), metadata)
                }
            };
            object(metadata).iter().for_each(|(key, value)| known.insert(key, value.clone()));
            if number + 1 < steps.len() {
                show(payload, context).await;
            } else {
                output = if has_failed { ToolOutput::failed(payload) } else { ToolOutput::new(payload) };
            }
        }
        Ok(output.with_metadata(known))
    }
}

async fn show(payload: Payload, context: &ToolContext) {
    for block in payload.blocks() {
        match block {
            MediaBlock::Text(block) => context.write_text(&block.text).await,
            MediaBlock::Data(block) => context.write_data(block.clone()).await,
            _ => panic!("unsupported block"),
        }
    }
}

impl Tool for ScriptedTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn run<'a>(&'a self, arguments: Object, context: &'a ToolContext) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move { self.steps(&arguments, context).await })
    }

    fn check_permission<'a>(
        &'a self,
        _arguments: &'a Object,
        _context: &'a PermissionContext,
    ) -> BoxFuture<'a, ToolPermission> {
        let reason = self.script.reason.clone().unwrap_or_else(|| "because".to_owned());
        let permission = match self.script.opinion.as_deref() {
            Some("allow") => ToolPermission::Allow,
            Some("deny") => ToolPermission::Deny(reason),
            Some("ask") => ToolPermission::Ask(reason),
            Some("ask_for_safety") => ToolPermission::AskForSafety(reason),
            None => ToolPermission::Passthrough,
            Some(other) => panic!("unknown permission {other}"),
        };
        Box::pin(async { permission })
    }
}

pub(crate) fn toolkit(scenario: &Scenario, gates: &Gates, scripted: &Scripted) -> Toolkit {
    let groups = scenario.groups.iter().fold(Toolkit::new(), |toolkit, group| {
        toolkit.with_group(ToolGroup::new(&group.name, &group.description)).unwrap()
    });
    scenario.tools.iter().fold(groups, |toolkit, tool| toolkit.with(ScriptedTool::new(tool, gates, scripted)).unwrap())
}

pub(crate) fn permissions(scenario: &Scenario) -> Permissions {
    let said = &scenario.permissions;
    let mode = said.mode.as_ref().map_or(Mode::Default, |mode| serde_json::from_value(mode.as_str().into()).unwrap());
    let rules = [
        (&said.allow, PermissionBehavior::Allow),
        (&said.deny, PermissionBehavior::Deny),
        (&said.ask, PermissionBehavior::Ask),
    ];
    let rules = rules.into_iter().flat_map(|(tools, behavior)| tools.iter().map(move |tool| (tool, behavior)));
    rules.fold(Permissions::new(mode), |permissions, (tool, behavior)| {
        permissions.with_rule(PermissionRule::new(tool, None, behavior))
    })
}
