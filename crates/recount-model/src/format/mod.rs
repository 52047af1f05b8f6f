//! From messages to a request.
//!
//! A [`Formatter`] knows what one provider wants. It reads no file and fetches no URL: [`Formatter::needs`] says which
//! bytes it wants, and whoever calls it brings them as [`Media`].
//!
//! ```
//! use recount_message::Msg;
//! use recount_model::Provider;
//! use recount_model::format::{Formatter, Media};
//!
//! let messages = [Msg::system("system", "Be brief."), Msg::user("Alice", "Hello")];
//! let formatted = Formatter::new(Provider::Ollama).format(&messages, &Media::new());
//! assert_eq!(formatted.to_json().as_str(), concat!(
//!     r#"[{"role":"system","content":"Be brief."},"#,
//!     r#"{"role":"user","content":"Hello"}]"#,
//! ));
//! assert!(formatted.warnings.is_empty());
//! ```
//!
//! What a provider cannot take never makes a request fail. It becomes text, and a [`FormatWarning`] says so.

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

/// Turns messages into what a provider takes.
///
/// ```
/// use recount_message::Msg;
/// use recount_model::Provider;
/// use recount_model::format::{Formatter, Media, MultiAgent};
///
/// let formatter = Formatter::new(Provider::OpenAi).multi_agent(MultiAgent::History).input_types(["image/*"]);
/// let formatted = formatter.format(&[Msg::user("Alice", "Hello")], &Media::new());
/// assert!(formatted.messages[0].as_str().contains("<history>\\nAlice: Hello\\n</history>"));
/// ```
#[derive(Debug, Clone)]
pub struct Formatter {
    provider: Provider,
    multi_agent: Option<MultiAgent>,
    history_prompt: String,
    input_types: InputTypes,
    tool_mode: ToolMode,
}

/// Messages as a provider takes them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Formatted {
    /// One JSON object for each. A system prompt comes first, also where a whole request has it elsewhere.
    pub messages: Vec<Json>,
    /// What could not be said as it was.
    pub warnings: Vec<FormatWarning>,
}

impl Formatted {
    /// The messages as one JSON array.
    #[must_use]
    pub fn to_json(&self) -> Json {
        Json::from(self.messages.clone())
    }
}

impl Formatter {
    /// For conversations between a user and one agent, with the media that the provider takes by default.
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

    /// For conversations of several agents.
    #[must_use]
    pub fn multi_agent(mut self, form: MultiAgent) -> Self {
        self.multi_agent = Some(form);
        self
    }

    /// What stands before the history of several agents, the first time that it is told.
    #[must_use]
    pub fn history_prompt(mut self, prompt: impl Into<String>) -> Self {
        self.history_prompt = prompt.into();
        self
    }

    /// The media that the model takes, as patterns such as `image/*`. `application/x-thinking` among them says that it
    /// reads its own thinking again.
    #[must_use]
    pub fn input_types(mut self, patterns: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.input_types = InputTypes::new(patterns);
        self
    }

    /// How tools are brought to the model.
    #[must_use]
    pub fn tool_mode(mut self, mode: ToolMode) -> Self {
        self.tool_mode = mode;
        self
    }

    /// The provider.
    #[must_use]
    pub fn provider(&self) -> Provider {
        self.provider
    }

    /// The files and URLs that this provider wants as bytes within the request, each once.
    #[must_use]
    pub fn required_media(&self, messages: &[Msg]) -> Vec<MediaRef> {
        provider_format::required_media(format_of(self.provider), &self.input_types, messages)
    }

    /// The messages in the provider's form.
    #[must_use]
    pub fn format(&self, messages: &[Msg], media: &Media) -> Formatted {
        let mut warnings = Vec::new();
        let messages = self.messages(messages, media, None, &mut warnings);
        Formatted { messages: messages.into_iter().map(Json::from).collect(), warnings }
    }

    /// The body of a whole request.
    ///
    /// ```
    /// use recount_message::Msg;
    /// use recount_model::Provider;
    /// use recount_model::format::{Formatter, Media, RequestOptions};
    ///
    /// let messages = [Msg::system("system", "Be brief."), Msg::user("Alice", "Hello")];
    /// let options = RequestOptions::new("claude-opus-4-5").max_tokens(1024);
    /// let request = Formatter::new(Provider::Anthropic).request(&messages, &Media::new(), &options)?;
    /// assert_eq!(request.body.as_str(), concat!(
    ///     r#"{"model":"claude-opus-4-5","system":[{"type":"text","text":"Be brief."}],"#,
    ///     r#""messages":[{"role":"user","content":[{"type":"text","text":"Hello"}]}],"#,
    ///     r#""max_tokens":1024,"stream":true}"#,
    /// ));
    /// # Ok::<(), recount_model::format::RequestError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When the tool choice names a tool that is not there.
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
        let dialect = format_of(self.provider);
        let mut turns = turns::turns(messages, dialect.call_rules(), warnings);
        if self.tool_mode == ToolMode::Prompt {
            turns = prompt_tools::as_text(turns, tool_instructions, warnings);
        }
        let mut cx = Context { media, input: &self.input_types, warnings };
        match self.multi_agent {
            None => dialect.chat(&turns, &mut cx),
            Some(form) => multi_agent::format(dialect, form, &self.history_prompt, &turns, &mut cx),
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
