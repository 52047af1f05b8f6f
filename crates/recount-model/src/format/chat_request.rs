//! The body of chat completion requests, for OpenAI and compatible providers.

use recount_message::Json;

use super::json_builder::{JsonBuilder, ObjectBuilder, object};
use super::request::{RequestParts, Thinking, mark_cached};
use super::schema;
use super::tools::{Mode, Tool, ToolChoice};

/// The provider-specific variant of the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChatApi {
    OpenAi,
    DashScope,
    DeepSeek,
    Moonshot,
    Volcengine,
    Xai,
}

impl ChatApi {
    pub(crate) fn body(self, mut request: RequestParts<'_>) -> ObjectBuilder {
        let options = request.options;
        let mut body = request.body();
        if self == Self::DashScope && request.marks_cache() {
            mark_conversation(&mut request.messages);
        }
        body.set("messages", std::mem::take(&mut request.messages));
        if !request.tools.is_empty() {
            let schema = if self == Self::OpenAi { schema::inlined } else { schema::unchanged };
            let tool = |tool: &&Tool| object! { "type": "function", "function": tool.function(schema) };
            body.set("tools", request.tools.iter().map(tool).collect::<Vec<_>>());
            let takes_parallel = matches!(self, Self::OpenAi | Self::DashScope | Self::Xai);
            if takes_parallel && !options.parallel_tool_calls {
                body.set("parallel_tool_calls", false);
            }
        }
        body.set_some("tool_choice", request.choice.map(|choice| self.choice(choice)));
        body.set_some("response_format", request.schema.map(response_format));
        body.set_some(self.max_tokens(&options.model), options.max_tokens);
        body.set_some("temperature", options.temperature);
        body.set_some("top_p", options.top_p);
        if self == Self::DashScope {
            body.set_some("top_k", options.top_k);
        }
        self.thinking(&request, &mut body);
        if self == Self::OpenAi {
            body.set_some("prompt_cache_key", request.cache_key());
        }
        body.set("stream", options.stream);
        if options.stream {
            body.set("stream_options", object! { "include_usage": true });
        }
        body
    }

    fn max_tokens(self, model: &str) -> &'static str {
        match self {
            Self::OpenAi => "max_completion_tokens",
            Self::Moonshot if is_kimi_k3(model) => "max_completion_tokens",
            Self::Moonshot | Self::DashScope | Self::DeepSeek | Self::Volcengine | Self::Xai => "max_tokens",
        }
    }

    fn choice(self, choice: &ToolChoice) -> JsonBuilder {
        match &choice.mode {
            Mode::Auto => "auto".into(),
            Mode::None => "none".into(),
            // DashScope does not support `required`.
            Mode::Required if self == Self::DashScope => "auto".into(),
            Mode::Required => "required".into(),
            Mode::Named(name) => object! { "type": "function", "function": object! { "name": name.as_str() } }.into(),
        }
    }

    fn thinking(self, request: &RequestParts<'_>, body: &mut ObjectBuilder) {
        let options = request.options;
        match self {
            Self::OpenAi | Self::Xai => body.set_some("reasoning_effort", request.effort_of_thinking()),
            Self::DashScope => {
                let (thinks, budget) = match request.thinking {
                    Thinking::Default => return,
                    Thinking::Off => (false, None),
                    Thinking::On { budget } => (true, budget),
                    Thinking::Adaptive => (true, None),
                };
                body.set("enable_thinking", thinks);
                body.set_some("thinking_budget", budget);
            }
            Self::Moonshot if is_kimi_k3(&options.model) => {
                body.set_some("reasoning_effort", options.effort.as_deref());
            }
            Self::Moonshot => switch_thinking(request.thinking, body),
            Self::DeepSeek | Self::Volcengine => {
                body.set_some("reasoning_effort", options.effort.as_deref());
                switch_thinking(request.thinking, body);
            }
        }
    }
}

/// Whether a Moonshot model always thinks and accepts only an effort.
fn is_kimi_k3(model: &str) -> bool {
    model == "kimi-k3"
}

fn switch_thinking(thinking: Thinking, body: &mut ObjectBuilder) {
    let state = match thinking {
        Thinking::Default => return,
        Thinking::Off => "disabled",
        Thinking::On { .. } | Thinking::Adaptive => "enabled",
    };
    body.set("thinking", object! { "type": state });
}

fn response_format(schema: &Json) -> ObjectBuilder {
    let named = object! { "name": "structured_output", "schema": schema::inlined(schema) };
    object! { "type": "json_schema", "json_schema": named }
}

/// Marks the system prompt and the last two user messages for caching.
fn mark_conversation(messages: &mut [ObjectBuilder]) {
    let is = |role: &'static str| move |message: &&mut ObjectBuilder| message.text("role") == Some(role);
    if let Some(system) = messages.iter_mut().take_while(is("system")).last() {
        mark_cached(system);
    }
    for message in messages.iter_mut().rev().filter(is("user")).take(2) {
        mark_cached(message);
    }
}
