//! The tool through which the model returns structured output.

use recount_message::{Json, Object};

use crate::agent::Shared;
use crate::error::Error;
use crate::tool::{CompiledTool, StructuredOutput};

/// The compiled tool for structured output.
#[derive(Debug, Clone)]
pub(super) struct OutputTool {
    form: StructuredOutput,
    pub(super) tool: CompiledTool,
}

impl OutputTool {
    pub(super) fn new(form: StructuredOutput) -> Result<Self, Error> {
        let tool = CompiledTool::new(form.clone())?;
        Ok(Self { form, tool })
    }

    pub(super) fn schema(&self) -> Json {
        self.form.schema().clone()
    }

    /// Returns the structured output in the arguments of a call.
    pub(super) fn answer(&self, arguments: &Object) -> Object {
        self.form.complete(arguments)
    }
}

/// Returns the output tool of a resumed reply. The schema that the reply was started with counts. A given type with the
/// same schema is used, because it also validates more than its schema.
pub(super) fn resumed_output_tool(shared: &Shared, given: Option<OutputTool>) -> Option<OutputTool> {
    let schema = shared.lock().state.reply.as_ref()?.schema.clone()?;
    match given {
        Some(given) if given.schema() == schema => Some(given),
        // Compiling cannot fail, because it succeeded when the reply started.
        _ => OutputTool::new(StructuredOutput::from_schema(schema)).ok(),
    }
}
