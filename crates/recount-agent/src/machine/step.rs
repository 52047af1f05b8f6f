//! Computing the next step of a reply.

use std::cmp::Ordering;

use recount_message::{ContentBlock, Msg};

use super::calls::{CallStatus, OpenCalls};
use crate::state::{Phase, ReplyState, Stop, StopAfter};

/// The limits of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The maximum number of model calls. One more call without tools follows, for a final answer.
    pub max_iterations: u32,
    /// The maximum number of additional model calls if the structured output is missing.
    pub grace_iterations: u32,
    /// Whether the reply ends when the user denies a call.
    pub stop_on_reject: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_iterations: 50, grace_iterations: 5, stop_on_reject: false }
    }
}

/// The next step of a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Call the model.
    CallModel(CallPlan),
    /// Run these calls, in this order.
    RunTools(Vec<String>),
    /// Wait for answers.
    Wait(PendingCalls),
    /// End the reply.
    End(EndReason),
}

/// The plan for a model call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallPlan {
    /// The tools that the model may call.
    pub tool_policy: ToolPolicy,
    /// An instruction that is added to the request only, not to the message.
    pub control_hint: Option<ControlHint>,
}

/// The tools that the model may call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolPolicy {
    /// All tools, or none.
    Any,
    /// No tools.
    None,
    /// The model must call the tool for structured output.
    StructuredOutput,
}

/// An instruction to the model about the state of the reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ControlHint {
    /// Return structured output.
    StructuredOutput,
    /// Write the final answer.
    LastIteration,
}

/// The calls that a reply waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingCalls {
    /// The calls that wait for a confirmation by the user.
    pub confirmations: Vec<String>,
    /// The calls that wait for an external result.
    pub results: Vec<String>,
}

/// The reason for the end of a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EndReason {
    /// The model has written its final answer.
    Completed,
    /// The structured output is complete.
    Structured,
    /// The maximum number of model calls was reached.
    Exceeded,
    /// The end was requested.
    Stopped(Stop),
}

/// Returns the next step of a reply. The blocks from index `call_floor` on are the output of the last model call, with
/// the results of its calls.
///
/// ```
/// use recount_agent::ReplyState;
/// use recount_agent::machine::{Limits, Step, next_step};
/// use recount_message::{Msg, ToolCallBlock, ToolCallState};
///
/// let asked = ToolCallBlock::new("c1", "shell", "{}").with_state(ToolCallState::Asking);
/// let message = Msg::assistant("Friday", asked).with_id("r1");
/// let Step::Wait(waiting) = next_step(&ReplyState::new("r1"), &message, 0, &Limits::default()) else { panic!() };
/// assert_eq!(waiting.confirmations, ["c1"]);
/// ```
#[must_use]
pub fn next_step(reply: &ReplyState, message: &Msg, call_floor: usize, limits: &Limits) -> Step {
    if let Some(stop) = &reply.stop {
        return Step::End(EndReason::Stopped(stop.clone()));
    }
    if reply.rejected && limits.stop_on_reject {
        let stop = Stop { reason: "the user refused a call".to_owned(), after: StopAfter::Rejection };
        return Step::End(EndReason::Stopped(stop));
    }
    let calls = OpenCalls::of(message);
    let executable = calls.executable();
    if !executable.is_empty() {
        return Step::RunTools(executable);
    }
    if calls.is_waiting() {
        let confirmations = calls.with_status(CallStatus::Asking);
        return Step::Wait(PendingCalls { confirmations, results: calls.with_status(CallStatus::Submitted) });
    }
    if reply.schema.is_some() { structured(reply, limits) } else { plain(reply, message, call_floor, limits) }
}

fn structured(reply: &ReplyState, limits: &Limits) -> Step {
    if reply.structured_output.is_some() {
        return Step::End(EndReason::Structured);
    }
    if reply.iteration >= limits.max_iterations.saturating_add(limits.grace_iterations) {
        return Step::End(EndReason::Exceeded);
    }
    let is_forced = reply.iteration >= limits.max_iterations;
    let tool_policy = if is_forced { ToolPolicy::StructuredOutput } else { ToolPolicy::Any };
    Step::CallModel(CallPlan { tool_policy, control_hint: Some(ControlHint::StructuredOutput) })
}

fn plain(reply: &ReplyState, message: &Msg, call_floor: usize, limits: &Limits) -> Step {
    let is_final = reply.phase == Phase::Answered && is_final(message, call_floor);
    match reply.iteration.cmp(&limits.max_iterations) {
        Ordering::Greater => Step::End(EndReason::Exceeded),
        Ordering::Less | Ordering::Equal if is_final => Step::End(EndReason::Completed),
        Ordering::Equal => {
            Step::CallModel(CallPlan { tool_policy: ToolPolicy::None, control_hint: Some(ControlHint::LastIteration) })
        }
        Ordering::Less => Step::CallModel(CallPlan { tool_policy: ToolPolicy::Any, control_hint: None }),
    }
}

/// Returns whether the output of the last model call is final: it has no tool calls, and not only thinking.
fn is_final(message: &Msg, call_floor: usize) -> bool {
    let said = message.content().get(call_floor..).unwrap_or_default();
    let mut thought = false;
    let mut spoke = false;
    for block in said {
        match block {
            ContentBlock::ToolCall(_) | ContentBlock::ToolResult(_) => return false,
            ContentBlock::Thinking(_) => thought = true,
            ContentBlock::Text(_) | ContentBlock::Data(_) | ContentBlock::Unknown(_) => spoke = true,
            ContentBlock::Hint(_) | _ => {}
        }
    }
    spoke || !thought
}
