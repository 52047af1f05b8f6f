//! The tool `fetch`.

use std::sync::Arc;
use std::time::Duration;

use recount_message::{DataBlock, Object, PermissionBehavior, PermissionRule};
use recount_model::client::{FetchMedia, MediaErrorKind, MediaFetcher};
use recount_model::format::MediaRef;
use schemars::JsonSchema;
use serde::Deserialize;
use url::Url;

use super::html::text_from_html;
use super::{Workspace, blocking, deserialize, text};
use crate::BoxFuture;
use crate::permission::wildcard;
use crate::permission::{Coverage, PermissionContext, ToolPermission, contents};
use crate::tool::derive::schema_of;
use crate::tool::{Tool, ToolContext, ToolError, ToolOutput, ToolSpec};

/// Fetches a page or a file from the web.
///
/// Addresses of this machine and of private networks are rejected, also behind names and redirects. Size and time are
/// limited.
///
/// The user is asked unless a rule allows the URL: `example.org` for a host and its subdomains, or a URL pattern such as
/// `https://example.org/docs/*`. The permission is for one host: a redirect to another host is reported to the model and not
/// followed.
pub struct Fetch {
    spec: ToolSpec,
    workspace: Arc<Workspace>,
    fetcher: Arc<dyn FetchMedia>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Arguments {
    /// The `http` or `https` URL.
    url: String,
}

impl Fetch {
    /// Creates the tool for the public internet. Long output is offloaded by the workspace.
    pub fn new(workspace: Arc<Workspace>) -> Self {
        let fetcher = MediaFetcher::new().stay_on_host().max_bytes(5 << 20).timeout(Duration::from_secs(30));
        Self::with_fetcher(workspace, fetcher)
    }

    /// Creates the tool with a custom fetcher.
    pub fn with_fetcher(workspace: Arc<Workspace>, fetcher: impl FetchMedia) -> Self {
        let description = "Fetches a page or a file from the web. Pages are converted to text, images are shown.";
        let spec = ToolSpec::new("fetch", description).parameters(schema_of::<Arguments>());
        Self { spec: spec.idempotent().concurrency_safe(), workspace, fetcher: Arc::new(fetcher) }
    }

    async fn fetch(&self, arguments: Arguments) -> Result<ToolOutput, ToolError> {
        let url = parse_url(&arguments.url)?;
        let wanted = MediaRef { url: url.to_string(), media_type: String::new() };
        let bytes = self.fetcher.fetch(&wanted).await.map_err(|error| match error.kind() {
            MediaErrorKind::Redirected => ToolError::new(format!("{error}; call again with that URL")),
            _ => error.into(),
        })?;
        let name = url.path_segments().and_then(Iterator::last).filter(|name| !name.is_empty());
        let data = DataBlock::from_bytes(&bytes);
        if data.is_image() {
            return Ok(ToolOutput::new(data.with_name(name.unwrap_or("image"))));
        }
        if bytes.contains(&0) {
            let (length, kind) = (bytes.len(), data.media_type());
            return Err(ToolError::new(format!(
                "the response is not text ({length} bytes of {kind}): use `shell` to download it"
            )));
        }
        let workspace = self.workspace.clone();
        blocking(move || {
            let text = String::from_utf8_lossy(&bytes);
            let text = if is_html(&bytes) { text_from_html(&text) } else { text.into_owned() };
            let text = if text.trim().is_empty() { "[the page has no text]".to_owned() } else { text };
            Ok(ToolOutput::new(workspace.truncate_output("fetch", text)?))
        })
        .await
    }
}

impl std::fmt::Debug for Fetch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fetch").field("spec", &self.spec).field("workspace", &self.workspace).finish_non_exhaustive()
    }
}

impl Tool for Fetch {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn run<'a>(&'a self, arguments: Object, _: &'a ToolContext) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move { self.fetch(deserialize(arguments)?).await })
    }

    fn validate_arguments(&self, arguments: &Object) -> Result<(), ToolError> {
        parse_url(&text(arguments, "url").unwrap_or_default()).map(|_| ())
    }

    fn check_permission<'a>(
        &'a self,
        arguments: &'a Object,
        _: &'a PermissionContext,
    ) -> BoxFuture<'a, ToolPermission> {
        let url = parse_url(&text(arguments, "url").unwrap_or_default());
        Box::pin(async move {
            match url {
                Ok(url) => {
                    ToolPermission::Ask(format!("it sends a request to `{}`", url.host_str().unwrap_or_default()))
                }
                Err(error) => ToolPermission::Deny(error.to_string()),
            }
        })
    }

    fn rule_coverage(&self, rules: &[&PermissionRule], _: PermissionBehavior, arguments: &Object) -> Coverage {
        let Some(contents) = contents(rules) else { return Coverage::Yes };
        let Ok(url) = parse_url(&text(arguments, "url").unwrap_or_default()) else { return Coverage::Unclear };
        let host = url.host_str().unwrap_or_default();
        let is_match = |content: &str| {
            if content.contains("://") {
                return wildcard::matches(&wildcard::stars(content), url.as_str());
            }
            let domain = content.trim_start_matches("domain:").trim_start_matches("*.").to_ascii_lowercase();
            host == domain || host.strip_suffix(&domain).is_some_and(|below| below.ends_with('.') && !domain.is_empty())
        };
        Coverage::from(contents.iter().any(|content| is_match(content.trim())))
    }

    fn suggested_rules(&self, arguments: &Object) -> Vec<PermissionRule> {
        let Ok(url) = parse_url(&text(arguments, "url").unwrap_or_default()) else { return Vec::new() };
        let rule = PermissionRule::new(&self.spec.name, url.host_str(), PermissionBehavior::Allow);
        vec![rule.with_source("suggested")]
    }
}

/// Parses an `http` or `https` URL and removes its fragment.
fn parse_url(text: &str) -> Result<Url, ToolError> {
    let mut url = Url::parse(text.trim()).map_err(|error| ToolError::new(format!("invalid `url`: {error}")))?;
    if !matches!(url.scheme(), "http" | "https") {
        let message = format!("unsupported scheme `{}`: use `http` or `https`, or `read` for files", url.scheme());
        return Err(ToolError::new(message));
    }
    url.set_fragment(None);
    Ok(url)
}

/// Returns whether bytes begin like HTML.
fn is_html(bytes: &[u8]) -> bool {
    let start = String::from_utf8_lossy(bytes.get(..1_024).unwrap_or(bytes)).to_ascii_lowercase();
    ["<!doctype html", "<html", "<head", "<body"].iter().any(|tag| start.contains(tag))
}
