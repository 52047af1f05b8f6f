//! Commands that ask a service that runs somewhere.

pub(crate) mod sessions;
mod sse;
pub(crate) mod tail;

use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use recount_message::{Json, Object};
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use reqwest::{Client, Response, StatusCode, Url};

/// Where a service is when nobody says where.
const USUAL: &str = "http://127.0.0.1:7171";

/// Who asks.
#[derive(Debug, Args)]
struct TokenArgs {
    /// The token, where the service needs one; better in the variable than in a list of processes
    #[arg(long, value_name = "TOKEN", env = "RECOUNT_TOKEN", hide_env_values = true)]
    token: Option<String>,
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

    /// Where it is, as people write it.
    fn place(&self) -> &str {
        self.base.as_str().trim_end_matches('/')
    }

    /// What a request that got no answer comes to.
    fn unreachable(&self, error: &reqwest::Error) -> anyhow::Error {
        let mut cause: &dyn std::error::Error = error;
        while let Some(deeper) = cause.source() {
            cause = deeper;
        }
        let is_here = self.base.host_str().is_some_and(|host| matches!(host, "localhost" | "127.0.0.1" | "[::1]"));
        let hint = if error.is_connect() && is_here { "\nhint: `recount serve` starts one" } else { "" };
        anyhow!("cannot reach the service at {}: {cause}{hint}", self.place())
    }
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
    let detail = Object::parse(&body).ok().and_then(|problem| problem.get("detail").and_then(Json::to_text));
    let detail = detail.unwrap_or_else(|| format!("the service answers {status}"));
    let hint = match status {
        StatusCode::NOT_FOUND => "\nhint: `recount sessions` lists those that there are",
        StatusCode::UNAUTHORIZED => "\nhint: `--token TOKEN` or the variable RECOUNT_TOKEN says who asks",
        _ => "",
    };
    bail!("{detail}{hint}")
}
