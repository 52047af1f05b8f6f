//! Tool definitions and tool choice.

use recount_message::{DecodeError, Json, Object};

use super::json_builder::{ObjectBuilder, object};

/// A tool that the model may call.
///
/// ```
/// use recount_message::Json;
/// use recount_model::format::Tool;
///
/// let schema = Json::parse(r#"{"type":"object","properties":{"city":{"type":"string"}}}"#)?;
/// let tool = Tool::new("get_weather").description("The weather in a city").parameters(schema);
/// assert_eq!(tool.name(), "get_weather");
/// # Ok::<(), recount_message::DecodeError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tool {
    name: String,
    description: Option<String>,
    parameters: Option<Json>,
}

impl Tool {
    /// Creates a tool without parameters.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), description: None, parameters: None }
    }

    /// Sets the description.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Sets the JSON Schema of the arguments.
    #[must_use]
    pub fn parameters(mut self, schema: impl Into<Json>) -> Self {
        self.parameters = Some(schema.into());
        self
    }

    /// Parses a tool from the format of AgentScope and OpenAI:
    /// `{"type":"function","function":{"name","description","parameters"}}`, or only the value of `function`.
    ///
    /// ```
    /// use recount_model::format::Tool;
    ///
    /// let tool = Tool::from_json(r#"{"type":"function","function":{"name":"ping"}}"#)?;
    /// assert_eq!(tool, Tool::new("ping"));
    /// # Ok::<(), recount_message::DecodeError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the text is not a JSON object. Missing fields are empty, including the name.
    pub fn from_json(text: &str) -> Result<Self, DecodeError> {
        let outer = Object::parse(text)?;
        let function = outer.get("function").and_then(Json::to_object).unwrap_or(outer);
        let some = |key| function.get(key).filter(|value| !value.is_null());
        Ok(Self {
            name: some("name").and_then(Json::as_str).map(str::to_owned).unwrap_or_default(),
            description: some("description").and_then(Json::as_str).map(str::to_owned),
            parameters: some("parameters").cloned(),
        })
    }

    /// Returns the name of the tool.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the tool in the format of AgentScope and OpenAI.
    ///
    /// ```
    /// use recount_model::format::Tool;
    ///
    /// let json = Tool::new("ping").to_value();
    /// assert_eq!(json.as_raw(), r#"{"type":"function","function":{"name":"ping"}}"#);
    /// ```
    #[must_use]
    pub fn to_value(&self) -> Json {
        object! { "type": "function", "function": self.function(Json::clone) }.into()
    }

    /// Returns `{name, description, parameters}`, without missing fields.
    pub(super) fn function(&self, schema: fn(&Json) -> Json) -> ObjectBuilder {
        let mut function = object! { "name": self.name.as_str() };
        function.set_some("description", self.description.as_deref());
        function.set_some("parameters", self.parameters.as_ref().map(schema));
        function
    }

    pub(super) fn described(&self) -> &str {
        self.description.as_deref().unwrap_or_default()
    }

    pub(super) fn schema(&self) -> Option<&Json> {
        self.parameters.as_ref()
    }
}

/// The tools that the model may or must call.
///
/// ```
/// use recount_model::format::ToolChoice;
///
/// let any_of_two = ToolChoice::required().restrict_to(["search", "read"]);
/// let this_one = ToolChoice::named("search");
/// assert_ne!(any_of_two, this_one);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolChoice {
    pub(super) mode: Mode,
    pub(super) among: Option<Vec<String>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Mode {
    Auto,
    None,
    Required,
    Named(String),
}

impl ToolChoice {
    /// The model decides whether to call a tool.
    #[must_use]
    pub fn auto() -> Self {
        Self { mode: Mode::Auto, among: None }
    }

    /// The model must not call a tool.
    #[must_use]
    pub fn none() -> Self {
        Self { mode: Mode::None, among: None }
    }

    /// The model must call a tool.
    #[must_use]
    pub fn required() -> Self {
        Self { mode: Mode::Required, among: None }
    }

    /// The model must call this tool.
    #[must_use]
    pub fn named(name: impl Into<String>) -> Self {
        Self { mode: Mode::Named(name.into()), among: None }
    }

    /// Restricts the choice to these tools.
    #[must_use]
    pub fn restrict_to(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.among = Some(names.into_iter().map(Into::into).collect());
        self
    }

    pub(super) fn allows(&self, name: &str) -> bool {
        self.among.as_ref().is_none_or(|names| names.iter().any(|allowed| allowed == name))
    }

    /// Returns a name in the choice that is not among `tools`.
    pub(super) fn unknown(&self, tools: &[Tool]) -> Option<&str> {
        let is_known = |name: &str| tools.iter().any(|tool| tool.name == name);
        let among = self.among.iter().flatten().find(|name| !is_known(name));
        let named = match &self.mode {
            Mode::Named(name) if !is_known(name) || !self.allows(name) => Some(name),
            Mode::Named(_) | Mode::Auto | Mode::None | Mode::Required => None,
        };
        among.or(named).map(String::as_str)
    }
}
