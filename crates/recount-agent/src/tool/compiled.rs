//! A tool that is ready to be called.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use recount_message::Object;
use recount_model::format;

use super::Tool;
use super::schema::{Schema, Violations};
use super::toolkit::ToolkitError;

/// A tool with its schemas compiled. It is cheap to clone.
#[derive(Clone)]
pub struct CompiledTool(Arc<Inner>);

struct Inner {
    tool: Arc<dyn Tool>,
    parameters: Schema,
    metadata: Option<Schema>,
}

impl CompiledTool {
    /// Makes a tool ready.
    ///
    /// # Errors
    ///
    /// When a provider would not take its name, or a schema of it is none.
    pub fn new(tool: impl Tool) -> Result<Self, ToolkitError> {
        Self::shared(Arc::new(tool))
    }

    /// The same for a tool that others hold as well.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn shared(tool: Arc<dyn Tool>) -> Result<Self, ToolkitError> {
        let spec = tool.spec();
        if !is_name(&spec.name) {
            return Err(ToolkitError::InvalidName { name: spec.name.clone() });
        }
        let compile = |schema| {
            Schema::compile(schema).map_err(|error| ToolkitError::InvalidSchema { tool: spec.name.clone(), error })
        };
        let parameters = compile(&spec.parameters)?;
        let metadata = spec.metadata_schema.as_ref().map(compile).transpose()?;
        Ok(Self(Arc::new(Inner { tool, parameters, metadata })))
    }

    /// The tool.
    pub fn tool(&self) -> &Arc<dyn Tool> {
        &self.0.tool
    }

    /// The schema of its arguments.
    pub fn parameters(&self) -> &Schema {
        &self.0.parameters
    }

    /// Checks the metadata of a result, if the tool says what it has to be.
    ///
    /// # Errors
    ///
    /// When it is something else.
    pub fn validate_metadata(&self, metadata: &Object) -> Result<(), Violations> {
        match &self.0.metadata {
            Some(schema) => schema.validate(&metadata.clone().into()),
            None => Ok(()),
        }
    }

    /// The tool as the model is told of it.
    pub fn definition(&self) -> format::Tool {
        let spec = self.spec();
        format::Tool::new(&spec.name).description(&spec.description).parameters(spec.parameters.clone())
    }
}

impl Deref for CompiledTool {
    type Target = dyn Tool;

    fn deref(&self) -> &Self::Target {
        &*self.0.tool
    }
}

impl fmt::Debug for CompiledTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CompiledTool").field(self.spec()).finish()
    }
}

/// Whether every provider takes such a name.
pub(crate) fn is_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}
