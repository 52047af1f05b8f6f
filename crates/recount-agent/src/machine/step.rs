//! The next step of a reply.

use std::cmp::Ordering;

use recount_message::{ContentBlock, Msg};

use super::calls::{CallStatus, OpenCalls};
use crate::state::{Phase, ReplyState, Stop, StopAfter};

/// How far a reply may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// How often the model is asked. After that it is asked once more, without tools, for a last word.
    pub max_iterations: u32,
    /// How often more it is asked where it owes a structured output.
    pub grace_iterations: u32,
    /// Whether the reply ends when the user refuses a call.
    pub stop_on_reject: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_iterations: 50, grace_iterations: 5, stop_on_reject: false }
    }
}

/// What comes next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// The model is asked.
    CallModel(CallPlan),
    /// These calls are worked on, in this order.
    RunTools(Vec<String>),
    /// Nothing, until somebody answers.
    Wait(PendingCalls),
    /// The reply ends.
    End(EndReason),
}

/// How the model is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallPlan {
    /// Which tools it may call.
    pub tool_policy: ToolPolicy,
    /// What it is told about the course of the reply. That is a part of the request and not of the message.
    pub control_hint: Option<ControlHint>,
}

/// Which tools the model may call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolPolicy {
    /// Any or none.
    Any,
    /// None.
    None,
    /// It has to give the structured output.
    StructuredOutput,
}

/// What the model is told about the course of the reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ControlHint {
    /// It has to give its answer in a form.
    StructuredOutput,
    /// It has to come to an end.
    LastIteration,
}

/// What a reply waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingCalls {
    /// The calls that the user has to allow or refuse.
    pub confirmations: Vec<String>,
    /// The calls that somebody else runs.
    pub results: Vec<String>,
}

/// How a reply ends by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EndReason {
    /// The model has said what it had to say.
    Completed,
    /// The structured output is there.
    Structured,
    /// There were too many rounds.
    Exceeded,
    /// Somebody asked for it.
    Stopped(Stop),
}

/// What comes next in a reply, of whose blocks those from `call_floor` on are the last answer of the model and what was made
/// of it.
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

/// Whether the model's last answer is its last word: it called nothing, and it did more than think.
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
