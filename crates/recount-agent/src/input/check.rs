//! An answer, held to what the reply waits for. It is looked at as a whole before any of it is applied.

use std::collections::HashSet;

use recount_message::{
    AgentEvent, ConfirmResult, EventKind, Json, Msg, PermissionRule, ToolCallBlock, ToolResultBlock, ToolResultState,
};

use super::InputRejection;
use crate::machine::{CallStatus, OpenCalls};
use crate::permission::Permissions;

/// What an answer says, once it is known to fit.
#[derive(Debug)]
pub(crate) enum Checked {
    /// The user's word, in the order of the calls.
    Confirmations(Vec<Confirmation>),
    /// Results from elsewhere, in their own order.
    Results(Vec<ToolResultBlock>),
    Interrupt,
    /// It is for an agent that works on this call.
    ForSubAgent(String),
}

/// The user's word about one call.
#[derive(Debug)]
pub(crate) struct Confirmation {
    pub(crate) call_id: String,
    pub(crate) is_allowed: bool,
    pub(crate) rules: Vec<PermissionRule>,
    /// Why it is refused, if that was said.
    pub(crate) reason: Option<String>,
}

/// So much of a reason the model is told.
const LONGEST_REASON: usize = 1_000;

/// What may be wrong with an answer beside its form.
pub(crate) trait Problems {
    /// What is wrong with the metadata of a tool's result.
    fn with_metadata(&self, result: &ToolResultBlock) -> Option<String>;

    /// What is wrong with the arguments that the user has given to a call.
    fn with_arguments(&self, edited: &ToolCallBlock) -> Option<String>;

    /// Returns the index of the first allow rule in an answer that does not cover the call as the user has edited it.
    /// `None` if all of them do, or if the arguments are the original ones in another notation.
    fn with_rules(&self, original: &ToolCallBlock, answer: &ConfirmResult) -> Option<usize>;

    /// When a call could last be confirmed, if that is over.
    fn expired(&self, call_id: &str) -> Option<String>;

    /// Whether an agent works on a call, so that nobody else has its result.
    fn has_sub_agent(&self, call_id: &str) -> bool;
}

/// Looks at an answer to a reply.
pub(crate) fn check(event: &AgentEvent, message: &Msg, problems: &impl Problems) -> Result<Checked, InputRejection> {
    let reply = CheckedReply { message, calls: OpenCalls::of(message) };
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
                if let Some(time) = problems.expired(&answer.tool_call.id) {
                    return Err(InputRejection::Expired { call_id: call_id(), time });
                }
                let original = message.call(&answer.tool_call.id);
                let Some(original) = original.filter(|call| call.input != answer.tool_call.input) else { continue };
                if answer.confirmed
                    && let Some(problem) = problems.with_arguments(&answer.tool_call)
                {
                    return Err(InputRejection::InvalidArguments { call_id: call_id(), problem });
                }
                if let Some(index) = problems.with_rules(original, answer) {
                    let rule = answer.rules.iter().flatten().nth(index).map(shown).unwrap_or_default();
                    return Err(InputRejection::RuleNotCovering { call_id: call_id(), index, rule });
                }
            }
            Ok(Checked::Confirmations(reply.in_order(&kind.confirm_results)))
        }
        EventKind::ExternalExecutionResult(kind) => {
            if kind.execution_results.is_empty() {
                return Err(InputRejection::Empty { reply_id: reply_id() });
            }
            unique(kind.execution_results.iter().map(|result| result.id.as_str()))?;
            for result in &kind.execution_results {
                reply.result(result)?;
                if problems.has_sub_agent(&result.id) {
                    return Err(InputRejection::NotWaiting { call_id: result.id.clone(), what: "a result" });
                }
                if let Some(problem) =
                    problems.with_metadata(result).filter(|_| result.state == ToolResultState::Success)
                {
                    return Err(InputRejection::InvalidMetadata { call_id: result.id.clone(), problem });
                }
            }
            Ok(Checked::Results(kind.execution_results.clone()))
        }
        EventKind::UserInterrupt(_) => Ok(Checked::Interrupt),
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

struct CheckedReply<'m> {
    message: &'m Msg,
    calls: OpenCalls,
}

impl CheckedReply<'_> {
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

    /// The call with an id, if it stands where it has to.
    fn call(&self, id: &str, wanted: CallStatus, what: &'static str) -> Result<&ToolCallBlock, InputRejection> {
        let Some(call) = self.message.call(id) else {
            return Err(InputRejection::UnknownCall { reply_id: self.message.id().to_owned(), call_id: id.to_owned() });
        };
        let call_id = || id.to_owned();
        match self.calls.iter().find(|(open, _)| *open == id) {
            Some((_, status)) if status == wanted => Ok(call),
            // What was allowed or refused before was a confirmation's doing, or a rule's.
            Some((_, CallStatus::Allowed | CallStatus::Denied | CallStatus::Running)) | None => {
                Err(InputRejection::AlreadyAnswered { call_id: call_id() })
            }
            Some(_) => Err(InputRejection::NotWaiting { call_id: call_id(), what }),
        }
    }

    /// The confirmations in the order of their calls, whatever order they came in.
    fn in_order(&self, answers: &[ConfirmResult]) -> Vec<Confirmation> {
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

/// Why a call is refused, if the answer says so.
fn reason(answer: &ConfirmResult) -> Option<String> {
    let said = answer.extra.get("reason").and_then(Json::as_str).map(str::to_owned)?;
    let said: String = said.trim().chars().take(LONGEST_REASON).collect();
    (!said.is_empty()).then_some(said)
}

/// Returns a rule as text, such as `shell(ls:*)`.
fn shown(rule: &PermissionRule) -> String {
    match rule.rule_content.as_deref() {
        None | Some("") => rule.tool_name.clone(),
        Some(content) => format!("{}({content})", rule.tool_name),
    }
}

/// An answer cannot change which tool was called.
fn same_tool(call: &ToolCallBlock, named: &str) -> Result<(), InputRejection> {
    if named == call.name {
        return Ok(());
    }
    Err(InputRejection::ToolMismatch { call_id: call.id.clone(), called: call.name.clone(), named: named.to_owned() })
}
