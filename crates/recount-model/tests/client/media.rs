//! Files and URLs in messages.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use pretty_assertions::assert_eq;
use recount_message::{DataBlock, Msg};
use recount_model::Provider;
use recount_model::client::{CallOptions, FetchMedia, MediaErrorKind, MediaFetcher};
use recount_model::format::MediaRef;

use crate::server::{ScriptedResponse, Server};
use crate::support::{TestCall, call_with, model};

const PNG: &[u8] = b"\x89PNG";
/// The bytes in base64.
const PNG_TEXT: &str = "iVBORw==";

fn wanted(url: impl Into<String>) -> MediaRef {
    MediaRef { url: url.into(), media_type: "image/png".to_owned() }
}

/// Fetches one URL.
async fn fetch(fetcher: &MediaFetcher, url: impl Into<String>) -> Result<Vec<u8>, MediaErrorKind> {
    fetcher.fetch(&wanted(url)).await.map(|bytes| bytes.to_vec()).map_err(|error| error.kind())
}

fn anywhere() -> MediaFetcher {
    MediaFetcher::new().allow_private_networks()
}

fn directory(test: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(test);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap();
    path
}

/// Sends an image URL to a provider, and returns the result and the request body.
async fn show(provider: Provider, fetcher: MediaFetcher, url: &str) -> (TestCall, String) {
    let server = Server::start([ScriptedResponse::status(400, "{}")]).await;
    let messages = [Msg::user("Alice", ("Look:", DataBlock::from_url(url).unwrap()))];
    let result = call_with(&model(provider, &server).media(fetcher), &messages, &CallOptions::new()).await;
    (result, server.only_request().body)
}

#[tokio::test]
async fn required_bytes_are_fetched() {
    let web = Server::start([ScriptedResponse::ok(PNG)]).await;
    let url = format!("{}/cat.png", web.url());
    let (result, body) = show(Provider::Anthropic, anywhere(), &url).await;
    assert!(body.contains(PNG_TEXT), "{body}");
    assert_eq!(result.outcome.media_errors, []);
    assert_eq!((web.only_request().method.as_str(), web.only_request().path.as_str()), ("GET", "/cat.png"));
    assert!(!web.only_request().headers.contains_key("x-api-key"));
}

#[tokio::test]
async fn urls_for_the_provider_are_not_fetched() {
    let web = Server::start([ScriptedResponse::ok(PNG)]).await;
    let url = format!("{}/cat.png", web.url());
    let (_, body) = show(Provider::OpenAi, anywhere(), &url).await;
    assert!(body.contains(&url), "{body}");
    assert!(web.requests().is_empty());
}

#[tokio::test]
async fn call_continues_without_unavailable_media() {
    let web = Server::start([ScriptedResponse::status(404, "")]).await;
    let (result, body) = show(Provider::Anthropic, anywhere(), &format!("{}/cat.png?signature=x", web.url())).await;
    let [error] = result.outcome.media_errors.as_slice() else { panic!("{:?}", result.outcome.media_errors) };
    assert_eq!(error.kind(), MediaErrorKind::NotFound);
    assert_eq!(error.to_string(), format!("{}/cat.png: 404 Not Found", web.url()));
    assert!(!result.outcome.warnings.is_empty());
    assert!(body.contains("Look:") && !body.contains(PNG_TEXT), "{body}");
}

#[tokio::test]
async fn private_addresses_are_rejected() {
    let web = Server::start([ScriptedResponse::ok(PNG)]).await;
    let port = web.url().rsplit(':').next().unwrap().to_owned();
    for host in [
        "127.0.0.1",
        "localhost",
        "[::1]",
        "2130706433",
        "0x7f.1",
        "127.1",
        "0.0.0.0",
        "[::ffff:127.0.0.1]",
        "10.0.0.1",
    ] {
        let found = fetch(&MediaFetcher::new(), format!("http://{host}:{port}/cat.png")).await;
        assert_eq!(found, Err(MediaErrorKind::Forbidden), "{host}");
    }
    let found = fetch(&MediaFetcher::new(), "http://169.254.169.254/latest/meta-data/").await;
    assert_eq!(found, Err(MediaErrorKind::Forbidden));
    assert!(web.requests().is_empty());
}

#[tokio::test]
async fn redirects_are_followed_up_to_a_limit() {
    let target = Server::start([ScriptedResponse::ok(PNG)]).await;
    let hop =
        Server::start([ScriptedResponse::status(302, "").header("location", &format!("{}/b.png", target.url()))]).await;
    assert_eq!(fetch(&anywhere(), format!("{}/a.png", hop.url())).await, Ok(PNG.to_vec()));

    let round = Server::start([ScriptedResponse::status(302, "").header("location", "/again.png")]).await;
    assert_eq!(fetch(&anywhere(), format!("{}/a.png", round.url())).await, Err(MediaErrorKind::Forbidden));
    assert!(round.requests().len() < 10);

    let file = Server::start([ScriptedResponse::status(302, "").header("location", "file:///etc/passwd")]).await;
    assert!(fetch(&anywhere(), format!("{}/a.png", file.url())).await.is_err());
}

#[tokio::test]
async fn fetch_enforces_size_and_time_limits() {
    let large = Server::start([ScriptedResponse::pieces(&[0; 5_000], 1_000)]).await;
    let found = fetch(&anywhere().max_bytes(4_999), format!("{}/a.png", large.url())).await;
    assert_eq!(found, Err(MediaErrorKind::TooLarge));
    assert_eq!(fetch(&anywhere().max_bytes(5_000), format!("{}/a.png", large.url())).await.map(|b| b.len()), Ok(5_000));

    let slow = Server::start([ScriptedResponse::stuck("x")]).await;
    let hasty = anywhere().timeout(Duration::from_millis(20));
    assert_eq!(fetch(&hasty, format!("{}/a.png", slow.url())).await, Err(MediaErrorKind::TimedOut));
}

#[tokio::test]
async fn only_files_in_allowed_directories_are_read() {
    let root = directory("media_files");
    let allowed = root.join("allowed");
    fs::create_dir_all(allowed.join("inner")).unwrap();
    fs::create_dir_all(root.join("allowed-not")).unwrap();
    fs::write(allowed.join("inner/my cat.png"), PNG).unwrap();
    fs::write(root.join("secret.png"), "secret").unwrap();
    fs::write(root.join("allowed-not/x.png"), "secret").unwrap();
    std::os::unix::fs::symlink(root.join("secret.png"), allowed.join("link.png")).unwrap();
    std::os::unix::fs::symlink(allowed.join("inner/my cat.png"), allowed.join("good.png")).unwrap();
    let url = |path: &str| format!("file://{}/{path}", root.display());
    let fetcher = MediaFetcher::new().allow_directory(&allowed);

    assert_eq!(fetch(&fetcher, url("allowed/inner/my%20cat.png")).await, Ok(PNG.to_vec()));
    assert_eq!(fetch(&fetcher, url("allowed/inner/../inner/my%20cat.png")).await, Ok(PNG.to_vec()));
    assert_eq!(fetch(&fetcher, url("allowed/good.png")).await, Ok(PNG.to_vec()));
    for path in [
        "secret.png",
        "allowed/../secret.png",
        "allowed/%2e%2e/secret.png",
        "allowed/..%2fsecret.png",
        "allowed/link.png",
        "allowed-not/x.png",
        "allowed/inner",
        "allowed/missing.png",
        "allowed/inner/my%20cat.png%00",
    ] {
        assert_eq!(fetch(&fetcher, url(path)).await, Err(MediaErrorKind::Forbidden), "{path}");
    }
    assert_eq!(fetch(&fetcher, "file://elsewhere/a.png").await, Err(MediaErrorKind::Forbidden));
    let none = MediaFetcher::new();
    assert_eq!(fetch(&none, url("allowed/inner/my%20cat.png")).await, Err(MediaErrorKind::Forbidden));
    let small = fetcher.max_bytes(3);
    assert_eq!(fetch(&small, url("allowed/good.png")).await, Err(MediaErrorKind::TooLarge));
}

#[tokio::test]
async fn file_is_sent_in_request() {
    let root = directory("media_request");
    fs::write(root.join("cat.png"), PNG).unwrap();
    let url = format!("file://{}/cat.png", root.display());
    let (_, body) = show(Provider::OpenAi, MediaFetcher::new().allow_directory(&root), &url).await;
    assert!(body.contains(PNG_TEXT), "{body}");
}

#[tokio::test]
async fn unsupported_scheme_is_rejected() {
    assert_eq!(fetch(&anywhere(), "ftp://example.com/a.png").await, Err(MediaErrorKind::Unsupported));
}
