//! Commands that ask a service that runs somewhere.

pub(crate) mod sessions;
mod sse;
pub(crate) mod tail;

use std::env;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::Args;
use recount_message::{Json, Object};
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use reqwest::{Client, Response, Url};

/// Who asks.
#[derive(Debug, Args)]
struct TokenArgs {
    /// The token [default: what RECOUNT_TOKEN says]
    #[arg(long, value_name = "TOKEN", hide_env_values = true)]
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
        if let Some(token) = token.token.clone().or_else(|| env::var("RECOUNT_TOKEN").ok()) {
            let mut value =
                HeaderValue::from_str(&format!("Bearer {token}")).context("the token has odd characters")?;
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
}

fn parse_url(text: &str) -> Result<Url, String> {
    let text = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
    let url: Url = text.parse().map_err(|error| format!("{error}"))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err("expected an http or https URL".to_owned());
    }
    Ok(url)
}

/// The answer, or what the service says is wrong.
async fn checked(response: Response) -> Result<Response> {
    if response.status().is_success() {
        return Ok(response);
    }
    let status = response.status();
    let body = response.text().await.unwrap_or_default();
    let detail = Object::parse(&body).ok().and_then(|problem| problem.get("detail").and_then(Json::to_text));
    bail!("{}", detail.unwrap_or_else(|| format!("the service answers {status}")))
}
