//! Tool calls, their results, and the rules that let them run.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Payload;
use crate::json::record::record;
use crate::json::wire::words;
use crate::time::now_text;
use crate::{Object, StructuredError, marks};

words! {
    /// Where a tool call stands.
    ///
    /// ```
    /// use recount_message::{ToolCallBlock, ToolCallState};
    ///
    /// let call = ToolCallBlock::new("c1", "shell", "{}").with_state(ToolCallState::Asking);
    /// let waits = matches!(call.state, ToolCallState::Asking | ToolCallState::Submitted);
    /// assert!(waits);
    /// ```
    pub enum ToolCallState as "tool call state" {
        /// Not yet checked.
        Pending = "pending",
        /// Waits for the user's permission.
        Asking = "asking",
        /// Allowed by the user or a rule, not yet run.
        Allowed = "allowed",
        /// Handed out, waits for the result.
        Submitted = "submitted",
        /// Over, well or not.
        Finished = "finished",
    }
}

words! {
    /// How a tool's execution went.
    ///
    /// ```
    /// use recount_message::{ToolResultBlock, ToolResultState};
    ///
    /// let result = ToolResultBlock::new("c1", "shell", "refused by the user", ToolResultState::Denied);
    /// assert_ne!(result.state, ToolResultState::Success);
    /// ```
    pub enum ToolResultState as "tool result state" {
        /// It worked.
        Success = "success",
        /// It failed.
        Error = "error",
        /// It was interrupted.
        Interrupted = "interrupted",
        /// It was not allowed to run.
        Denied = "denied",
        /// It is still running.
        Running = "running",
    }
}

words! {
    /// What a permission rule does.
    ///
    /// ```
    /// use recount_message::{PermissionBehavior, PermissionRule};
    ///
    /// let rule = PermissionRule::new("delete_file", None, PermissionBehavior::Deny);
    /// assert_eq!(rule.behavior.to_string(), "deny");
    /// ```
    pub enum PermissionBehavior as "behavior" {
        /// The tool runs.
        Allow = "allow",
        /// The tool does not run.
        Deny = "deny",
        /// The user is asked.
        Ask = "ask",
        /// The rule has no opinion.
        Passthrough = "passthrough",
    }
}

record! {
    /// A rule that lets a tool run, forbids it, or has the user asked.
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
        /// The tool that the rule is for.
        pub tool_name: String,
        /// What the rule matches, in the tool's own language; `null` matches everything.
        pub rule_content: Option<String>,
        /// What happens to a call that matches.
        pub behavior: PermissionBehavior,
        /// Where the rule comes from, such as `suggested`.
        pub source: String,
    }
}

impl PermissionRule {
    /// A rule for a tool. Nothing for the content matches every call.
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

    /// The same rule from another source, such as `suggested`.
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
    /// A tool that the model wants to be called.
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
        /// The tool.
        pub name: String,
        /// The arguments: JSON text, as the model wrote it.
        pub input: String,
        /// Where the call stands.
        pub state: ToolCallState = |_here| ToolCallState::Pending,
        /// Rules that the user may accept along with the call.
        pub suggested_rules: Vec<PermissionRule> = |_here| Vec::new(),
        /// When the block began.
        pub created_at: String = |here| here.time.to_owned(),
        /// When the block was complete.
        pub finished_at: Option<String> = |_here| None,
    }
}

impl ToolCallBlock {
    /// A call whose arguments are JSON text.
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

    /// A call whose arguments are a Rust value.
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
    /// When the value cannot be written as JSON.
    pub fn with_arguments(
        id: impl Into<String>,
        name: impl Into<String>,
        arguments: &(impl Serialize + ?Sized),
    ) -> Result<Self, serde_json::Error> {
        Ok(Self::new(id, name, serde_json::to_string(arguments)?))
    }

    /// The same call in another state.
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

    /// The same call without a name, as AgentScope Java has them. Natively the name is empty then, with a mark.
    ///
    /// ```
    /// use recount_message::ToolCallBlock;
    ///
    /// let call = ToolCallBlock::new("c1", "search", "{}").without_name();
    /// assert_eq!(call.name, "");
    /// ```
    pub fn without_name(mut self) -> Self {
        self.name.clear();
        marks::mark_absent(&mut self.extra, "name");
        self
    }

    /// Whether the tool is named.
    ///
    /// ```
    /// use recount_message::ToolCallBlock;
    ///
    /// let call = ToolCallBlock::new("c1", "search", "{}");
    /// assert!(call.has_name());
    /// assert!(!call.without_name().has_name());
    /// ```
    pub fn has_name(&self) -> bool {
        !marks::is_absent(&self.extra, "name")
    }

    /// The arguments as a Rust type. An empty text means no arguments.
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
    /// When the text is not JSON or does not fit the type; the error names the place.
    pub fn arguments<T: DeserializeOwned>(&self) -> Result<T, StructuredError> {
        let input = self.input.trim();
        StructuredError::decode(if input.is_empty() { "{}" } else { input })
    }

    /// What the tool answered, as the result of this call.
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

    /// What went wrong, as the result of this call.
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
    /// What a tool answered. Its id is that of the call.
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
        /// Id of the call that this answers.
        pub id: String,
        /// The tool.
        pub name: String,
        /// The answer: a string, or blocks of text and data.
        pub output: Payload,
        /// How the execution went.
        pub state: ToolResultState = |_here| ToolResultState::Running,
        /// What the tool says beside its answer.
        pub metadata: Object = |_here| Object::new(),
        /// When the block began.
        pub created_at: String = |here| here.time.to_owned(),
        /// When the block was complete.
        pub finished_at: Option<String> = |_here| None,
    }
}

impl ToolResultBlock {
    /// A result in any state.
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

    /// A tool that worked.
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

    /// A tool that failed.
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

    /// The same result without a name, as AgentScope Java has them. Natively the name is empty then, with a mark.
    ///
    /// ```
    /// use recount_message::ToolResultBlock;
    ///
    /// let result = ToolResultBlock::error("call_1", "", "connection timeout").without_name();
    /// assert!(!result.has_name());
    /// ```
    pub fn without_name(mut self) -> Self {
        self.name.clear();
        marks::mark_absent(&mut self.extra, "name");
        self
    }

    /// Whether the tool is named.
    ///
    /// ```
    /// use recount_message::ToolResultBlock;
    ///
    /// assert!(ToolResultBlock::success("c1", "search", "3 hits").has_name());
    /// ```
    pub fn has_name(&self) -> bool {
        !marks::is_absent(&self.extra, "name")
    }

    /// The same result with something that the tool says beside its answer.
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
