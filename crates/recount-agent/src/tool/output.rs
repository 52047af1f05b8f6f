//! What comes of running a tool.

use std::collections::BTreeSet;
use std::error::Error;

use recount_message::{Object, Payload, ToolResultState};

/// What a tool returns.
///
/// ```
/// use recount_agent::tool::ToolOutput;
/// use recount_message::ToolResultState;
///
/// let output = ToolOutput::new("Sunny, 25°C").with_metadata([("source", "station 7")]);
/// assert_eq!(output.state(), ToolResultState::Success);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct ToolOutput {
    /// What it has to say beside what it said while it ran.
    pub content: Payload,
    /// For the program, not for the model.
    pub metadata: Object,
    /// The groups of tools that are active from now on. Nothing leaves that as it is.
    pub active_groups: Option<BTreeSet<String>>,
    failed: bool,
    parked: bool,
}

impl ToolOutput {
    /// It worked, and this came of it.
    pub fn new(content: impl Into<Payload>) -> Self {
        Self { content: content.into(), metadata: Object::new(), active_groups: None, failed: false, parked: false }
    }

    /// It failed, and this is what the model is told.
    pub fn failed(content: impl Into<Payload>) -> Self {
        Self { failed: true, ..Self::new(content) }
    }

    /// It has to wait for somebody, and will run again then.
    pub(crate) fn parked() -> Self {
        Self { parked: true, ..Self::new("") }
    }

    pub(crate) fn is_parked(&self) -> bool {
        self.parked
    }

    /// The same with metadata.
    pub fn with_metadata(mut self, metadata: impl Into<Object>) -> Self {
        self.metadata = metadata.into();
        self
    }

    /// The same, and these groups of tools are active from now on.
    pub fn with_active_groups(mut self, groups: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.active_groups = Some(groups.into_iter().map(Into::into).collect());
        self
    }

    /// How it went.
    pub fn state(&self) -> ToolResultState {
        if self.failed { ToolResultState::Error } else { ToolResultState::Success }
    }
}

impl<T: Into<Payload>> From<T> for ToolOutput {
    fn from(content: T) -> Self {
        Self::new(content)
    }
}

/// Why a tool could not do what it was asked to. The model reads it, so it should say what to do instead.
///
/// ```
/// use recount_agent::tool::ToolError;
///
/// fn celsius(text: &str) -> Result<f64, ToolError> {
///     let degrees: f64 = text.parse()?;
///     if degrees < -273.15 { Err(ToolError::new("there is no such temperature: ask for another one")) } else { Ok(degrees) }
/// }
/// assert_eq!(celsius("warm").unwrap_err().to_string(), "invalid float literal");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolError {
    message: String,
}

impl ToolError {
    /// An error with its message.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }
}

impl std::fmt::Display for ToolError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

/// Any error will do, also a plain text and a boxed one, so that `?` works in a tool. What caused it is told along with it.
/// This is why the type is no error itself.
impl<E: Into<Box<dyn Error + Send + Sync>>> From<E> for ToolError {
    fn from(error: E) -> Self {
        let error = error.into();
        let mut message = error.to_string();
        let mut cause = error.source();
        while let Some(error) = cause {
            let told = error.to_string();
            if !message.ends_with(&told) {
                message.push_str(": ");
                message.push_str(&told);
            }
            cause = error.source();
        }
        Self { message }
    }
}
