//! Detection of requests that exceed the context window.

use recount_message::ErrorType;

use super::CallError;

/// Parts of the providers' error messages and codes, in lower case.
const PATTERNS: &[&str] = &[
    // OpenAI, DeepSeek and compatible endpoints; Ollama and llama.cpp.
    "context_length_exceeded",
    "maximum context length",
    "input tokens exceed",
    "exceeds the available context size",
    "exceed_context_size",
    // Anthropic.
    "prompt is too long",
    "exceed context limit",
    // Gemini.
    "exceeds the maximum number of tokens",
    // xAI.
    "maximum prompt length",
    // DashScope, Moonshot, MiniMax, Volcengine.
    "range of input length",
    "exceeded model token limit",
    "token length too long",
    "context window exceeds limit",
    "exceed max message tokens",
];

impl CallError {
    /// Whether the request exceeded the context window of the model. A shorter conversation may succeed.
    ///
    /// ```
    /// use recount_message::ErrorType;
    /// use recount_model::decode::{CallError, CallErrorKind};
    ///
    /// let rejected = |message| CallError::new(CallErrorKind::Provider, ErrorType::InvalidRequest, message);
    /// assert!(rejected("400: prompt is too long: 208310 tokens > 200000 maximum").is_context_overflow());
    /// assert!(!rejected("400: max_tokens is too large").is_context_overflow());
    /// ```
    #[must_use]
    pub fn is_context_overflow(&self) -> bool {
        let texts = [Some(self.to_string()), self.code().map(str::to_owned)];
        let texts = texts.iter().flatten().map(|text| text.to_ascii_lowercase());
        self.class() == ErrorType::InvalidRequest
            && texts.into_iter().any(|text| PATTERNS.iter().any(|part| text.contains(part)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recognizes_messages_of_every_provider() {
        for (message, code) in [
            ("This model's maximum context length is 128000 tokens.", Some("context_length_exceeded")),
            ("Input tokens exceed the configured limit of 272,000 tokens.", None),
            ("prompt is too long: 208310 tokens > 200000 maximum", Some("invalid_request_error")),
            ("input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000", None),
            ("The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", None),
            ("This model's maximum prompt length is 131072 but the request contains 140000 tokens.", None),
            ("Range of input length should be [1, 98304]", Some("InvalidParameter")),
        ] {
            let error = CallError::reported(Some(message), &[code], Some(400));
            assert!(error.is_context_overflow(), "{message}");
        }
        let limit = CallError::reported(Some("too many tokens per minute"), &[Some("rate_limit_exceeded")], Some(429));
        assert!(!limit.is_context_overflow());
    }
}
