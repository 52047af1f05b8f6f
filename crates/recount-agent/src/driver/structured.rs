//! The form that an answer has to have.

use recount_message::{Json, Object};

use crate::agent::Shared;
use crate::error::Error;
use crate::tool::{CompiledTool, StructuredOutput};

/// The form that an answer has to have.
pub(crate) type Form = StructuredOutput;

/// A form that is ready to be asked for.
#[derive(Debug, Clone)]
pub(super) struct MountedForm {
    form: Form,
    pub(super) tool: CompiledTool,
}

impl MountedForm {
    pub(super) fn new(form: Form) -> Result<Self, Error> {
        let tool = CompiledTool::new(form.clone())?;
        Ok(Self { form, tool })
    }

    pub(super) fn schema(&self) -> Json {
        self.form.schema().clone()
    }

    /// The answer that a call's arguments are.
    pub(super) fn answer(&self, arguments: &Object) -> Object {
        self.form.complete(arguments)
    }
}

/// The form of a reply that is taken up again: the one that it was begun with counts, and a type that is given anew checks
/// more than its schema.
pub(super) fn form_of(shared: &Shared, given: Option<MountedForm>) -> Option<MountedForm> {
    let schema = shared.lock().state.reply.as_ref()?.schema.clone()?;
    match given {
        Some(given) if given.schema() == schema => Some(given),
        // It was mounted when the reply began.
        _ => MountedForm::new(Form::from_schema(schema)).ok(),
    }
}
