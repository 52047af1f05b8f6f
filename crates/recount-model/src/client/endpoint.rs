//! Base URLs and request headers of the providers.

use http::HeaderMap;
use http::header::{AUTHORIZATION, HeaderName, HeaderValue};
use reqwest::Url;

use super::key::ApiKey;
use crate::Provider;

/// The error of an invalid base URL.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid base URL `{base_url}`: {reason}")]
pub struct BaseUrlError {
    base_url: String,
    reason: String,
}

/// A base URL, to which the path of a request is appended.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct BaseUrl(Url);

impl BaseUrl {
    /// Returns the provider's default base URL.
    pub(super) fn of(provider: Provider) -> Result<Self, BaseUrlError> {
        Self::parse(provider, default_base_url(provider))
    }

    /// Parses a base URL. Ollama's may be a bare host, as in `OLLAMA_HOST`.
    pub(super) fn parse(provider: Provider, text: &str) -> Result<Self, BaseUrlError> {
        let text = text.trim();
        let whole = if provider == Provider::Ollama { ollama_base_url(text) } else { text.to_owned() };
        let refuse = |reason: String| {
            // The part before an `@` may hold a password.
            let base_url = text.rsplit('@').next().unwrap_or(text).to_owned();
            BaseUrlError { base_url, reason }
        };
        if !whole.contains("://") {
            return Err(refuse("it must start with `http://` or `https://`".to_owned()));
        }
        let url = Url::parse(&whole).map_err(|error| refuse(error.to_string()))?;
        match url.scheme() {
            "http" | "https" => Ok(Self(url)),
            scheme => Err(refuse(format!("unsupported scheme `{scheme}`, expected `http` or `https`"))),
        }
    }

    /// Returns the URL of a request.
    pub(super) fn request(&self, provider: Provider, model: &str, streamed: bool) -> Url {
        let mut url = self.0.clone();
        let has = |part: &str| self.0.path_segments().is_some_and(|mut parts| parts.any(|found| found == part));
        let mut add = Vec::new();
        match provider {
            Provider::OpenAi
            | Provider::DashScope
            | Provider::DeepSeek
            | Provider::Moonshot
            | Provider::Xai
            | Provider::Volcengine => add.extend(["chat", "completions"]),
            Provider::OpenAiResponses => add.push("responses"),
            Provider::Anthropic | Provider::MiniMax => {
                // The environment variable conventionally has no version, but users copy URLs that have one.
                if !has("v1") {
                    add.push("v1");
                }
                add.push("messages");
            }
            Provider::Ollama => {
                if !has("api") {
                    add.push("api");
                }
                add.push("chat");
            }
            Provider::Gemini => {
                if !["v1", "v1beta", "v1alpha"].into_iter().any(has) {
                    add.push("v1beta");
                }
                if !model.contains('/') {
                    add.push("models");
                }
                add.extend(model.split('/'));
            }
        }
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(add);
        }
        if provider == Provider::Gemini {
            let method = if streamed { "streamGenerateContent" } else { "generateContent" };
            let path = format!("{}:{method}", url.path());
            url.set_path(&path);
            if streamed {
                url.query_pairs_mut().append_pair("alt", "sse");
            }
        }
        url
    }

    /// Returns the URL without credentials, query and fragment, which may be secret.
    pub(super) fn redacted(&self) -> String {
        let mut url = self.0.clone();
        url.set_query(None);
        url.set_fragment(None);
        let is_bare = url.username().is_empty() && url.password().is_none();
        if !is_bare && (url.set_username("").is_err() || url.set_password(None).is_err()) {
            return url.host_str().unwrap_or_default().to_owned();
        }
        url.to_string()
    }
}

/// Returns the scheme, host and port of an address, which are safe to show: the rest may hold a password or a key.
pub(super) fn origin(uri: &http::Uri) -> String {
    let port = uri.port().map(|port| format!(":{port}")).unwrap_or_default();
    format!("{}://{}{port}", uri.scheme_str().unwrap_or_default(), uri.host().unwrap_or_default())
}

fn default_base_url(provider: Provider) -> &'static str {
    match provider {
        Provider::OpenAi | Provider::OpenAiResponses => "https://api.openai.com/v1",
        Provider::Anthropic => "https://api.anthropic.com",
        Provider::DashScope => "https://dashscope.aliyuncs.com/compatible-mode/v1",
        Provider::Gemini => "https://generativelanguage.googleapis.com",
        Provider::Ollama => "http://localhost:11434",
        Provider::DeepSeek => "https://api.deepseek.com",
        Provider::Moonshot => "https://api.moonshot.cn/v1",
        Provider::Xai => "https://api.x.ai/v1",
        Provider::MiniMax => "https://api.minimaxi.com/anthropic",
        Provider::Volcengine => "https://ark.cn-beijing.volces.com/api/v3",
    }
}

/// Expands `OLLAMA_HOST`, which also configures the listen address of the server: `gpu`, `:8080`, `0.0.0.0` or a full
/// URL.
fn ollama_base_url(text: &str) -> String {
    let (scheme, rest) = text.split_once("://").unwrap_or(("http", text));
    let (host, path) = rest.find('/').and_then(|at| rest.split_at_checked(at)).unwrap_or((rest, ""));
    let (host, port) = match host.rsplit_once(':') {
        Some((host, port)) if !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) => (host, port),
        _ if scheme == "https" => (host, "443"),
        // A full URL implies the port of its scheme, a bare host Ollama's port.
        _ if text.contains("://") => (host, "80"),
        _ => (host, "11434"),
    };
    let host = if matches!(host, "" | "0.0.0.0" | "[::]") { "localhost" } else { host };
    format!("{scheme}://{host}:{port}{path}")
}

/// Returns the headers that carry the API key.
pub(super) fn auth_headers(provider: Provider, key: &ApiKey) -> Result<HeaderMap, http::header::InvalidHeaderValue> {
    let mut headers = HeaderMap::new();
    match provider {
        Provider::Anthropic | Provider::MiniMax => {
            headers.insert(HeaderName::from_static("x-api-key"), key.header("")?);
        }
        Provider::Gemini => {
            headers.insert(HeaderName::from_static("x-goog-api-key"), key.header("")?);
        }
        Provider::OpenAi
        | Provider::OpenAiResponses
        | Provider::DashScope
        | Provider::Ollama
        | Provider::DeepSeek
        | Provider::Moonshot
        | Provider::Xai
        | Provider::Volcengine => {
            headers.insert(AUTHORIZATION, key.header("Bearer ")?);
        }
    }
    Ok(headers)
}

/// Returns the headers that the provider requires beside the key.
pub(super) fn required_headers(provider: Provider) -> HeaderMap {
    let mut headers = HeaderMap::new();
    if matches!(provider, Provider::Anthropic | Provider::MiniMax) {
        headers.insert(HeaderName::from_static("anthropic-version"), HeaderValue::from_static("2023-06-01"));
    }
    headers
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[track_caller]
    fn check(provider: Provider, base: &str, expected: &str) {
        let base = BaseUrl::parse(provider, base).unwrap();
        assert_eq!(base.request(provider, "m", true).as_str(), expected);
    }

    #[test]
    fn default_base_urls_parse() {
        for provider in Provider::ALL {
            let url = BaseUrl::of(provider).unwrap().request(provider, "model-x", true);
            assert!(url.path().len() > 5, "{url}");
        }
    }

    #[test]
    fn request_url_accepts_common_base_urls() {
        check(Provider::OpenAi, "http://localhost:8000/v1", "http://localhost:8000/v1/chat/completions");
        check(Provider::OpenAi, "http://localhost:8000/v1/", "http://localhost:8000/v1/chat/completions");
        check(
            Provider::OpenAi,
            "https://x.openai.azure.com/openai/deployments/m?api-version=2024-10-21",
            "https://x.openai.azure.com/openai/deployments/m/chat/completions?api-version=2024-10-21",
        );
        check(Provider::OpenAiResponses, "https://a.example/v1", "https://a.example/v1/responses");
        check(Provider::Anthropic, "https://a.example", "https://a.example/v1/messages");
        check(Provider::Anthropic, "https://a.example/v1/", "https://a.example/v1/messages");
        check(Provider::Gemini, "https://g.example", "https://g.example/v1beta/models/m:streamGenerateContent?alt=sse");
        check(Provider::Gemini, "https://g.example/v1", "https://g.example/v1/models/m:streamGenerateContent?alt=sse");
        check(Provider::Ollama, "gpu", "http://gpu:11434/api/chat");
        check(Provider::Ollama, "0.0.0.0:8080", "http://localhost:8080/api/chat");
        check(Provider::Ollama, "https://ollama.example/", "https://ollama.example/api/chat");
        check(Provider::Ollama, "http://gpu:11434/api", "http://gpu:11434/api/chat");
    }

    #[test]
    fn request_url_escapes_model_name() {
        let base = BaseUrl::of(Provider::Gemini).unwrap();
        let url = |model| base.request(Provider::Gemini, model, false).path().to_owned();
        assert_eq!(url("tunedModels/a b"), "/v1beta/tunedModels/a%20b:generateContent");
        assert_eq!(url("m?key=x#y"), "/v1beta/models/m%3Fkey=x%23y:generateContent");
        assert_eq!(url("../../evil"), "/v1beta/evil:generateContent");
    }

    #[test]
    fn parse_error_hides_credentials() {
        let error = BaseUrl::parse(Provider::OpenAi, "ftp://user:secret@a.example").err().unwrap();
        assert_eq!(
            error.to_string(),
            "invalid base URL `a.example`: unsupported scheme `ftp`, expected `http` or `https`"
        );
        assert!(BaseUrl::parse(Provider::OpenAi, "localhost").is_err());
    }

    #[test]
    fn origin_has_no_credentials_path_or_query() {
        for (uri, expected) in [
            ("https://user:secret@a.example/v1?key=secret", "https://a.example"),
            ("http://[::1]:8080/api/chat", "http://[::1]:8080"),
        ] {
            assert_eq!(origin(&uri.parse().unwrap()), expected);
        }
    }

    #[test]
    fn redacted_url_has_no_credentials_or_query() {
        let base = BaseUrl::parse(Provider::OpenAi, "https://user:secret@a.example/v1?key=secret").unwrap();
        assert_eq!(base.redacted(), "https://a.example/v1");
    }
}
