//! Instructions to the model about the state of the reply.
//!
//! They are added to a single request and not to the message, because they would be wrong in later requests.

use recount_message::{HintBlock, HintLabel};

use crate::machine::ControlHint;
use crate::tool::STRUCTURED_OUTPUT;

/// Returns the hint, which is the last message of the request.
pub(super) fn hint(control: ControlHint) -> HintBlock {
    let (about, text) = match control {
        ControlHint::StructuredOutput => (
            "Structured Output Requirement",
            format!(
                "Return your answer by calling the tool `{STRUCTURED_OUTPUT}`, as soon as you have all the information. \
                 Other tools may be called before. Text alone does not count as the answer."
            ),
        ),
        ControlHint::LastIteration => (
            "Max Iterations Reached",
            "No more tool calls are possible in this reply. Summarise what was done, what was found and what remains."
                .to_owned(),
        ),
    };
    let label = HintLabel::new("System").with_sublabel(about);
    HintBlock::reminder(text).with_label(&label)
}
