//! Structured data of messages.

use serde::de::DeserializeOwned;

use super::Msg;
use crate::extensions;
use crate::{Json, Object};

/// The error of deserializing structured data.
///
/// ```
/// use recount_message::{Msg, StructuredError};
///
/// let message = Msg::assistant("Judge", "Hm.").with_id("m1");
/// let error = message.structured::<u8>().unwrap_err();
/// assert!(matches!(&error, StructuredError::Missing { id } if id == "m1"));
/// assert_eq!(error.to_string(), "the message \"m1\" has no structured data");
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StructuredError {
    /// The message has no structured data.
    #[error("the message {id:?} has no structured data")]
    Missing {
        /// Id of the message.
        id: String,
    },
    /// The data does not match the type.
    #[error("{}{source}", .path.as_deref().map(|path| format!("`{path}`: ")).unwrap_or_default())]
    Mismatch {
        /// Path of the mismatch, such as `steps[0]`; `None` for the whole value.
        path: Option<String>,
        /// The mismatch.
        source: serde_json::Error,
    },
}

impl StructuredError {
    /// Deserializes a JSON text. The error contains the path of the mismatch.
    pub(crate) fn decode<T: DeserializeOwned>(text: &str) -> Result<T, Self> {
        let mut reader = serde_json::Deserializer::from_str(text);
        serde_path_to_error::deserialize(&mut reader).map_err(|error| {
            let path = error.path().to_string();
            Self::Mismatch { path: (path != ".").then_some(path), source: error.into_inner() }
        })
    }
}

/// The metadata key of structured output in AgentScope Java.
const JAVA_KEY: &str = "_structured_output";

impl Msg {
    /// Deserializes the structured data of the message.
    ///
    /// The first of these that exists is used: `structured_output`, `_structured_output` in the metadata (where AgentScope Java
    /// stores it), and the metadata itself.
    ///
    /// ```
    /// use recount_message::{Msg, Object};
    ///
    /// #[derive(serde::Deserialize)]
    /// struct TaskPlan {
    ///     goal: String,
    ///     steps: Vec<String>,
    /// }
    ///
    /// let message = Msg::assistant("Planner", "Here is the plan.")
    ///     .with_structured_output(Object::parse(r#"{"goal": "tea", "steps": ["boil", "pour"]}"#).unwrap());
    /// let plan: TaskPlan = message.structured().unwrap();
    /// assert_eq!((plan.goal.as_str(), plan.steps.len()), ("tea", 2));
    ///
    /// let wrong = Msg::assistant("Planner", "").with_structured_output([("goal", 7)]);
    /// let error = wrong.structured::<TaskPlan>().err().unwrap();
    /// assert!(error.to_string().starts_with("`goal`: invalid type: integer `7`, expected a string"));
    /// ```
    ///
    /// # Errors
    ///
    /// Fails if there is none, or if it does not match the type. The error names the path.
    pub fn structured<T: DeserializeOwned>(&self) -> Result<T, StructuredError> {
        let data = self.structured_data().ok_or_else(|| StructuredError::Missing { id: self.id.clone() })?;
        data.deserialize_as()
    }

    /// Returns whether the message has data for [`structured`](Self::structured).
    ///
    /// ```
    /// use recount_message::Msg;
    ///
    /// let message = Msg::assistant("Judge", "Yes.");
    /// assert!(!message.has_structured());
    /// assert!(message.with_metadata([("approved", true)]).has_structured());
    /// ```
    pub fn has_structured(&self) -> bool {
        self.structured_data().is_some()
    }

    fn structured_data(&self) -> Option<Json> {
        if let Some(output) = &self.structured_output {
            return Some(output.clone().into());
        }
        if let Some(output) = self.metadata.get(JAVA_KEY).filter(|output| !output.is_null()) {
            return Some(output.clone());
        }
        let plain: Object = self
            .metadata
            .iter()
            .filter(|(key, _)| *key != extensions::KEY && !key.starts_with("agentscope_"))
            .map(|(key, value)| (key, value.clone()))
            .collect();
        (!plain.is_empty()).then(|| plain.into())
    }
}
