//! A whole request: messages, tools, and how the answer shall be.

use recount_message::{Json, Msg, Object, Role, TextBlock};

use super::json_builder::{JsonBuilder, ObjectBuilder};
use super::tools::{Tool, ToolChoice};
use super::warning::FormatWarning;
use crate::Provider;

/// What a request asks for, beside the messages.
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
    /// The model's name. Empty leaves it out, for endpoints that have only one.
    pub model: String,
    /// Whether the answer is streamed. It is, unless said otherwise.
    pub stream: bool,
    /// The tools that the model may call.
    pub tools: Vec<Tool>,
    /// Which of them it may or must call; nothing is the provider's default.
    pub tool_choice: Option<ToolChoice>,
    /// Whether it may call several at once.
    pub parallel_tool_calls: bool,
    /// The form that the answer has to have.
    pub structured: Option<Structured>,
    /// Whether it thinks before it answers.
    pub thinking: Thinking,
    /// How much it thinks, in the provider's words.
    pub effort: Option<String>,
    /// The longest answer, in tokens.
    pub max_tokens: Option<u64>,
    /// How freely it picks its words.
    pub temperature: Option<f64>,
    /// How much of the probable it picks from.
    pub top_p: Option<f64>,
    /// How many words it picks from.
    pub top_k: Option<u64>,
    /// What of the request the provider keeps for the next one.
    pub cache: Cache,
    /// Further fields of the body, in the provider's words. They win over all others; an object is merged with one that
    /// is there.
    pub extra: Object,
}

/// Whether a model thinks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Thinking {
    /// As the provider has it by default: nothing is said about it.
    #[default]
    Default,
    /// It does not.
    Off,
    /// It does.
    On {
        /// How long, in tokens; nothing is a fitting number.
        budget: Option<u64>,
    },
    /// It does where it finds it worth while.
    Adaptive,
}

/// What a provider keeps of a request, so that the next one with the same beginning costs less.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cache {
    /// What the provider does by itself.
    #[default]
    Default,
    /// Marks at the end of the tools, of the system prompt and of the last two user's messages, for providers that want
    /// to be told. For those that go by a key, `key` is it: requests with the same one are kept together.
    Marked {
        /// The conversation's key.
        key: Option<String>,
    },
}

/// A form that the answer has to have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Structured {
    /// The JSON Schema.
    pub schema: Json,
    /// How the model is brought to keep to it.
    pub method: StructuredMethod,
}

/// How a model is brought to answer in a form.
///
/// [`StructuredMethod::fallback_order`] has them in the order in which one tries them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StructuredMethod {
    /// The provider has it as a feature: the answer is a text that is JSON of the schema.
    Native,
    /// The answer is the call of a tool that has the schema, and the model must call it.
    ForcedTool,
    /// The same, and the model is only asked to.
    AutoTool,
    /// The model must call it, and does not think, which some providers do not allow together.
    ForcedToolWithoutThinking,
    /// The model is asked to, and the request does not speak of choosing tools.
    ToolWithoutChoice,
}

impl StructuredMethod {
    /// The ways that a provider has, the best one first. Where one fails, the next may not.
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
            // They have it for some of their models only, or not with a schema.
            Provider::Anthropic
            | Provider::MiniMax
            | Provider::DashScope
            | Provider::DeepSeek
            | Provider::Moonshot
            | Provider::Volcengine => false,
        };
        // Without thinking the third rung would be the first one again.
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

/// The tool whose call is the answer, where a form is asked for by [`StructuredMethod::ForcedTool`] and its kin.
pub const STRUCTURED_TOOL: &str = "generate_structured_output";

/// A request, ready to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The body.
    pub body: Json,
    /// What could not be said as it was.
    pub warnings: Vec<FormatWarning>,
}

/// Why a request cannot be made. Messages are never the reason.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    /// The tool choice names a tool that is not among those that may be called.
    #[error("`tool_choice`: there is no tool `{name}`; the tools are {known}")]
    UnknownTool {
        /// The name.
        name: String,
        /// The tools that there are.
        known: String,
    },
}

impl RequestOptions {
    /// A streamed answer, and everything else as the provider has it by default.
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

    /// The answer in one piece.
    #[must_use]
    pub fn unstreamed(mut self) -> Self {
        self.stream = false;
        self
    }

    /// The tools that the model may call.
    #[must_use]
    pub fn tools(mut self, tools: impl IntoIterator<Item = Tool>) -> Self {
        self.tools = tools.into_iter().collect();
        self
    }

    /// Which of them it may or must call.
    #[must_use]
    pub fn tool_choice(mut self, choice: ToolChoice) -> Self {
        self.tool_choice = Some(choice);
        self
    }

    /// One call at a time.
    #[must_use]
    pub fn without_parallel_tool_calls(mut self) -> Self {
        self.parallel_tool_calls = false;
        self
    }

    /// An answer of a form.
    #[must_use]
    pub fn structured(mut self, schema: impl Into<Json>, method: StructuredMethod) -> Self {
        self.structured = Some(Structured { schema: schema.into(), method });
        self
    }

    /// Whether it thinks.
    #[must_use]
    pub fn thinking(mut self, thinking: Thinking) -> Self {
        self.thinking = thinking;
        self
    }

    /// How much it thinks, in the provider's words.
    #[must_use]
    pub fn effort(mut self, effort: impl Into<String>) -> Self {
        self.effort = Some(effort.into());
        self
    }

    /// The longest answer, in tokens.
    #[must_use]
    pub fn max_tokens(mut self, tokens: u64) -> Self {
        self.max_tokens = Some(tokens);
        self
    }

    /// What of the request the provider keeps.
    #[must_use]
    pub fn cache(mut self, cache: Cache) -> Self {
        self.cache = cache;
        self
    }

    /// Further fields of the body.
    #[must_use]
    pub fn extra(mut self, extra: impl Into<Object>) -> Self {
        self.extra = extra.into();
        self
    }
}

/// The parts of a request, settled: what is left is to put them into the provider's words.
pub(crate) struct RequestParts<'a> {
    pub(crate) options: &'a RequestOptions,
    pub(crate) messages: Vec<ObjectBuilder>,
    /// All tools, for providers that can narrow the choice by themselves.
    pub(crate) all_tools: &'a [Tool],
    /// The tools that may be called.
    pub(crate) tools: Vec<&'a Tool>,
    /// Nothing where there are no tools to choose from.
    pub(crate) choice: Option<&'a ToolChoice>,
    pub(crate) thinking: Thinking,
    /// The schema of an answer that the provider itself holds to its form.
    pub(crate) schema: Option<&'a Json>,
}

impl RequestParts<'_> {
    /// The effort, where the model is told to think: where it is not, none is meant.
    pub(crate) fn effort_of_thinking(&self) -> Option<&str> {
        let thinks = matches!(self.thinking, Thinking::On { .. } | Thinking::Adaptive);
        self.options.effort.as_deref().filter(|_| thinks)
    }

    /// A body that begins with the model.
    pub(crate) fn body(&self) -> ObjectBuilder {
        let mut body = ObjectBuilder::new();
        body.set_some("model", Some(self.options.model.as_str()).filter(|model| !model.is_empty()));
        body
    }

    /// Whether marks are wanted.
    pub(crate) fn marks_cache(&self) -> bool {
        matches!(self.options.cache, Cache::Marked { .. })
    }

    /// The key under which the provider keeps the conversation.
    pub(crate) fn cache_key(&self) -> Option<&str> {
        match &self.options.cache {
            Cache::Marked { key } => key.as_deref(),
            Cache::Default => None,
        }
    }
}

/// What a schema asked for by a tool adds to a request.
pub(crate) struct StructuredCall {
    pub(crate) tools: [Tool; 1],
    pub(crate) choice: Option<ToolChoice>,
    pub(crate) without_thinking: bool,
}

impl Structured {
    /// The tool and its choice; nothing where the provider itself holds the answer to its form.
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

/// The messages with the instruction to call the tool, in the last user's message or one of its own.
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

/// Puts `cache_control` on the last part of a message's content that may have it. A plain text becomes a list for it.
pub(crate) fn mark_cached(message: &mut ObjectBuilder) -> bool {
    if let Some(text) = message.text("content").filter(|text| !text.is_empty()) {
        let part = super::json_builder::object! { "type": "text", "text": text };
        message.set("content", vec![part]);
    }
    let Some(parts) = message.array_mut("content") else { return false };
    let markable = parts.iter_mut().rev().filter_map(JsonBuilder::as_object_mut).find(|part| {
        // What the model thought is never marked.
        !matches!(part.text("type"), Some("thinking" | "redacted_thinking"))
    });
    markable.map(|part| part.set("cache_control", cache_mark())).is_some()
}

pub(crate) fn cache_mark() -> ObjectBuilder {
    super::json_builder::object! { "type": "ephemeral" }
}
