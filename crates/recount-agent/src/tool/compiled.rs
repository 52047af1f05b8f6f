//! A tool with compiled schemas.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use recount_message::Object;
use recount_model::format;

use super::Tool;
use super::schema::{Schema, Violations};
use super::toolkit::ToolkitError;

/// A tool with compiled schemas. It is cheap to clone.
#[derive(Clone)]
pub struct CompiledTool(Arc<Inner>);

struct Inner {
    tool: Arc<dyn Tool>,
    parameters: Schema,
    metadata: Option<Schema>,
}

impl CompiledTool {
    /// Validates the name of a tool and compiles its schemas.
    ///
    /// # Errors
    ///
    /// The name or a schema is invalid.
    pub fn new(tool: impl Tool) -> Result<Self, ToolkitError> {
        Self::shared(Arc::new(tool))
    }

    /// Like [`new`](Self::new), for a shared tool.
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

    /// The compiled schema of the arguments.
    pub fn parameters(&self) -> &Schema {
        &self.0.parameters
    }

    /// Validates the metadata of a result. Any metadata is valid if the tool has no schema for it.
    ///
    /// # Errors
    ///
    /// Returns all violations.
    pub fn validate_metadata(&self, metadata: &Object) -> Result<(), Violations> {
        match &self.0.metadata {
            Some(schema) => schema.validate(&metadata.clone().into()),
            None => Ok(()),
        }
    }

    /// Returns the definition of the tool for a request to a model.
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

/// Returns whether all providers accept a name.
pub(crate) fn is_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}
