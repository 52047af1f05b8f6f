//! Validating an answer against the calls that wait, as a whole and before any part of it is applied.

use std::collections::HashSet;

use recount_message::{
    AgentEvent, ConfirmResult, EventKind, Json, Msg, PermissionRule, ToolCallBlock, ToolResultBlock, ToolResultState,
};

use super::InputRejection;
use crate::machine::{CallStatus, OpenCalls};
use crate::permission::Permissions;

/// A validated answer.
#[derive(Debug)]
pub(crate) enum ValidatedAnswer {
    /// Confirmations, in the order of the calls.
    Confirmations(Vec<Confirmation>),
    /// External results, in the order of the answer.
    Results(Vec<ToolResultBlock>),
    Interrupt,
    /// An answer for the sub-agent of this call.
    ForSubAgent(String),
}

/// The user's decision about one call.
#[derive(Debug)]
pub(crate) struct Confirmation {
    pub(crate) call_id: String,
    pub(crate) is_allowed: bool,
    pub(crate) rules: Vec<PermissionRule>,
    /// The reason for a denial.
    pub(crate) reason: Option<String>,
}

/// The maximum length of a reason, in characters. The rest is cut off.
const MAX_REASON_CHARS: usize = 1_000;

/// The checks of an answer that depend on the agent's tools and state.
pub(crate) trait AnswerValidator {
    /// Validates the metadata of a result. Returns the error as text.
    fn metadata_error(&self, result: &ToolResultBlock) -> Option<String>;

    /// Validates arguments that the user has edited. Returns the error as text.
    fn argument_error(&self, edited: &ToolCallBlock) -> Option<String>;

    /// Returns the index of the first allow rule in an answer that does not cover the call as the user has edited it.
    /// `None` if all rules cover it, or if the arguments are equal to the original ones.
    fn uncovered_rule(&self, original: &ToolCallBlock, answer: &ConfirmResult) -> Option<usize>;

    /// Returns the time at which a call has expired. `None` if it can still be confirmed.
    fn expiry(&self, call_id: &str) -> Option<String>;

    /// Returns whether a sub-agent works on a call, so that its result cannot come from outside.
    fn has_sub_agent(&self, call_id: &str) -> bool;
}

/// Validates an answer to a reply.
pub(crate) fn validate_answer(
    event: &AgentEvent,
    message: &Msg,
    validator: &impl AnswerValidator,
) -> Result<ValidatedAnswer, InputRejection> {
    let reply = ReplyCalls { message, calls: OpenCalls::of(message) };
    let reply_id = || message.id().to_owned();
    match &event.kind {
        EventKind::UserConfirmResult(kind) => {
            if kind.confirm_results.is_empty() {
                return Err(InputRejection::Empty { reply_id: reply_id() });
            }
            unique(kind.confirm_results.iter().map(|answer| answer.tool_call.id.as_str()))?;
            for answer in &kind.confirm_results {
                reply.confirmation(answer)?;
                let call_id = || answer.tool_call.id.clone();
                if let Some(time) = validator.expiry(&answer.tool_call.id) {
                    return Err(InputRejection::Expired { call_id: call_id(), time });
                }
                let original = message.call(&answer.tool_call.id);
                let Some(original) = original.filter(|call| call.input != answer.tool_call.input) else { continue };
                if answer.confirmed
                    && let Some(problem) = validator.argument_error(&answer.tool_call)
                {
                    return Err(InputRejection::InvalidArguments { call_id: call_id(), problem });
                }
                if let Some(index) = validator.uncovered_rule(original, answer) {
                    let rule = answer.rules.iter().flatten().nth(index).map(rule_text).unwrap_or_default();
                    return Err(InputRejection::RuleNotCovering { call_id: call_id(), index, rule });
                }
            }
            Ok(ValidatedAnswer::Confirmations(reply.confirmations_in_call_order(&kind.confirm_results)))
        }
        EventKind::ExternalExecutionResult(kind) => {
            if kind.execution_results.is_empty() {
                return Err(InputRejection::Empty { reply_id: reply_id() });
            }
            unique(kind.execution_results.iter().map(|result| result.id.as_str()))?;
            for result in &kind.execution_results {
                reply.result(result)?;
                if validator.has_sub_agent(&result.id) {
                    return Err(InputRejection::NotWaiting { call_id: result.id.clone(), what: "a result" });
                }
                if let Some(problem) =
                    validator.metadata_error(result).filter(|_| result.state == ToolResultState::Success)
                {
                    return Err(InputRejection::InvalidMetadata { call_id: result.id.clone(), problem });
                }
            }
            Ok(ValidatedAnswer::Results(kind.execution_results.clone()))
        }
        EventKind::UserInterrupt(_) => Ok(ValidatedAnswer::Interrupt),
        _ => Err(InputRejection::UnsupportedEvent { type_name: event.type_name().to_owned() }),
    }
}

fn unique<'i>(ids: impl Iterator<Item = &'i str>) -> Result<(), InputRejection> {
    let mut seen = HashSet::new();
    for id in ids {
        if !seen.insert(id) {
            return Err(InputRejection::AlreadyAnswered { call_id: id.to_owned() });
        }
    }
    Ok(())
}

struct ReplyCalls<'m> {
    message: &'m Msg,
    calls: OpenCalls,
}

impl ReplyCalls<'_> {
    fn confirmation(&self, answer: &ConfirmResult) -> Result<(), InputRejection> {
        let call = self.call(&answer.tool_call.id, CallStatus::Asking, "a confirmation")?;
        same_tool(call, &answer.tool_call.name)?;
        let rules = answer.rules.clone().unwrap_or_default();
        Permissions::default()
            .accept(rules, &call.name)
            .map_err(|source| InputRejection::InvalidRules { call_id: call.id.clone(), source })?;
        Ok(())
    }

    fn result(&self, result: &ToolResultBlock) -> Result<(), InputRejection> {
        let call = self.call(&result.id, CallStatus::Submitted, "a result")?;
        same_tool(call, &result.name)?;
        if result.state == ToolResultState::Running {
            return Err(InputRejection::NotFinal { call_id: call.id.clone() });
        }
        Ok(())
    }

    /// Returns a call if it has the required status.
    fn call(&self, id: &str, wanted: CallStatus, what: &'static str) -> Result<&ToolCallBlock, InputRejection> {
        let Some(call) = self.message.call(id) else {
            return Err(InputRejection::UnknownCall { reply_id: self.message.id().to_owned(), call_id: id.to_owned() });
        };
        let call_id = || id.to_owned();
        match self.calls.iter().find(|(open, _)| *open == id) {
            Some((_, status)) if status == wanted => Ok(call),
            // The call was decided before, by a confirmation or a rule.
            Some((_, CallStatus::Allowed | CallStatus::Denied | CallStatus::Running)) | None => {
                Err(InputRejection::AlreadyAnswered { call_id: call_id() })
            }
            Some(_) => Err(InputRejection::NotWaiting { call_id: call_id(), what }),
        }
    }

    /// Returns the confirmations in the order of their calls.
    fn confirmations_in_call_order(&self, answers: &[ConfirmResult]) -> Vec<Confirmation> {
        let answer = |id: &str| answers.iter().find(|answer| answer.tool_call.id == id);
        let given = self.calls.iter().filter_map(|(id, _)| answer(id));
        given
            .map(|answer| Confirmation {
                call_id: answer.tool_call.id.clone(),
                is_allowed: answer.confirmed,
                rules: answer.rules.clone().unwrap_or_default(),
                reason: reason(answer),
            })
            .collect()
    }
}

/// Returns the reason for a denial, if the answer has one.
fn reason(answer: &ConfirmResult) -> Option<String> {
    let text = answer.extra.get("reason").and_then(Json::as_str).map(str::to_owned)?;
    let text: String = text.trim().chars().take(MAX_REASON_CHARS).collect();
    (!text.is_empty()).then_some(text)
}

/// Returns a rule as text, such as `shell(ls:*)`.
fn rule_text(rule: &PermissionRule) -> String {
    match rule.rule_content.as_deref() {
        None | Some("") => rule.tool_name.clone(),
        Some(content) => format!("{}({content})", rule.tool_name),
    }
}

/// Rejects an answer that names another tool than the call.
fn same_tool(call: &ToolCallBlock, named: &str) -> Result<(), InputRejection> {
    if named == call.name {
        return Ok(());
    }
    Err(InputRejection::ToolMismatch { call_id: call.id.clone(), called: call.name.clone(), named: named.to_owned() })
}
