//! The description of a tool.

use recount_message::{Json, Object};

/// The description of a tool, for the model and for the agent.
///
/// ```
/// use recount_agent::tool::ToolSpec;
///
/// let spec = ToolSpec::new("search", "Searches the web.").read_only().concurrency_safe();
/// assert!(spec.read_only && !spec.external);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolSpec {
    /// The unique name, 1 to 64 letters, digits, `_` or `-`.
    pub name: String,
    /// The description for the model.
    pub description: String,
    /// The JSON Schema of the arguments.
    pub parameters: Json,
    /// The tool changes nothing, so it needs no permission.
    pub read_only: bool,
    /// Repeated calls have the effect of one, so the tool may run again after a crash.
    pub idempotent: bool,
    /// The tool may run concurrently with others.
    pub concurrency_safe: bool,
    /// The call gets its result at once. The outcome follows as a hint.
    pub background: bool,
    /// The tool runs outside of the agent. The reply waits for the result.
    pub external: bool,
    /// The group that must be active. `None` for a tool that is always available.
    pub group: Option<String>,
    /// The JSON Schema of the metadata of results. `None` if it is not validated.
    pub metadata_schema: Option<Json>,
}

impl ToolSpec {
    /// Creates the description of a tool without arguments. All flags are `false`.
    #[must_use]
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            parameters: Object::from([("type", Json::from("object")), ("properties", Object::new().into())]).into(),
            read_only: false,
            idempotent: false,
            concurrency_safe: false,
            background: false,
            external: false,
            group: None,
            metadata_schema: None,
        }
    }

    /// Sets the JSON Schema of the arguments.
    #[must_use]
    pub fn parameters(mut self, schema: impl Into<Json>) -> Self {
        self.parameters = schema.into();
        self
    }

    /// Marks the tool as read-only.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        self.read_only = true;
        self
    }

    /// Marks the tool as idempotent.
    #[must_use]
    pub fn idempotent(mut self) -> Self {
        self.idempotent = true;
        self
    }

    /// Allows the tool to run concurrently with others.
    #[must_use]
    pub fn concurrency_safe(mut self) -> Self {
        self.concurrency_safe = true;
        self
    }

    /// Runs the tool in the background.
    #[must_use]
    pub fn background(mut self) -> Self {
        self.background = true;
        self
    }

    /// Marks the tool as external.
    #[must_use]
    pub fn external(mut self) -> Self {
        self.external = true;
        self
    }

    /// Sets the group that must be active.
    #[must_use]
    pub fn group(mut self, name: impl Into<String>) -> Self {
        self.group = Some(name.into());
        self
    }

    /// Sets the JSON Schema of the metadata of results.
    #[must_use]
    pub fn metadata_schema(mut self, schema: impl Into<Json>) -> Self {
        self.metadata_schema = Some(schema.into());
        self
    }
}
