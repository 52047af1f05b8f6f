//! Conversion of messages to provider requests.
//!
//! A [`Formatter`] knows the request format of one provider. It reads no files and fetches no URLs:
//! [`Formatter::required_media`] lists the media whose bytes are needed, and the caller provides them as [`Media`].
//!
//! ```
//! use recount_message::Msg;
//! use recount_model::Provider;
//! use recount_model::format::{Formatter, Media};
//!
//! let messages = [Msg::system("system", "Be brief."), Msg::user("Alice", "Hello")];
//! let formatted = Formatter::new(Provider::Ollama).format(&messages, &Media::new());
//! assert_eq!(formatted.to_value().as_raw(), concat!(
//!     r#"[{"role":"system","content":"Be brief."},"#,
//!     r#"{"role":"user","content":"Hello"}]"#,
//! ));
//! assert!(formatted.warnings.is_empty());
//! ```
//!
//! Content that a provider does not accept does not fail the request. It is replaced by a text and reported as a
//! [`FormatWarning`].

mod anthropic;
mod arguments;
mod chat_request;
mod gemini;
mod input_types;
mod json_builder;
mod media;
mod multi_agent;
mod names;
mod ollama;
mod openai;
pub mod prompt_tools;
mod provider_format;
mod request;
mod responses;
mod schema;
mod tools;
mod turns;
mod warning;

use recount_message::{Json, Msg};

use crate::Provider;
use input_types::InputTypes;
use json_builder::ObjectBuilder;
use provider_format::{Context, ProviderFormat};

pub use media::{Media, MediaRef};
pub use multi_agent::MultiAgent;
pub use prompt_tools::ToolMode;
pub use request::{
    Cache, Request, RequestError, RequestOptions, STRUCTURED_TOOL, Structured, StructuredMethod, Thinking,
};
pub use tools::{Tool, ToolChoice};
pub use warning::{FormatWarning, FormatWarningKind};

/// Converts messages to the request format of a provider.
///
/// ```
/// use recount_message::Msg;
/// use recount_model::Provider;
/// use recount_model::format::{Formatter, Media, MultiAgent};
///
/// let formatter = Formatter::new(Provider::OpenAi).multi_agent(MultiAgent::History).input_types(["image/*"]);
/// let formatted = formatter.format(&[Msg::user("Alice", "Hello")], &Media::new());
/// assert!(formatted.messages[0].as_raw().contains("<history>\\nAlice: Hello\\n</history>"));
/// ```
#[derive(Debug, Clone)]
pub struct Formatter {
    provider: Provider,
    multi_agent: Option<MultiAgent>,
    history_prompt: String,
    input_types: InputTypes,
    tool_mode: ToolMode,
}

/// Messages in the format of a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Formatted {
    /// One JSON object per message. The system prompt comes first, even if a full request has a separate field for it.
    pub messages: Vec<Json>,
    /// The content that could not be sent unchanged.
    pub warnings: Vec<FormatWarning>,
}

impl Formatted {
    /// Returns the messages as one JSON array.
    #[must_use]
    pub fn to_value(&self) -> Json {
        Json::from(self.messages.clone())
    }
}

impl Formatter {
    /// Creates a formatter for conversations between a user and one agent, with the provider's default input types.
    #[must_use]
    pub fn new(provider: Provider) -> Self {
        Self {
            provider,
            multi_agent: None,
            history_prompt: multi_agent::HISTORY_PROMPT.to_owned(),
            input_types: InputTypes::new(format_of(provider).input_types().iter().copied()),
            tool_mode: ToolMode::Native,
        }
    }

    /// Sets the format of conversations with several agents.
    #[must_use]
    pub fn multi_agent(mut self, form: MultiAgent) -> Self {
        self.multi_agent = Some(form);
        self
    }

    /// Sets the text before the first history of a conversation with several agents.
    #[must_use]
    pub fn history_prompt(mut self, prompt: impl Into<String>) -> Self {
        self.history_prompt = prompt.into();
        self
    }

    /// Sets the media types that the model accepts, as patterns such as `image/*`. The pattern `application/x-thinking`
    /// means that the model accepts its own earlier thinking.
    #[must_use]
    pub fn input_types(mut self, patterns: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.input_types = InputTypes::new(patterns);
        self
    }

    /// Sets how tools are sent to the model.
    #[must_use]
    pub fn tool_mode(mut self, mode: ToolMode) -> Self {
        self.tool_mode = mode;
        self
    }

    /// Returns the provider.
    #[must_use]
    pub fn provider(&self) -> Provider {
        self.provider
    }

    /// Returns the files and URLs whose bytes the provider requires in the request, without duplicates.
    #[must_use]
    pub fn required_media(&self, messages: &[Msg]) -> Vec<MediaRef> {
        provider_format::required_media(format_of(self.provider), &self.input_types, messages)
    }

    /// Converts messages to the provider's format.
    #[must_use]
    pub fn format(&self, messages: &[Msg], media: &Media) -> Formatted {
        let mut warnings = Vec::new();
        let messages = self.messages(messages, media, None, &mut warnings);
        Formatted { messages: messages.into_iter().map(Json::from).collect(), warnings }
    }

    /// Builds the body of a full request.
    ///
    /// ```
    /// use recount_message::Msg;
    /// use recount_model::Provider;
    /// use recount_model::format::{Formatter, Media, RequestOptions};
    ///
    /// let messages = [Msg::system("system", "Be brief."), Msg::user("Alice", "Hello")];
    /// let options = RequestOptions::new("claude-opus-4-5").max_tokens(1024);
    /// let request = Formatter::new(Provider::Anthropic).request(&messages, &Media::new(), &options)?;
    /// assert_eq!(request.body.as_raw(), concat!(
    ///     r#"{"model":"claude-opus-4-5","system":[{"type":"text","text":"Be brief."}],"#,
    ///     r#""messages":[{"role":"user","content":[{"type":"text","text":"Hello"}]}],"#,
    ///     r#""max_tokens":1024,"stream":true}"#,
    /// ));
    /// # Ok::<(), recount_model::format::RequestError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the tool choice names an unknown tool.
    pub fn request(&self, messages: &[Msg], media: &Media, options: &RequestOptions) -> Result<Request, RequestError> {
        let call = options.structured.as_ref().and_then(Structured::call);
        let (tools, choice): (&[Tool], _) = match &call {
            Some(call) => (&call.tools, options.tool_choice.as_ref().or(call.choice.as_ref())),
            None => (&options.tools, options.tool_choice.as_ref()),
        };
        let choice = choice.filter(|_| !tools.is_empty());
        if let Some(name) = choice.and_then(|choice| choice.unknown(tools)) {
            let known = tools.iter().map(Tool::name).collect::<Vec<_>>().join(", ");
            return Err(RequestError::UnknownTool { name: name.to_owned(), known });
        }
        let mut warnings = Vec::new();
        let instructed = call.as_ref().map(|_| request::with_structured_instruction(messages));
        let allowed: Vec<&Tool> =
            tools.iter().filter(|tool| choice.is_none_or(|choice| choice.allows(tool.name()))).collect();
        let by_prompt = self.tool_mode == ToolMode::Prompt;
        let instructions = (by_prompt && !allowed.is_empty()).then(|| prompt_tools::instructions(&allowed));
        let messages = instructed.as_deref().unwrap_or(messages);
        let request = request::RequestParts {
            options,
            messages: self.messages(messages, media, instructions, &mut warnings),
            all_tools: if by_prompt { &[] } else { tools },
            tools: if by_prompt { Vec::new() } else { allowed },
            choice: choice.filter(|_| !by_prompt),
            thinking: match &call {
                Some(call) if call.without_thinking => Thinking::Off,
                Some(_) | None => options.thinking,
            },
            schema: options.structured.as_ref().filter(|_| call.is_none()).map(|structured| &structured.schema),
        };
        let mut body = format_of(self.provider).body(request);
        for (key, value) in options.extra.iter() {
            body.merge(key, value);
        }
        Ok(Request { body: body.into(), warnings })
    }

    fn messages(
        &self,
        messages: &[Msg],
        media: &Media,
        tool_instructions: Option<String>,
        warnings: &mut Vec<FormatWarning>,
    ) -> Vec<ObjectBuilder> {
        let format = format_of(self.provider);
        let mut turns = turns::turns(messages, format.call_rules(), warnings);
        if self.tool_mode == ToolMode::Prompt {
            turns = prompt_tools::as_text(turns, tool_instructions, warnings);
        }
        let mut cx = Context { media, input: &self.input_types, warnings };
        match self.multi_agent {
            None => format.chat(&turns, &mut cx),
            Some(form) => multi_agent::format(format, form, &self.history_prompt, &turns, &mut cx),
        }
    }
}

fn format_of(provider: Provider) -> &'static dyn ProviderFormat {
    match provider {
        Provider::OpenAi => &openai::OPENAI,
        Provider::OpenAiResponses => &responses::Responses,
        Provider::Anthropic => &anthropic::ANTHROPIC,
        Provider::MiniMax => &anthropic::MINIMAX,
        Provider::Gemini => &gemini::Gemini,
        Provider::Ollama => &ollama::Ollama,
        Provider::DashScope => &openai::DASHSCOPE,
        Provider::DeepSeek => &openai::DEEPSEEK,
        Provider::Moonshot => &openai::MOONSHOT,
        Provider::Xai => &openai::XAI,
        Provider::Volcengine => &openai::VOLCENGINE,
    }
}
