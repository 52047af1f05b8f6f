//! What is known of a tool before it runs.

use recount_message::{Json, Object};

/// What the model and the agent are told of a tool.
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
    /// The name by which the model calls it.
    pub name: String,
    /// What the model is told of it.
    pub description: String,
    /// The JSON Schema of its arguments.
    pub parameters: Json,
    /// It changes nothing, so it needs no permission.
    pub read_only: bool,
    /// Running it twice does no more than running it once, so it may run again after a crash.
    pub idempotent: bool,
    /// It may run beside others.
    pub concurrency_safe: bool,
    /// It is answered at once, and what comes of it comes later as a hint.
    pub background: bool,
    /// Somebody else runs it: the reply waits for the result.
    pub external: bool,
    /// The group that has to be active for it to be called; nothing is always active.
    pub group: Option<String>,
    /// The JSON Schema that the metadata of its results has to have.
    pub metadata_schema: Option<Json>,
}

impl ToolSpec {
    /// A tool without arguments and without marks.
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
    /// The JSON Schema of its arguments.
    #[must_use]
    pub fn parameters(mut self, schema: impl Into<Json>) -> Self {
        self.parameters = schema.into();
        self
    }

    /// It changes nothing.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        self.read_only = true;
        self
    }

    /// Running it twice does no more than running it once.
    #[must_use]
    pub fn idempotent(mut self) -> Self {
        self.idempotent = true;
        self
    }

    /// It may run beside others.
    #[must_use]
    pub fn concurrency_safe(mut self) -> Self {
        self.concurrency_safe = true;
        self
    }

    /// It is answered at once, and what comes of it comes later as a hint.
    #[must_use]
    pub fn background(mut self) -> Self {
        self.background = true;
        self
    }

    /// Somebody else runs it.
    #[must_use]
    pub fn external(mut self) -> Self {
        self.external = true;
        self
    }

    /// The group that has to be active for it to be called.
    #[must_use]
    pub fn group(mut self, name: impl Into<String>) -> Self {
        self.group = Some(name.into());
        self
    }

    /// The JSON Schema that the metadata of its results has to have.
    #[must_use]
    pub fn metadata_schema(mut self, schema: impl Into<Json>) -> Self {
        self.metadata_schema = Some(schema.into());
        self
    }
}
