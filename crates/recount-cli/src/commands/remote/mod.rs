//! Commands that send requests to a running service.

pub(crate) mod answer;
pub(crate) mod send;
pub(crate) mod sessions;
pub(crate) mod stop;
pub(crate) mod tail;

use std::io::Write as _;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use recount_log::SessionKey;
use recount_message::{Json, Msg, Object};
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Client, Response, StatusCode, Url};

/// The route of the newest messages of a session, including open ones and those of sub-agents.
const NEWEST_MESSAGES: &str = "/messages?all=true&limit=200";

/// The default URL of the service.
const DEFAULT_URL: &str = "http://127.0.0.1:7171";

/// Who asks.
#[derive(Debug, Args)]
struct TokenArgs {
    /// The token, where the service needs one; better in the variable than in a list of processes
    #[arg(long, value_name = "TOKEN", env = "RECOUNT_TOKEN", hide_env_values = true)]
    token: Option<String>,
}

/// Which session, and who asks.
#[derive(Debug, Args)]
struct SessionArgs {
    /// The session: its name where the service is at http://127.0.0.1:7171, else a
    /// URL such as http://localhost:7171/s/NAME or …/v1/sessions/NAME
    #[arg(value_name = "SESSION", value_parser = parse_session, verbatim_doc_comment)]
    session: SessionUrl,
    #[command(flatten)]
    token: TokenArgs,
}

/// The URL of a session, and its name.
#[derive(Debug, Clone)]
struct SessionUrl {
    url: Url,
    name: String,
}

impl SessionUrl {
    /// Returns the path of a route of the session.
    fn path(&self, route: &str) -> String {
        format!("/v1/sessions/{}{route}", self.name)
    }
}

fn parse_session(text: &str) -> Result<SessionUrl, String> {
    let is_name = match text.parse::<SessionKey>() {
        Ok(key) => key.tenant().is_empty(),
        Err(error) if !text.contains(['/', ':']) => return Err(error.to_string()),
        Err(_) => false,
    };
    let url = parse_url(&if is_name { format!("{DEFAULT_URL}/s/{text}") } else { text.to_owned() })?;
    let name = session_name(&url).ok_or("it names no session: expected a name, or a URL that ends in /s/NAME")?;
    Ok(SessionUrl { url, name })
}

/// An HTTP client of a service.
struct Service {
    client: Client,
    base: Url,
}

impl Service {
    fn new(url: &Url, token: &TokenArgs) -> Result<Self> {
        // Fails if a provider is already installed, which is fine.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut headers = HeaderMap::new();
        if let Some(token) = token.token.as_deref().filter(|token| !token.is_empty()) {
            let mut value = HeaderValue::from_str(&format!("Bearer {token}"))
                .context("`--token` or RECOUNT_TOKEN has characters that no token has")?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        let client = Client::builder()
            .default_headers(headers)
            .connect_timeout(Duration::from_secs(10))
            .build()
            .context("cannot make connections")?;
        let mut base = url.clone();
        base.set_path("/");
        base.set_query(None);
        base.set_fragment(None);
        Ok(Self { client, base })
    }

    fn url(&self, path: &str) -> Result<Url> {
        self.base.join(path).context("the URL cannot be extended")
    }

    /// Sends a GET request and returns the JSON object of the response.
    async fn get(&self, path: &str) -> Result<Object> {
        self.request(self.client.get(self.url(path)?)).await
    }

    /// Sends a PUT request without a body and returns the JSON object of the response.
    async fn put(&self, path: &str) -> Result<Object> {
        self.request(self.client.put(self.url(path)?)).await
    }

    /// Sends a POST request with a JSON body and returns the JSON object of the response.
    async fn post(&self, path: &str, json: String) -> Result<Object> {
        let request = self.client.post(self.url(path)?).header(CONTENT_TYPE, "application/json");
        self.request(request.body(json)).await
    }

    async fn request(&self, request: reqwest::RequestBuilder) -> Result<Object> {
        let response = request.send().await.map_err(|error| self.unreachable(&error))?;
        let text = error_for_status(response).await?.text().await.map_err(|error| self.unreachable(&error))?;
        Object::parse(&text).with_context(|| format!("no service of Recount is at {}", self.display_url()))
    }

    /// Returns the base URL without the trailing slash.
    fn display_url(&self) -> &str {
        self.base.as_str().trim_end_matches('/')
    }

    /// Returns the error for a request that got no response.
    fn unreachable(&self, error: &reqwest::Error) -> anyhow::Error {
        let is_local = self.base.host_str().is_some_and(|host| matches!(host, "localhost" | "127.0.0.1" | "[::1]"));
        let hint = if error.is_connect() && is_local { "\nhint: `recount serve` starts one" } else { "" };
        anyhow!("cannot reach the service at {}: {}{hint}", self.display_url(), cause(error))
    }
}

/// Runs a future on a new single-threaded runtime.
fn block_on<T>(future: impl Future<Output = Result<T>>) -> Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().context("cannot start")?;
    runtime.block_on(future)
}

/// Prints text to standard output.
fn print(text: &str) -> Result<()> {
    std::io::stdout().write_all(text.as_bytes()).context("cannot write to standard output")
}

/// Returns the root cause of an error. The errors above it only describe the request.
fn cause(error: &reqwest::Error) -> &dyn std::error::Error {
    let mut cause: &dyn std::error::Error = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    cause
}

fn parse_url(text: &str) -> Result<Url, String> {
    let text = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
    let url: Url = text.parse().map_err(|error| format!("{error}"))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err("expected an http or https URL".to_owned());
    }
    Ok(url)
}

/// Returns the name of the session in the URL of its page or of one of its routes. `None` for other URLs.
fn session_name(url: &Url) -> Option<String> {
    let segments: Vec<&str> = url.path_segments()?.filter(|segment| !segment.is_empty()).collect();
    match segments.as_slice() {
        ["s", name] | ["v1", "sessions", name, ..] => Some((*name).to_owned()),
        _ => None,
    }
}

/// Returns a successful response, or the `detail` of the error with a hint.
async fn error_for_status(response: Response) -> Result<Response> {
    if response.status().is_success() {
        return Ok(response);
    }
    let status = response.status();
    let body = response.text().await.unwrap_or_default();
    let detail =
        Object::parse(&body).ok().and_then(|problem| problem.get("detail").and_then(Json::as_str).map(str::to_owned));
    let detail = detail.unwrap_or_else(|| format!("the service answers {status}"));
    let hint = match status {
        StatusCode::NOT_FOUND => {
            "\nhint: `recount sessions` lists those that there are, and `recount send --new` makes one"
        }
        StatusCode::UNAUTHORIZED => "\nhint: `--token TOKEN` or the variable RECOUNT_TOKEN says who asks",
        _ => "",
    };
    bail!("{detail}{hint}")
}

/// Parses the field `messages` of a page or a snapshot. Invalid messages are skipped.
fn messages(page: &Object) -> Vec<Msg> {
    let messages = page.get("messages").and_then(Json::to_array).unwrap_or_default();
    messages.iter().filter_map(|message| Msg::from_json(message.as_raw()).ok()).collect()
}
