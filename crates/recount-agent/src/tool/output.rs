//! The output of a tool, and its errors.

use std::collections::BTreeSet;
use std::error::Error;

use recount_message::{Object, Payload, ToolResultState};

/// The output of a tool.
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
    /// The content that follows the output written to the context.
    pub content: Payload,
    /// The metadata for the application. It is not shown to the model.
    pub metadata: Object,
    /// The new set of active tool groups. `None` leaves the active groups unchanged.
    pub active_groups: Option<BTreeSet<String>>,
    failed: bool,
    parked: bool,
}

impl ToolOutput {
    /// Creates the output of a tool that succeeded.
    pub fn new(content: impl Into<Payload>) -> Self {
        Self { content: content.into(), metadata: Object::new(), active_groups: None, failed: false, parked: false }
    }

    /// Creates the output of a tool that failed.
    pub fn failed(content: impl Into<Payload>) -> Self {
        Self { failed: true, ..Self::new(content) }
    }

    /// Creates the output of a call that waits for input and runs again then.
    pub(crate) fn parked() -> Self {
        Self { parked: true, ..Self::new("") }
    }

    pub(crate) fn is_parked(&self) -> bool {
        self.parked
    }

    /// Sets the metadata.
    pub fn with_metadata(mut self, metadata: impl Into<Object>) -> Self {
        self.metadata = metadata.into();
        self
    }

    /// Sets the active tool groups.
    pub fn with_active_groups(mut self, groups: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.active_groups = Some(groups.into_iter().map(Into::into).collect());
        self
    }

    /// Returns whether the tool succeeded or failed.
    pub fn state(&self) -> ToolResultState {
        if self.failed { ToolResultState::Error } else { ToolResultState::Success }
    }
}

impl<T: Into<Payload>> From<T> for ToolOutput {
    fn from(content: T) -> Self {
        Self::new(content)
    }
}

/// The error of a tool. The message is sent to the model, so it should name an alternative.
///
/// ```
/// use recount_agent::tool::ToolError;
///
/// fn celsius(text: &str) -> Result<f64, ToolError> {
///     let degrees: f64 = text.parse()?;
///     if degrees < -273.15 { Err(ToolError::new("the temperature is below absolute zero: check the unit")) } else { Ok(degrees) }
/// }
/// assert_eq!(celsius("warm").unwrap_err().to_string(), "invalid float literal");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolError {
    message: String,
}

impl ToolError {
    /// Creates an error with a message.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }
}

impl std::fmt::Display for ToolError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

/// Converts any error, boxed error or text, so that `?` works in a tool. The message includes the sources of the error.
/// `ToolError` does not implement `Error`, because that would conflict with this conversion.
impl<E: Into<Box<dyn Error + Send + Sync>>> From<E> for ToolError {
    fn from(error: E) -> Self {
        let error = error.into();
        let mut message = error.to_string();
        let mut cause = error.source();
        while let Some(error) = cause {
            let source = error.to_string();
            if !message.ends_with(&source) {
                message.push_str(": ");
                message.push_str(&source);
            }
            cause = error.source();
        }
        Self { message }
    }
}
