//! The state of background tools.

use recount_message::{HintBlock, HintLabel, Msg};
use serde::{Deserialize, Serialize};

use super::AgentState;

/// A call of a background tool whose result the model does not have yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct BackgroundCall {
    /// The id of the reply that started it.
    pub reply_id: String,
    /// The id of the call in that reply.
    pub call_id: String,
    /// The name of the tool.
    pub tool: String,
}

impl BackgroundCall {
    pub(crate) fn new(reply_id: &str, call_id: &str, tool: &str) -> Self {
        Self { reply_id: reply_id.to_owned(), call_id: call_id.to_owned(), tool: tool.to_owned() }
    }

    /// Returns the id of the hint with the result. It is derived from the call, so that the result is passed on only
    /// once.
    pub(crate) fn outcome_id(&self) -> String {
        outcome_id(&self.call_id)
    }

    /// Returns the hint for a call whose result is unknown.
    fn lost_hint(&self) -> HintBlock {
        let Self { call_id, tool, .. } = self;
        let text = format!(
            "`{tool}` (call {call_id}) was running in the background when the process stopped. Whether it took effect is \
             unknown: check before you call it again."
        );
        background_hint(text, call_id, tool)
    }
}

/// Returns the id of the hint with the result of a background call.
fn outcome_id(call_id: &str) -> String {
    format!("{call_id}.outcome")
}

/// Returns a hint with the result of a background call.
pub(crate) fn background_hint(hint: impl Into<recount_message::Payload>, call_id: &str, tool: &str) -> HintBlock {
    let label = HintLabel::new("Background tool").with_sublabel(tool);
    HintBlock::new(hint).with_id(outcome_id(call_id)).with_label(&label)
}

impl AgentState {
    /// Queues a hint for the next model call.
    pub(crate) fn queue_hint(&mut self, hint: HintBlock) {
        self.background.retain(|call| call.outcome_id() != hint.id);
        self.hints.push(hint);
    }

    /// Queues hints for background calls that died with their process. Calls for which `runs` returns `true` are kept,
    /// because they still run and their results will be passed on.
    pub(crate) fn fail_lost_background(&mut self, messages: &[&Msg], runs: impl Fn(&BackgroundCall) -> bool) {
        let is_reported = |call: &BackgroundCall| {
            let since = messages.iter().skip_while(|message| message.id() != call.reply_id);
            since.flat_map(|message| message.blocks::<HintBlock>()).any(|hint| hint.id == call.outcome_id())
        };
        for call in std::mem::take(&mut self.background) {
            let is_known = is_reported(&call) || self.hints.iter().any(|hint| hint.id == call.outcome_id());
            if !is_known && runs(&call) {
                self.background.push(call);
            } else if !is_known {
                self.hints.push(call.lost_hint());
            }
        }
    }
}
