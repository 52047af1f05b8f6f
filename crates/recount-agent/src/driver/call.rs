//! One call: from what the model wrote to a tool that may run.

use std::sync::Arc;

use recount_message::{Object, PermissionBehavior, PermissionRule, ToolCallBlock, ToolCallState, ToolResultState};

use super::active_reply::ActiveReply;
use super::jobs::Job;
use crate::future::caught;
use crate::middleware::{Next, PermissionCheck};
use crate::permission::{Behavior, Coverage, Decision};
use crate::tool::{CompiledTool, ToolLookupError, arguments};

/// What became of a call that was looked at.
pub(super) enum Prepared {
    /// It has its result.
    Settled,
    /// Somebody has to answer first.
    Parked,
    /// Its tool can run.
    Run(Job),
    /// The reply was interrupted meanwhile.
    Cancelled,
}

impl ActiveReply {
    /// The tool that a call is for.
    pub(crate) fn tool(&self, name: &str) -> Result<CompiledTool, ToolLookupError> {
        if let Some(form) = self.form.as_ref().filter(|form| form.tool.spec().name == name) {
            return Ok(form.tool.clone());
        }
        self.shared.config.toolkit.find(name, &self.shared.lock().state.groups)
    }

    /// Looks at a call: finds its tool, reads its arguments, asks for permission. `suggested` are the rules that the user
    /// is asked to accept already: a call that one of them would cover is asked about after they have answered.
    pub(super) async fn prepare(&mut self, id: &str, suggested: &mut Vec<PermissionRule>) -> Prepared {
        let Some(call) = self.message().call(id).cloned() else { return Prepared::Settled };
        let tool = match self.tool(&call.name) {
            Ok(tool) => tool,
            Err(unavailable) => return self.failed(id, &unavailable.to_string()),
        };
        let arguments = match arguments::parse(&call.input, &tool) {
            Ok(arguments) => arguments,
            Err(error) => return self.failed(id, &error.to_string()),
        };
        let Some(decided) = self.decide(&call, &tool, &arguments.object).await else { return Prepared::Cancelled };
        let decision = match decided {
            Ok(decision) => decision,
            Err(panic) => return self.failed(id, &format!("whether the call may run could not be decided: {panic}")),
        };
        match decision.behavior {
            Behavior::Deny => {
                self.settle(id, &decision.message, ToolResultState::Denied);
                Prepared::Settled
            }
            Behavior::Ask => {
                let is_covered = !decision.for_safety && is_covered(&tool, &arguments.object, suggested);
                if !is_covered {
                    suggested.extend(decision.suggested_rules.iter().cloned());
                    self.ask_user(id, decision);
                }
                Prepared::Parked
            }
            Behavior::Allow => self.allowed(&call, tool, arguments),
        }
    }

    fn failed(&mut self, id: &str, text: &str) -> Prepared {
        self.settle(id, text, ToolResultState::Error);
        Prepared::Settled
    }

    /// The decision about a call; an error if deciding panicked, and nothing if the reply was interrupted meanwhile.
    async fn decide(
        &mut self,
        call: &ToolCallBlock,
        tool: &CompiledTool,
        arguments: &Object,
    ) -> Option<Result<Decision, String>> {
        let permissions = Arc::new(self.shared.lock().state.permissions.clone());
        let check = PermissionCheck {
            call_id: call.id.clone(),
            tool: tool.clone(),
            arguments: arguments.clone(),
            is_confirmed: call.state == ToolCallState::Allowed,
            permissions,
        };
        let layers = Arc::clone(&self.shared.config.middleware);
        let decision = caught(Next::of(&layers).permission(check));
        self.cancel.run_until_cancelled(decision).await
    }

    fn ask_user(&mut self, id: &str, decision: Decision) {
        if let Some(call) = self.reply.unanswered_call(id) {
            self.reply.ask_with_reason(&call, decision.suggested_rules, decision.reason);
        }
    }

    /// The call may run: it does, or somebody else is told to run it.
    fn allowed(&mut self, call: &ToolCallBlock, tool: CompiledTool, arguments: arguments::Arguments) -> Prepared {
        let both = (self.reply.unanswered_call(&call.id), self.reply.unanswered_call(&call.id));
        let (Some(unanswered), Some(submitted)) = both else { return Prepared::Settled };
        if call.state != ToolCallState::Allowed {
            self.reply.allow(&unanswered);
        }
        let mut extra = Object::new();
        if arguments.is_repaired() {
            let repairs: Vec<String> = arguments.repaired.iter().map(ToString::to_string).collect();
            extra.insert("repaired", repairs);
        }
        let _open = self.reply.tool_result_with(unanswered, extra);
        if tool.spec().external {
            self.reply.submit(&[&submitted]);
            return Prepared::Parked;
        }
        Prepared::Run(Job { call_id: call.id.clone(), tool, arguments: arguments.object })
    }
}

/// Whether a rule that the user is asked to accept would answer for a call too.
fn is_covered(tool: &CompiledTool, arguments: &Object, suggested: &[PermissionRule]) -> bool {
    let of_tool = suggested
        .iter()
        .filter(|rule| rule.tool_name == tool.spec().name && rule.behavior == PermissionBehavior::Allow);
    let rules: Vec<&PermissionRule> = of_tool.collect();
    !rules.is_empty() && tool.rule_coverage(&rules, PermissionBehavior::Allow, arguments) == Coverage::Yes
}
