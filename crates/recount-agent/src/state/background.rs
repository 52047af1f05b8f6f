//! What is known of tools that work in the background.

use recount_message::{HintBlock, HintLabel, Msg};
use serde::{Deserialize, Serialize};

use super::AgentState;

/// A tool that works in the background, until the model is told what came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct BackgroundCall {
    /// The reply that started it.
    pub reply_id: String,
    /// Its call in that reply.
    pub call_id: String,
    /// Its name.
    pub tool: String,
}

impl BackgroundCall {
    pub(crate) fn new(reply_id: &str, call_id: &str, tool: &str) -> Self {
        Self { reply_id: reply_id.to_owned(), call_id: call_id.to_owned(), tool: tool.to_owned() }
    }

    /// The id of the hint that tells what came of it. It follows from the call's, so that it cannot be told twice.
    pub(crate) fn outcome_id(&self) -> String {
        outcome_id(&self.call_id)
    }

    /// What the model is told when nobody knows what came of it.
    fn lost(&self) -> HintBlock {
        let Self { call_id, tool, .. } = self;
        let text = format!(
            "`{tool}` (call {call_id}) was running in the background when the process stopped. Whether it did its work is not \
             known: find out before you call it again."
        );
        background_hint(text, call_id, tool)
    }
}

/// The id of the hint that tells what came of a call in the background.
fn outcome_id(call_id: &str) -> String {
    format!("{call_id}.outcome")
}

/// A hint that tells what came of a call in the background.
pub(crate) fn background_hint(hint: impl Into<recount_message::Payload>, call_id: &str, tool: &str) -> HintBlock {
    let label = HintLabel::new("Background tool").with_sublabel(tool);
    HintBlock::new(hint).with_id(outcome_id(call_id)).with_label(&label)
}

impl AgentState {
    /// Takes a hint, to be said to the model before it is asked the next time.
    pub(crate) fn take_hint(&mut self, hint: HintBlock) {
        self.background.retain(|call| call.outcome_id() != hint.id);
        self.hints.push(hint);
    }

    /// Sees to it that the model is told of tools in the background whose process died. Those that `runs` knows go on elsewhere,
    /// and will be told of by whoever has them.
    pub(crate) fn lose_background(&mut self, messages: &[&Msg], runs: impl Fn(&BackgroundCall) -> bool) {
        let told = |call: &BackgroundCall| {
            let since = messages.iter().skip_while(|message| message.id() != call.reply_id);
            since.flat_map(|message| message.blocks::<HintBlock>()).any(|hint| hint.id == call.outcome_id())
        };
        for call in std::mem::take(&mut self.background) {
            let is_known = told(&call) || self.hints.iter().any(|hint| hint.id == call.outcome_id());
            if !is_known && runs(&call) {
                self.background.push(call);
            } else if !is_known {
                self.hints.push(call.lost());
            }
        }
    }
}
