//! Tool calls, tool results and permission rules.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Payload;
use crate::json::record::record;
use crate::json::wire::string_enum;
use crate::time::now_text;
use crate::{Object, StructuredError, extensions};

string_enum! {
    /// The state of a tool call.
    ///
    /// ```
    /// use recount_message::{ToolCallBlock, ToolCallState};
    ///
    /// let call = ToolCallBlock::new("c1", "shell", "{}").with_state(ToolCallState::Asking);
    /// let waits = matches!(call.state, ToolCallState::Asking | ToolCallState::Submitted);
    /// assert!(waits);
    /// ```
    pub enum ToolCallState as "tool call state" {
        /// Permission is not yet decided.
        Pending = "pending",
        /// Waits for confirmation by the user.
        Asking = "asking",
        /// Allowed by the user or a rule, and not yet executed.
        Allowed = "allowed",
        /// Submitted for external execution, waits for the result.
        Submitted = "submitted",
        /// Finished, successfully or not.
        Finished = "finished",
    }
}

string_enum! {
    /// The outcome of a tool call.
    ///
    /// ```
    /// use recount_message::{ToolResultBlock, ToolResultState};
    ///
    /// let result = ToolResultBlock::new("c1", "shell", "refused by the user", ToolResultState::Denied);
    /// assert_ne!(result.state, ToolResultState::Success);
    /// ```
    pub enum ToolResultState as "tool result state" {
        /// The tool succeeded.
        Success = "success",
        /// The tool failed.
        Error = "error",
        /// The tool was interrupted.
        Interrupted = "interrupted",
        /// The call was denied.
        Denied = "denied",
        /// The tool is still running.
        Running = "running",
    }
}

string_enum! {
    /// The effect of a permission rule.
    ///
    /// ```
    /// use recount_message::{PermissionBehavior, PermissionRule};
    ///
    /// let rule = PermissionRule::new("delete_file", None, PermissionBehavior::Deny);
    /// assert_eq!(rule.behavior.to_string(), "deny");
    /// ```
    pub enum PermissionBehavior as "behavior" {
        /// The call is allowed.
        Allow = "allow",
        /// The call is denied.
        Deny = "deny",
        /// The user is asked for confirmation.
        Ask = "ask",
        /// The rule does not decide.
        Passthrough = "passthrough",
    }
}

record! {
    /// A rule that allows or denies calls of a tool, or asks the user.
    ///
    /// ```
    /// use recount_message::{PermissionBehavior, PermissionRule};
    ///
    /// let rules = [
    ///     PermissionRule::new("shell", Some("git status:*"), PermissionBehavior::Allow),
    ///     PermissionRule::new("shell", None, PermissionBehavior::Ask),
    /// ];
    /// let all_calls: Vec<_> = rules.iter().filter(|rule| rule.rule_content.is_none()).collect();
    /// assert_eq!(all_calls[0].behavior, PermissionBehavior::Ask);
    /// ```
    pub struct PermissionRule {
        /// Name of the tool.
        pub tool_name: String,
        /// The pattern that calls must match, in a syntax of the tool; `null` matches every call.
        pub rule_content: Option<String>,
        /// The effect on matching calls.
        pub behavior: PermissionBehavior,
        /// Origin of the rule, such as `user` or `suggested`.
        pub source: String,
    }
}

impl PermissionRule {
    /// Creates a rule of the user for a tool. `None` as the pattern matches every call.
    ///
    /// ```
    /// use recount_message::{PermissionBehavior, PermissionRule};
    ///
    /// let rule = PermissionRule::new("shell", Some("git status:*"), PermissionBehavior::Allow);
    /// assert_eq!(rule.rule_content.as_deref(), Some("git status:*"));
    /// ```
    pub fn new(tool_name: impl Into<String>, rule_content: Option<&str>, behavior: PermissionBehavior) -> Self {
        Self {
            tool_name: tool_name.into(),
            rule_content: rule_content.map(str::to_owned),
            behavior,
            source: "user".to_owned(),
            extra: Object::new(),
        }
    }

    /// Sets the origin, such as `suggested`. Consumes the rule and returns the changed one.
    ///
    /// ```
    /// use recount_message::{PermissionBehavior, PermissionRule};
    ///
    /// let rule = PermissionRule::new("shell", None, PermissionBehavior::Allow);
    /// assert_eq!(rule.source, "user");
    /// assert_eq!(rule.with_source("suggested").source, "suggested");
    /// ```
    pub fn with_source(mut self, source: impl Into<String>) -> Self {
        self.source = source.into();
        self
    }
}

record! {
    /// A tool call of the model.
    ///
    /// ```
    /// use recount_message::{Msg, ToolCallBlock};
    ///
    /// let message = Msg::assistant("Friday", ToolCallBlock::new("c1", "get_weather", r#"{"city":"Beijing"}"#));
    /// for call in message.blocks::<ToolCallBlock>() {
    ///     assert_eq!((call.name.as_str(), call.input.as_str()), ("get_weather", r#"{"city":"Beijing"}"#));
    /// }
    /// ```
    pub struct ToolCallBlock tagged "tool_call" {
        /// Id of the call.
        pub id: String,
        /// Name of the tool.
        pub name: String,
        /// The arguments: JSON text as written by the model.
        pub input: String,
        /// State of the call.
        pub state: ToolCallState = |_here| ToolCallState::Pending,
        /// Permission rules that the user may accept together with the call.
        pub suggested_rules: Vec<PermissionRule> = |_here| Vec::new(),
        /// The time at which the block started.
        pub created_at: String = |here| here.time.to_owned(),
        /// The time at which the block was complete; `None` while it is open.
        pub finished_at: Option<String> = |_here| None,
    }
}

impl ToolCallBlock {
    /// Creates a pending call with arguments in JSON text, at the current time.
    ///
    /// ```
    /// use recount_message::{ToolCallBlock, ToolCallState};
    ///
    /// let call = ToolCallBlock::new("call_1", "get_weather", r#"{"city": "Beijing"}"#);
    /// assert_eq!(call.state, ToolCallState::Pending);
    /// ```
    pub fn new(id: impl Into<String>, name: impl Into<String>, input: impl Into<String>) -> Self {
        Self::stamped(id, now_text(), name, input)
    }

    /// Creates a call with a given time.
    ///
    /// ```
    /// use recount_message::ToolCallBlock;
    ///
    /// let call = ToolCallBlock::stamped("c1", "2026-01-01T00:00:00Z", "search", "{}");
    /// assert_eq!((call.id.as_str(), call.created_at.as_str()), ("c1", "2026-01-01T00:00:00Z"));
    /// ```
    pub fn stamped(
        id: impl Into<String>,
        created_at: impl Into<String>,
        name: impl Into<String>,
        input: impl Into<String>,
    ) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
            input: input.into(),
            state: ToolCallState::Pending,
            suggested_rules: Vec::new(),
            created_at: created_at.into(),
            finished_at: None,
            extra: Object::new(),
        }
    }

    /// Creates a call and serializes its arguments.
    ///
    /// ```
    /// use recount_message::ToolCallBlock;
    ///
    /// let call = ToolCallBlock::with_arguments("c1", "add", &[1, 2])?;
    /// assert_eq!(call.input, "[1,2]");
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Fails if the arguments cannot be serialized as JSON.
    pub fn with_arguments(
        id: impl Into<String>,
        name: impl Into<String>,
        arguments: &(impl Serialize + ?Sized),
    ) -> Result<Self, serde_json::Error> {
        Ok(Self::new(id, name, serde_json::to_string(arguments)?))
    }

    /// Sets the state. Consumes the call and returns the changed one.
    ///
    /// ```
    /// use recount_message::{ToolCallBlock, ToolCallState};
    ///
    /// let call = ToolCallBlock::new("c1", "search", "{}").with_state(ToolCallState::Finished);
    /// assert_eq!(call.state, ToolCallState::Finished);
    /// ```
    pub fn with_state(mut self, state: ToolCallState) -> Self {
        self.state = state;
        self
    }

    /// Removes the name, as in AgentScope Java. In native JSON the name is empty, with an extension. Consumes the call and
    /// returns the changed one.
    ///
    /// ```
    /// use recount_message::ToolCallBlock;
    ///
    /// let call = ToolCallBlock::new("c1", "search", "{}").without_name();
    /// assert_eq!(call.name, "");
    /// ```
    pub fn without_name(mut self) -> Self {
        self.name.clear();
        extensions::mark_absent(&mut self.extra, "name");
        self
    }

    /// Returns whether the block has the name of the tool.
    ///
    /// ```
    /// use recount_message::ToolCallBlock;
    ///
    /// let call = ToolCallBlock::new("c1", "search", "{}");
    /// assert!(call.has_name());
    /// assert!(!call.without_name().has_name());
    /// ```
    pub fn has_name(&self) -> bool {
        !extensions::is_absent(&self.extra, "name")
    }

    /// Deserializes the arguments. Empty text is an empty object.
    ///
    /// ```
    /// use recount_message::ToolCallBlock;
    ///
    /// #[derive(serde::Deserialize)]
    /// struct Weather {
    ///     city: String,
    /// }
    ///
    /// let call = ToolCallBlock::new("call_1", "get_weather", r#"{"city": "Beijing"}"#);
    /// assert_eq!(call.arguments::<Weather>().unwrap().city, "Beijing");
    /// ```
    ///
    /// # Errors
    ///
    /// Fails if the text is not JSON or does not match the type. The error names the path.
    pub fn arguments<T: DeserializeOwned>(&self) -> Result<T, StructuredError> {
        let input = self.input.trim();
        StructuredError::decode(if input.is_empty() { "{}" } else { input })
    }

    /// Creates the successful result of this call.
    ///
    /// ```
    /// use recount_message::ToolCallBlock;
    ///
    /// let call = ToolCallBlock::new("c1", "get_weather", "{}");
    /// let result = call.success("Sunny, 25°C");
    /// assert_eq!((result.id, result.name), (call.id, call.name));
    /// ```
    pub fn success(&self, output: impl Into<Payload>) -> ToolResultBlock {
        ToolResultBlock::success(&self.id, &self.name, output)
    }

    /// Creates the failed result of this call.
    ///
    /// ```
    /// use recount_message::{ToolCallBlock, ToolResultState};
    ///
    /// let result = ToolCallBlock::new("c1", "get_weather", "{}").error("no such city");
    /// assert_eq!(result.state, ToolResultState::Error);
    /// assert_eq!(result.output.text().as_deref(), Some("no such city"));
    /// ```
    pub fn error(&self, message: impl Into<String>) -> ToolResultBlock {
        ToolResultBlock::error(&self.id, &self.name, message)
    }
}

record! {
    /// The result of a tool call. It has the id of the call.
    ///
    /// ```
    /// use recount_message::{Msg, ToolResultBlock, ToolResultState};
    ///
    /// let results = Msg::tool("system", [
    ///     ToolResultBlock::success("c1", "search", "3 hits"),
    ///     ToolResultBlock::error("c2", "fetch", "404"),
    /// ]);
    /// let failed = results.blocks::<ToolResultBlock>().filter(|result| result.state == ToolResultState::Error);
    /// assert_eq!(failed.count(), 1);
    /// ```
    pub struct ToolResultBlock tagged "tool_result" {
        /// Id of the tool call.
        pub id: String,
        /// Name of the tool.
        pub name: String,
        /// The output: a string, or blocks of text and data.
        pub output: Payload,
        /// Outcome of the call.
        pub state: ToolResultState = |_here| ToolResultState::Running,
        /// Metadata of the tool.
        pub metadata: Object = |_here| Object::new(),
        /// The time at which the block started.
        pub created_at: String = |here| here.time.to_owned(),
        /// The time at which the block was complete; `None` while it is open.
        pub finished_at: Option<String> = |_here| None,
    }
}

impl ToolResultBlock {
    /// Creates a result at the current time. It is complete unless the state is running.
    ///
    /// ```
    /// use recount_message::{ToolResultBlock, ToolResultState};
    ///
    /// let running = ToolResultBlock::new("c1", "build", "compiling …", ToolResultState::Running);
    /// assert_eq!(running.finished_at, None);
    /// let stopped = ToolResultBlock::new("c1", "build", "compiling …", ToolResultState::Interrupted);
    /// assert!(stopped.finished_at.is_some());
    /// ```
    pub fn new(
        id: impl Into<String>,
        name: impl Into<String>,
        output: impl Into<Payload>,
        state: ToolResultState,
    ) -> Self {
        let now = now_text();
        Self {
            finished_at: (state != ToolResultState::Running).then(|| now.clone()),
            ..Self::stamped(id, now, name, output, state)
        }
    }

    /// Creates a result with a given time and without `finished_at`.
    ///
    /// ```
    /// use recount_message::{ToolResultBlock, ToolResultState};
    ///
    /// let result = ToolResultBlock::stamped("c1", "2026-01-01T00:00:00Z", "search", "3 hits", ToolResultState::Success)
    ///     .with_finished_at("2026-01-01T00:00:01Z");
    /// assert_eq!((result.id.as_str(), result.created_at.as_str()), ("c1", "2026-01-01T00:00:00Z"));
    /// ```
    pub fn stamped(
        id: impl Into<String>,
        created_at: impl Into<String>,
        name: impl Into<String>,
        output: impl Into<Payload>,
        state: ToolResultState,
    ) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
            output: output.into(),
            state,
            metadata: Object::new(),
            created_at: created_at.into(),
            finished_at: None,
            extra: Object::new(),
        }
    }

    /// Creates the result of a successful call.
    ///
    /// ```
    /// use recount_message::{ToolResultBlock, ToolResultState};
    ///
    /// let result = ToolResultBlock::success("call_1", "get_weather", "Sunny, 25°C");
    /// assert_eq!(result.state, ToolResultState::Success);
    /// assert_eq!(result.output.text().unwrap(), "Sunny, 25°C");
    /// ```
    pub fn success(id: impl Into<String>, name: impl Into<String>, output: impl Into<Payload>) -> Self {
        Self::new(id, name, output, ToolResultState::Success)
    }

    /// Creates the result of a failed call.
    ///
    /// ```
    /// use recount_message::{ToolResultBlock, ToolResultState};
    ///
    /// let result = ToolResultBlock::error("c1", "fetch", "404");
    /// assert_eq!((result.state, result.output), (ToolResultState::Error, "404".into()));
    /// ```
    pub fn error(id: impl Into<String>, name: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(id, name, message.into(), ToolResultState::Error)
    }

    /// Removes the name, as in AgentScope Java. In native JSON the name is empty, with an extension. Consumes the result and
    /// returns the changed one.
    ///
    /// ```
    /// use recount_message::ToolResultBlock;
    ///
    /// let result = ToolResultBlock::error("call_1", "", "connection timeout").without_name();
    /// assert!(!result.has_name());
    /// ```
    pub fn without_name(mut self) -> Self {
        self.name.clear();
        extensions::mark_absent(&mut self.extra, "name");
        self
    }

    /// Returns whether the block has the name of the tool.
    ///
    /// ```
    /// use recount_message::ToolResultBlock;
    ///
    /// assert!(ToolResultBlock::success("c1", "search", "3 hits").has_name());
    /// ```
    pub fn has_name(&self) -> bool {
        !extensions::is_absent(&self.extra, "name")
    }

    /// Sets the metadata. Consumes the result and returns the changed one.
    ///
    /// ```
    /// use recount_message::ToolResultBlock;
    ///
    /// let result = ToolResultBlock::success("c1", "search", "3 hits").with_metadata([("seconds", 0.2)]);
    /// assert_eq!(result.metadata.to_json(), r#"{"seconds":0.2}"#);
    /// ```
    pub fn with_metadata(mut self, metadata: impl Into<Object>) -> Self {
        self.metadata = metadata.into();
        self
    }
}
