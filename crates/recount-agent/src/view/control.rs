//! What the model is told about the course of a reply.
//!
//! It is a part of the request alone. It follows from the state of the reply, holds for one model call, and would say the
//! wrong thing in the next: a message that kept it would have to be read with a pinch of salt.

use recount_message::{HintBlock, HintLabel};

use crate::machine::ControlHint;
use crate::tool::STRUCTURED_OUTPUT;

/// The hint, as the last thing that the model reads.
pub(super) fn hint(control: ControlHint) -> HintBlock {
    let (about, text) = match control {
        ControlHint::StructuredOutput => (
            "Structured Output Requirement",
            format!(
                "The answer has to be given by calling the tool `{STRUCTURED_OUTPUT}`, once all that it needs is known. \
                 Other tools may be called before. Text alone does not count as the answer."
            ),
        ),
        ControlHint::LastIteration => (
            "Max Iterations Reached",
            "No more tools can be called in this reply. Say now what was done, what was found and what is left to do."
                .to_owned(),
        ),
    };
    let label = HintLabel::new("System").with_sublabel(about);
    HintBlock::reminder(text).with_label(&label)
}
