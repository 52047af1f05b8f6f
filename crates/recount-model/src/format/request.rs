//! Request options and their effect on the request.

use recount_message::{Json, Msg, Object, Role, TextBlock};

use super::json_builder::{JsonBuilder, ObjectBuilder};
use super::tools::{Tool, ToolChoice};
use super::warning::FormatWarning;
use crate::Provider;

/// The options of a request.
///
/// ```
/// use recount_model::format::{RequestOptions, Thinking, Tool};
///
/// let options = RequestOptions::new("claude-opus-4-5")
///     .tools([Tool::new("ping")])
///     .max_tokens(4096)
///     .thinking(Thinking::On { budget: Some(2048) });
/// assert_eq!(options.model, "claude-opus-4-5");
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RequestOptions {
    /// The name of the model. Empty omits it, for endpoints with a single model.
    pub model: String,
    /// Whether the response is streamed. Defaults to `true`.
    pub stream: bool,
    /// The tools that the model may call.
    pub tools: Vec<Tool>,
    /// The tools that the model may or must call. `None` is the provider's default.
    pub tool_choice: Option<ToolChoice>,
    /// Whether the model may request several calls at once. Defaults to `true`.
    pub parallel_tool_calls: bool,
    /// The JSON Schema of the response, and the method to enforce it.
    pub structured: Option<Structured>,
    /// Whether the model thinks before it responds.
    pub thinking: Thinking,
    /// The thinking effort, as named by the provider.
    pub effort: Option<String>,
    /// The maximum length of the response, in tokens.
    pub max_tokens: Option<u64>,
    /// The sampling temperature.
    pub temperature: Option<f64>,
    /// The nucleus sampling threshold.
    pub top_p: Option<f64>,
    /// The number of candidate tokens for sampling.
    pub top_k: Option<u64>,
    /// Prompt caching.
    pub cache: Cache,
    /// Additional fields of the request body. They override all other fields; objects are merged with existing ones.
    pub extra: Object,
}

/// Whether a model thinks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Thinking {
    /// The provider's default; the request has no option for it.
    #[default]
    Default,
    /// Thinking is disabled.
    Off,
    /// Thinking is enabled.
    On {
        /// The budget in tokens. `None` is a default that depends on the provider.
        budget: Option<u64>,
    },
    /// The model decides.
    Adaptive,
}

/// Prompt caching: providers charge less for a prefix that they have seen before.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cache {
    /// The provider's default.
    #[default]
    Default,
    /// Cache marks after the tools, the system prompt and the last two user messages, for providers with explicit
    /// caching. Providers with cache keys get `key` instead, which groups the requests of a conversation.
    Marked {
        /// The key of the conversation.
        key: Option<String>,
    },
}

/// A JSON Schema that the response must match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Structured {
    /// The JSON Schema.
    pub schema: Json,
    /// The method to enforce it.
    pub method: StructuredMethod,
}

/// A method to get a response that matches a JSON Schema.
///
/// [`StructuredMethod::fallback_order`] lists the methods of a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StructuredMethod {
    /// The provider enforces the schema on the text of the response.
    Native,
    /// The response is a call of a tool with the schema, which the model must call.
    ForcedTool,
    /// The response is a call of a tool with the schema, and the model decides to call it.
    AutoTool,
    /// Like `ForcedTool`, with thinking disabled, because some providers do not allow both.
    ForcedToolWithoutThinking,
    /// Like `AutoTool`, without a tool choice in the request.
    ToolWithoutChoice,
}

impl StructuredMethod {
    /// Returns the methods of a provider, best first. If one fails, the next may work.
    ///
    /// ```
    /// use recount_model::Provider;
    /// use recount_model::format::{StructuredMethod, Thinking};
    ///
    /// let ways = StructuredMethod::fallback_order(Provider::Anthropic, Thinking::Off);
    /// assert_eq!(ways, [StructuredMethod::ForcedTool, StructuredMethod::AutoTool, StructuredMethod::ToolWithoutChoice]);
    /// assert_eq!(StructuredMethod::fallback_order(Provider::OpenAi, Thinking::Off)[0], StructuredMethod::Native);
    /// ```
    #[must_use]
    pub fn fallback_order(provider: Provider, thinking: Thinking) -> Vec<Self> {
        let is_native = match provider {
            Provider::OpenAi | Provider::OpenAiResponses | Provider::Gemini | Provider::Ollama | Provider::Xai => true,
            // Native support exists for some models only, or without a schema.
            Provider::Anthropic
            | Provider::MiniMax
            | Provider::DashScope
            | Provider::DeepSeek
            | Provider::Moonshot
            | Provider::Volcengine => false,
        };
        // Without thinking, this method equals `ForcedTool`.
        let may_think = thinking != Thinking::Off && !is_native;
        let ladder = [
            (is_native, Self::Native),
            (true, Self::ForcedTool),
            (true, Self::AutoTool),
            (may_think, Self::ForcedToolWithoutThinking),
            (true, Self::ToolWithoutChoice),
        ];
        ladder.into_iter().filter_map(|(is_there, way)| is_there.then_some(way)).collect()
    }
}

/// The name of the tool that receives structured output, for all methods except [`StructuredMethod::Native`].
pub const STRUCTURED_TOOL: &str = "generate_structured_output";

/// A request body with its warnings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The request body.
    pub body: Json,
    /// The content that could not be sent unchanged.
    pub warnings: Vec<FormatWarning>,
}

/// The error of building a request. Messages never cause one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    /// The tool choice names an unknown tool.
    #[error("`tool_choice`: there is no tool `{name}`; the tools are {known}")]
    UnknownTool {
        /// The name in the tool choice.
        name: String,
        /// The names of the available tools.
        known: String,
    },
}

impl RequestOptions {
    /// Creates options for a streamed response, with the provider's defaults.
    #[must_use]
    pub fn new(model: impl Into<String>) -> Self {
        Self {
            model: model.into(),
            stream: true,
            tools: Vec::new(),
            tool_choice: None,
            parallel_tool_calls: true,
            structured: None,
            thinking: Thinking::Default,
            effort: None,
            max_tokens: None,
            temperature: None,
            top_p: None,
            top_k: None,
            cache: Cache::Default,
            extra: Object::new(),
        }
    }

    /// Requests the response in one piece.
    #[must_use]
    pub fn unstreamed(mut self) -> Self {
        self.stream = false;
        self
    }

    /// Sets the tools that the model may call.
    #[must_use]
    pub fn tools(mut self, tools: impl IntoIterator<Item = Tool>) -> Self {
        self.tools = tools.into_iter().collect();
        self
    }

    /// Sets the tools that the model may or must call.
    #[must_use]
    pub fn tool_choice(mut self, choice: ToolChoice) -> Self {
        self.tool_choice = Some(choice);
        self
    }

    /// Disables parallel tool calls.
    #[must_use]
    pub fn without_parallel_tool_calls(mut self) -> Self {
        self.parallel_tool_calls = false;
        self
    }

    /// Requests a response that matches a JSON Schema.
    #[must_use]
    pub fn structured(mut self, schema: impl Into<Json>, method: StructuredMethod) -> Self {
        self.structured = Some(Structured { schema: schema.into(), method });
        self
    }

    /// Sets whether the model thinks.
    #[must_use]
    pub fn thinking(mut self, thinking: Thinking) -> Self {
        self.thinking = thinking;
        self
    }

    /// Sets the thinking effort, as named by the provider.
    #[must_use]
    pub fn effort(mut self, effort: impl Into<String>) -> Self {
        self.effort = Some(effort.into());
        self
    }

    /// Sets the maximum length of the response, in tokens.
    #[must_use]
    pub fn max_tokens(mut self, tokens: u64) -> Self {
        self.max_tokens = Some(tokens);
        self
    }

    /// Sets prompt caching.
    #[must_use]
    pub fn cache(mut self, cache: Cache) -> Self {
        self.cache = cache;
        self
    }

    /// Sets additional fields of the request body.
    #[must_use]
    pub fn extra(mut self, extra: impl Into<Object>) -> Self {
        self.extra = extra.into();
        self
    }
}

/// A request with all decisions made, ready for the provider-specific format.
pub(crate) struct RequestParts<'a> {
    pub(crate) options: &'a RequestOptions,
    pub(crate) messages: Vec<ObjectBuilder>,
    /// All tools, for providers that can restrict the choice themselves.
    pub(crate) all_tools: &'a [Tool],
    /// The tools that may be called.
    pub(crate) tools: Vec<&'a Tool>,
    /// `None` if there are no tools.
    pub(crate) choice: Option<&'a ToolChoice>,
    pub(crate) thinking: Thinking,
    /// The schema of a response that the provider enforces.
    pub(crate) schema: Option<&'a Json>,
}

impl RequestParts<'_> {
    /// Returns the effort if thinking is enabled, because it has no meaning otherwise.
    pub(crate) fn effort_of_thinking(&self) -> Option<&str> {
        let thinks = matches!(self.thinking, Thinking::On { .. } | Thinking::Adaptive);
        self.options.effort.as_deref().filter(|_| thinks)
    }

    /// Creates a body that starts with the model.
    pub(crate) fn body(&self) -> ObjectBuilder {
        let mut body = ObjectBuilder::new();
        body.set_some("model", Some(self.options.model.as_str()).filter(|model| !model.is_empty()));
        body
    }

    /// Whether cache marks are requested.
    pub(crate) fn marks_cache(&self) -> bool {
        matches!(self.options.cache, Cache::Marked { .. })
    }

    /// Returns the cache key of the conversation.
    pub(crate) fn cache_key(&self) -> Option<&str> {
        match &self.options.cache {
            Cache::Marked { key } => key.as_deref(),
            Cache::Default => None,
        }
    }
}

/// The changes to a request for structured output by tool call.
pub(crate) struct StructuredCall {
    pub(crate) tools: [Tool; 1],
    pub(crate) choice: Option<ToolChoice>,
    pub(crate) without_thinking: bool,
}

impl Structured {
    /// Returns the tool and the tool choice. `None` if the provider enforces the schema.
    pub(crate) fn call(&self) -> Option<StructuredCall> {
        let choice = match self.method {
            StructuredMethod::Native => return None,
            StructuredMethod::ForcedTool | StructuredMethod::ForcedToolWithoutThinking => {
                Some(ToolChoice::named(STRUCTURED_TOOL))
            }
            StructuredMethod::AutoTool => Some(ToolChoice::auto()),
            StructuredMethod::ToolWithoutChoice => None,
        };
        let tool = Tool::new(STRUCTURED_TOOL)
            .description("Call this function to generate structured output required by the user.")
            .parameters(self.schema.clone());
        let without_thinking = self.method == StructuredMethod::ForcedToolWithoutThinking;
        Some(StructuredCall { tools: [tool], choice, without_thinking })
    }
}

/// Adds the instruction to call the tool to the last user message, or as a new one.
pub(crate) fn with_structured_instruction(messages: &[Msg]) -> Vec<Msg> {
    let text = format!(
        "<system-reminder>Now you **MUST** call the tool named '{STRUCTURED_TOOL}' to generate the structured output \
         required by the user. DON'T do anything else.</system-reminder>"
    );
    let instruction = TextBlock::new(text);
    let mut messages = messages.to_vec();
    let extended = messages.last().filter(|last| last.role() == Role::User).and_then(|last| {
        let blocks = last.content().iter().cloned().chain([instruction.clone().into()]);
        last.to_builder().content(blocks.collect::<Vec<_>>()).build().ok()
    });
    match (extended, messages.last_mut()) {
        (Some(extended), Some(last)) => *last = extended,
        _ => messages.push(Msg::user("user", instruction)),
    }
    messages
}

/// Adds `cache_control` to the last part of a message that may have it. Plain text becomes a list first. Returns
/// whether a mark was set.
pub(crate) fn mark_cached(message: &mut ObjectBuilder) -> bool {
    if let Some(text) = message.text("content").filter(|text| !text.is_empty()) {
        let part = super::json_builder::object! { "type": "text", "text": text };
        message.set("content", vec![part]);
    }
    let Some(parts) = message.array_mut("content") else { return false };
    let markable = parts.iter_mut().rev().filter_map(JsonBuilder::as_object_mut).find(|part| {
        // Thinking cannot be marked.
        !matches!(part.text("type"), Some("thinking" | "redacted_thinking"))
    });
    markable.map(|part| part.set("cache_control", cache_mark())).is_some()
}

pub(crate) fn cache_mark() -> ObjectBuilder {
    super::json_builder::object! { "type": "ephemeral" }
}
