//! Preparing a call: finding its tool, parsing its arguments, and checking its permission.

use std::sync::Arc;

use recount_message::{Object, PermissionBehavior, PermissionRule, ToolCallBlock, ToolCallState, ToolResultState};

use super::active_reply::ActiveReply;
use super::jobs::Job;
use crate::future::catch_panic;
use crate::middleware::{Next, PermissionCheck};
use crate::permission::{Behavior, Coverage, Decision};
use crate::tool::{CompiledTool, ToolLookupError, arguments};

/// The outcome of preparing a call.
pub(super) enum PreparedCall {
    /// The call has its result.
    Finished,
    /// The call waits for an answer.
    Waiting,
    /// The tool can run.
    Run(Job),
    /// The reply was interrupted.
    Cancelled,
}

impl ActiveReply {
    /// Finds a tool by name.
    pub(crate) fn tool(&self, name: &str) -> Result<CompiledTool, ToolLookupError> {
        if let Some(output_tool) = self.output_tool.as_ref().filter(|output_tool| output_tool.tool.spec().name == name)
        {
            return Ok(output_tool.tool.clone());
        }
        self.shared.config.toolkit.find(name, &self.shared.lock().state.groups)
    }

    /// Prepares a call. `suggested` are the rules that the user is already asked to accept in this batch: if one of
    /// them covers the call, the call is not asked about until the user has answered.
    pub(super) async fn prepare(&mut self, id: &str, suggested: &mut Vec<PermissionRule>) -> PreparedCall {
        let Some(call) = self.message().call(id).cloned() else { return PreparedCall::Finished };
        let tool = match self.tool(&call.name) {
            Ok(tool) => tool,
            Err(unavailable) => return self.failed(id, &unavailable.to_string()),
        };
        let arguments = match arguments::parse(&call.input, &tool) {
            Ok(arguments) => arguments,
            Err(error) => return self.failed(id, &error.to_string()),
        };
        let Some(decided) = self.decide(&call, &tool, &arguments.object).await else { return PreparedCall::Cancelled };
        let decision = match decided {
            Ok(decision) => decision,
            Err(panic) => return self.failed(id, &format!("the permission check panicked: {panic}")),
        };
        match decision.behavior {
            Behavior::Deny => {
                self.write_result(id, &decision.message, ToolResultState::Denied);
                PreparedCall::Finished
            }
            Behavior::Ask => {
                let is_covered = !decision.for_safety && is_covered(&tool, &arguments.object, suggested);
                if !is_covered {
                    suggested.extend(decision.suggested_rules.iter().cloned());
                    self.ask_user(id, decision);
                }
                PreparedCall::Waiting
            }
            Behavior::Allow => self.allowed(&call, tool, arguments),
        }
    }

    fn failed(&mut self, id: &str, text: &str) -> PreparedCall {
        self.write_result(id, text, ToolResultState::Error);
        PreparedCall::Finished
    }

    /// Decides whether a call may run. Returns `None` if the reply was interrupted, and an error if the check panicked.
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
        let decision = catch_panic(Next::of(&layers).permission(check));
        self.cancel.run_until_cancelled(decision).await
    }

    fn ask_user(&mut self, id: &str, decision: Decision) {
        if let Some(call) = self.reply.unanswered_call(id) {
            self.reply.ask_with_reason(&call, decision.suggested_rules, decision.reason);
        }
    }

    /// Starts the result of an allowed call. Its tool runs here, or externally.
    fn allowed(&mut self, call: &ToolCallBlock, tool: CompiledTool, arguments: arguments::Arguments) -> PreparedCall {
        let both = (self.reply.unanswered_call(&call.id), self.reply.unanswered_call(&call.id));
        let (Some(unanswered), Some(submitted)) = both else { return PreparedCall::Finished };
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
            return PreparedCall::Waiting;
        }
        PreparedCall::Run(Job { call_id: call.id.clone(), tool, arguments: arguments.object })
    }
}

/// Returns whether a rule that the user is asked to accept covers a call.
fn is_covered(tool: &CompiledTool, arguments: &Object, suggested: &[PermissionRule]) -> bool {
    let of_tool = suggested
        .iter()
        .filter(|rule| rule.tool_name == tool.spec().name && rule.behavior == PermissionBehavior::Allow);
    let rules: Vec<&PermissionRule> = of_tool.collect();
    !rules.is_empty() && tool.rule_coverage(&rules, PermissionBehavior::Allow, arguments) == Coverage::Yes
}
