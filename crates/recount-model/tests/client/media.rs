//! Files and URLs in messages.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use pretty_assertions::assert_eq;
use recount_message::{DataBlock, Msg};
use recount_model::Provider;
use recount_model::client::{CallOptions, FetchMedia, MediaErrorKind, MediaFetcher};
use recount_model::format::MediaRef;

use crate::asking::{Answered, ask_with, model};
use crate::server::{Answer, Server};

const PNG: &[u8] = b"\x89PNG";
/// The same in base64.
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

/// Shows a provider an image by its URL.
async fn show(provider: Provider, fetcher: MediaFetcher, url: &str) -> (Answered, String) {
    let server = Server::start([Answer::status(400, "{}")]).await;
    let messages = [Msg::user("Alice", ("Look:", DataBlock::from_url(url).unwrap()))];
    let answered = ask_with(&model(provider, &server).media(fetcher), &messages, &CallOptions::new()).await;
    (answered, server.only().body)
}

#[tokio::test]
async fn bytes_are_brought_where_the_provider_wants_them() {
    let web = Server::start([Answer::ok(PNG)]).await;
    let url = format!("{}/cat.png", web.url());
    let (answered, body) = show(Provider::Anthropic, anywhere(), &url).await;
    assert!(body.contains(PNG_TEXT), "{body}");
    assert_eq!(answered.outcome.media_errors, []);
    assert_eq!((web.only().method.as_str(), web.only().path.as_str()), ("GET", "/cat.png"));
    assert!(!web.only().headers.contains_key("x-api-key"));
}

#[tokio::test]
async fn nothing_is_fetched_that_the_provider_fetches_itself() {
    let web = Server::start([Answer::ok(PNG)]).await;
    let url = format!("{}/cat.png", web.url());
    let (_, body) = show(Provider::OpenAi, anywhere(), &url).await;
    assert!(body.contains(&url), "{body}");
    assert!(web.asked().is_empty());
}

#[tokio::test]
async fn what_cannot_be_brought_is_said_and_the_call_goes_on() {
    let web = Server::start([Answer::status(404, "")]).await;
    let (answered, body) = show(Provider::Anthropic, anywhere(), &format!("{}/cat.png?signature=x", web.url())).await;
    let [error] = answered.outcome.media_errors.as_slice() else { panic!("{:?}", answered.outcome.media_errors) };
    assert_eq!(error.kind(), MediaErrorKind::NotFound);
    assert_eq!(error.to_string(), format!("{}/cat.png: 404 Not Found", web.url()));
    assert!(!answered.outcome.warnings.is_empty());
    assert!(body.contains("Look:") && !body.contains(PNG_TEXT), "{body}");
}

#[tokio::test]
async fn private_addresses_are_refused() {
    let web = Server::start([Answer::ok(PNG)]).await;
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
    assert!(web.asked().is_empty());
}

#[tokio::test]
async fn redirects_are_followed_and_end() {
    let target = Server::start([Answer::ok(PNG)]).await;
    let hop = Server::start([Answer::status(302, "").header("location", &format!("{}/b.png", target.url()))]).await;
    assert_eq!(fetch(&anywhere(), format!("{}/a.png", hop.url())).await, Ok(PNG.to_vec()));

    let round = Server::start([Answer::status(302, "").header("location", "/again.png")]).await;
    assert_eq!(fetch(&anywhere(), format!("{}/a.png", round.url())).await, Err(MediaErrorKind::Forbidden));
    assert!(round.asked().len() < 10);

    let file = Server::start([Answer::status(302, "").header("location", "file:///etc/passwd")]).await;
    assert!(fetch(&anywhere(), format!("{}/a.png", file.url())).await.is_err());
}

#[tokio::test]
async fn size_and_time_have_limits() {
    let large = Server::start([Answer::pieces(&[0; 5_000], 1_000)]).await;
    let found = fetch(&anywhere().max_bytes(4_999), format!("{}/a.png", large.url())).await;
    assert_eq!(found, Err(MediaErrorKind::TooLarge));
    assert_eq!(fetch(&anywhere().max_bytes(5_000), format!("{}/a.png", large.url())).await.map(|b| b.len()), Ok(5_000));

    let slow = Server::start([Answer::stuck("x")]).await;
    let hasty = anywhere().timeout(Duration::from_millis(20));
    assert_eq!(fetch(&hasty, format!("{}/a.png", slow.url())).await, Err(MediaErrorKind::TimedOut));
}

#[tokio::test]
async fn files_are_read_below_allowed_directories_only() {
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
async fn a_file_goes_into_the_request() {
    let root = directory("media_request");
    fs::write(root.join("cat.png"), PNG).unwrap();
    let url = format!("file://{}/cat.png", root.display());
    let (_, body) = show(Provider::OpenAi, MediaFetcher::new().allow_directory(&root), &url).await;
    assert!(body.contains(PNG_TEXT), "{body}");
}

#[tokio::test]
async fn what_nobody_knows_how_to_fetch_is_said() {
    assert_eq!(fetch(&anywhere(), "ftp://example.com/a.png").await, Err(MediaErrorKind::Unsupported));
}
