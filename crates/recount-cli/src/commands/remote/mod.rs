//! Commands that ask a service that runs somewhere.

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

/// The route of the newest messages of a session, open ones as they stand, sub-agents' too.
const NEWEST_MESSAGES: &str = "/messages?all=true&limit=200";

/// Where a service is when nobody says where.
const USUAL: &str = "http://127.0.0.1:7171";

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

/// A session of a service.
#[derive(Debug, Clone)]
struct SessionUrl {
    url: Url,
    name: String,
}

impl SessionUrl {
    /// The path of one of its routes.
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
    let url = parse_url(&if is_name { format!("{USUAL}/s/{text}") } else { text.to_owned() })?;
    let name = session_in(&url).ok_or("it names no session: expected a name, or a URL that ends in /s/NAME")?;
    Ok(SessionUrl { url, name })
}

/// A service, as a client sees it.
struct Service {
    client: Client,
    base: Url,
}

impl Service {
    fn new(url: &Url, token: &TokenArgs) -> Result<Self> {
        // Somebody else may have been first, which is as well.
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

    /// Reads a document.
    async fn get(&self, path: &str) -> Result<Object> {
        self.asked(self.client.get(self.url(path)?)).await
    }

    /// Makes what is not there.
    async fn put(&self, path: &str) -> Result<Object> {
        self.asked(self.client.put(self.url(path)?)).await
    }

    /// Sends a document, and gives what is answered.
    async fn post(&self, path: &str, json: String) -> Result<Object> {
        let request = self.client.post(self.url(path)?).header(CONTENT_TYPE, "application/json");
        self.asked(request.body(json)).await
    }

    async fn asked(&self, request: reqwest::RequestBuilder) -> Result<Object> {
        let response = request.send().await.map_err(|error| self.unreachable(&error))?;
        let text = checked(response).await?.text().await.map_err(|error| self.unreachable(&error))?;
        Object::parse(&text).with_context(|| format!("no service of Recount is at {}", self.place()))
    }

    /// Where it is, as people write it.
    fn place(&self) -> &str {
        self.base.as_str().trim_end_matches('/')
    }

    /// What a request that got no answer comes to.
    fn unreachable(&self, error: &reqwest::Error) -> anyhow::Error {
        let is_here = self.base.host_str().is_some_and(|host| matches!(host, "localhost" | "127.0.0.1" | "[::1]"));
        let hint = if error.is_connect() && is_here { "\nhint: `recount serve` starts one" } else { "" };
        anyhow!("cannot reach the service at {}: {}{hint}", self.place(), cause(error))
    }
}

/// Does something that waits for a service.
fn block_on<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().context("cannot start")?;
    runtime.block_on(work)
}

/// Tells on standard output.
fn tell(text: &str) -> Result<()> {
    std::io::stdout().write_all(text.as_bytes()).context("cannot write to standard output")
}

/// What is at the bottom of an error: those above it only say what was being done, with the URL.
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

/// The name of the session in the URL of its page or of one of its routes.
fn session_in(url: &Url) -> Option<String> {
    let segments: Vec<&str> = url.path_segments()?.filter(|segment| !segment.is_empty()).collect();
    match segments.as_slice() {
        ["s", name] | ["v1", "sessions", name, ..] => Some((*name).to_owned()),
        _ => None,
    }
}

/// The answer, or what the service says is wrong.
async fn checked(response: Response) -> Result<Response> {
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

/// The messages of an object that has some.
fn messages(page: &Object) -> Vec<Msg> {
    let messages = page.get("messages").and_then(Json::to_array).unwrap_or_default();
    messages.iter().filter_map(|message| Msg::from_json(message.as_raw()).ok()).collect()
}
