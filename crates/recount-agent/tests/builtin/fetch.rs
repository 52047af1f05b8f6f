//! The tool `fetch`, with a server on this machine.

use std::sync::Arc;

use pretty_assertions::assert_eq;
use recount_agent::builtin::{Fetch, Workspace};
use recount_model::client::MediaFetcher;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::bench::{Bench, Called, call, shown};

/// Serves one request with a body. Returns the URL.
async fn served(body: &'static [u8]) -> String {
    answered("200 OK", body).await
}

/// Serves one request with a status, which may include headers, and a body. Returns the URL.
async fn answered(status: impl Into<String>, body: &'static [u8]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (address, status) = (listener.local_addr().unwrap(), status.into());
    tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        let mut request = [0; 4_096];
        let _ = socket.read(&mut request).await.unwrap();
        let head = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
        socket.write_all(head.as_bytes()).await.unwrap();
        socket.write_all(body).await.unwrap();
    });
    format!("http://{address}/page")
}

async fn fetched(url: &str) -> Called {
    let directory = tempfile::tempdir().unwrap();
    let workspace = Arc::new(Workspace::new(directory.path()).unwrap());
    let fetcher = MediaFetcher::new().stay_on_host().allow_private_networks().max_bytes(1 << 20);
    let fetch = Fetch::with_fetcher(workspace, fetcher);
    call(&fetch, &format!(r#"{{"url":"{url}"}}"#), CancellationToken::new()).await
}

#[tokio::test]
async fn html_page_is_converted_to_text() {
    let page = b"<!doctype html><html><head><title>T</title><style>p{}</style><script>evil()</script></head>\
        <body><h1>Title</h1><p>Some <b>bold</b> words.</p><ul><li>one<li>two</ul></body></html>";
    let text = shown(&fetched(&served(page).await).await.result.unwrap());
    assert_eq!(text, "# Title\n\nSome bold words.\n\n* one\n* two\n");
}

#[tokio::test]
async fn content_type_is_detected() {
    assert_eq!(shown(&fetched(&served(b"{\"a\": 1}").await).await.result.unwrap()), "{\"a\": 1}");
    let image = served(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0").await;
    assert_eq!(shown(&fetched(&image).await.result.unwrap()), "<image/png>");
    let error = fetched(&served(b"\0\x01\x02").await).await.result.unwrap_err().to_string();
    assert!(error.contains("the response is not text (3 bytes of"), "{error}");
}

#[tokio::test]
async fn deeply_nested_page_is_converted() {
    let page: &'static [u8] = format!("<html>{}", "<div><b>".repeat(60_000)).leak().as_bytes();
    let called = fetched(&served(page).await).await;
    assert_eq!(shown(&called.result.unwrap()), "[the page has no text]");
}

#[tokio::test]
async fn large_response_is_rejected() {
    let large: &'static [u8] = vec![b'x'; 2 << 20].leak();
    let error = fetched(&served(large).await).await.result.unwrap_err().to_string();
    assert!(error.contains("larger than 1048576 bytes"), "{error}");
}

#[tokio::test]
async fn redirect_is_followed_only_on_same_host() {
    let target = served(b"here").await;
    let moved = answered(format!("302 Found\r\nlocation: {target}"), b"").await;
    assert_eq!(shown(&fetched(&moved).await.result.unwrap()), "here");
    // The permission is for one host.
    let target = served(b"elsewhere").await.replace("127.0.0.1", "localhost");
    let moved = answered(format!("302 Found\r\nlocation: {target}"), b"").await;
    let error = fetched(&moved).await.result.unwrap_err().to_string();
    assert_eq!(error, format!("{moved}: redirects to another host: {target}; call again with that URL"));
}

#[tokio::test]
async fn private_addresses_are_rejected_by_default() {
    let bench = Bench::new();
    let url = served(b"secret").await;
    for url in [
        url.as_str(),
        "http://localhost:1/",
        "http://169.254.169.254/latest/meta-data",
        "http://[::1]/",
        "http://[::ffff:127.0.0.1]/",
        "http://[::ffff:7f00:1]/",
        "http://[64:ff9b::7f00:1]/",
        // Other spellings of 127.0.0.1.
        "http://2130706433/",
        "http://0x7f.1/",
        "http://0177.0.0.1/",
        "http://127.1/",
        "http://127.0.0.1./",
        "http://\u{ff11}27.0.0.1/",
        "http://user:word@127.0.0.1/",
        "http://0/",
    ] {
        let error = bench.error("fetch", &format!(r#"{{"url":"{url}"}}"#)).await;
        assert!(error.contains("the address is not on the public internet"), "{url}: {error}");
    }
    let error = bench.error("fetch", r#"{"url":"file:///etc/passwd"}"#).await;
    assert_eq!(error, "unsupported scheme `file`: use `http` or `https`, or `read` for files");
}
