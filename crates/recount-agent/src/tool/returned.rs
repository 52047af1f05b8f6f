//! Conversion of return values into tool output.

use std::any::TypeId;

use recount_message::Json;
use serde::Serialize;

use super::{ToolError, ToolOutput};

/// A return value of a tool: a [`ToolOutput`], or any value that implements `Serialize`.
///
/// Strings become text, other values JSON, and `()` becomes `done`. Return a `ToolOutput` for images and files.
///
/// ```
/// use recount_agent::tool::IntoOutput;
///
/// #[derive(serde::Serialize)]
/// struct Weather {
///     celsius: f64,
/// }
/// assert_eq!("sunny".into_output()?.content.text().as_deref(), Some("sunny"));
/// assert_eq!(Weather { celsius: 25.0 }.into_output()?.content.text().as_deref(), Some(r#"{"celsius":25.0}"#));
/// # Ok::<(), recount_agent::tool::ToolError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the output of a tool",
    note = "return a `ToolOutput`, or something that implements `serde::Serialize`"
)]
pub trait IntoOutput {
    /// Converts the value.
    ///
    /// # Errors
    ///
    /// The value cannot be serialized as JSON.
    fn into_output(self) -> Result<ToolOutput, ToolError>;
}

impl IntoOutput for ToolOutput {
    fn into_output(self) -> Result<ToolOutput, ToolError> {
        Ok(self)
    }
}

impl<T: Serialize + 'static> IntoOutput for T {
    fn into_output(self) -> Result<ToolOutput, ToolError> {
        // `null` would not show a model that the call succeeded.
        if TypeId::of::<T>() == TypeId::of::<()>() {
            return Ok(ToolOutput::new("done"));
        }
        let json = Json::from_serialize(&self)?;
        let text = json.as_str().unwrap_or_else(|| json.as_raw()).to_owned();
        Ok(ToolOutput::new(text))
    }
}
