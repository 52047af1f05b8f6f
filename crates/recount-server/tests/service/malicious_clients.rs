//! Malicious and broken clients.

use std::time::Duration;

use pretty_assertions::assert_eq;
use recount_log::Log;
use recount_server::ServerOptions;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::support::{Service, TIMEOUT, lines_of, user_message};

/// Starts a service with short time limits.
async fn with_short_timeouts() -> Service {
    let mut options = ServerOptions::default();
    options.limits.head_time = Duration::from_millis(300);
    options.limits.body_time = Duration::from_millis(300);
    options.limits.body = 1 << 20;
    options.limits.event = 1 << 16;
    let service = Service::with(Log::in_memory(), options).await;
    service.log.create("s".parse().unwrap()).await.unwrap();
    service
}

async fn until_closed(stream: &mut TcpStream) -> Vec<u8> {
    let mut answer = Vec::new();
    let _ = tokio::time::timeout(TIMEOUT, stream.read_to_end(&mut answer)).await.expect("the end of the stream");
    answer
}

#[tokio::test]
async fn incomplete_head_times_out() {
    let service = with_short_timeouts().await;
    for beginning in ["", "G", "GET /v1/sessions/s/stream HT", "POST /v1/sessions HTTP/1.1\r\nhost: localhost\r\nx: "] {
        let mut stream = TcpStream::connect(service.address).await.unwrap();
        stream.write_all(beginning.as_bytes()).await.unwrap();
        until_closed(&mut stream).await;
    }
    // Also if a few bytes arrive at a time.
    let mut stream = TcpStream::connect(service.address).await.unwrap();
    let slow_writes = async {
        loop {
            if stream.write_all(b"G").await.is_err() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(TIMEOUT, slow_writes).await.expect("the end of the stream");
}

#[tokio::test]
async fn missing_body_times_out() {
    let service = with_short_timeouts().await;
    let head = "POST /v1/sessions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{";
    service.raw(head.as_bytes()).await.problem(408);
}

#[tokio::test]
async fn oversized_requests_are_rejected() {
    let service = with_short_timeouts().await;
    let headers = [("content-type", "application/x-ndjson")];
    service.request("POST", "/v1/sessions/s/events", &headers, &vec![b' '; (1 << 20) + 1]).await.problem(413);
    let announced = "POST /v1/sessions/s/events HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/x-ndjson\r\n\
        connection: close\r\ncontent-length: 99999999999\r\n\r\n";
    service.raw(announced.as_bytes()).await.problem(413);
    let mut chunked =
        b"POST /v1/sessions/s/events HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/x-ndjson\r\n\
        connection: close\r\ntransfer-encoding: chunked\r\n\r\n"
            .to_vec();
    for _ in 0..40 {
        chunked.extend_from_slice(b"10000\r\n");
        chunked.extend_from_slice(&vec![b' '; 0x10000]);
        chunked.extend_from_slice(b"\r\n");
    }
    let answer = service.raw(&chunked).await;
    assert!(answer.status == 413 || answer.status == 0, "{answer:?}");
    let long = format!("{}\n{}", user_message("x").to_json(), user_message(&"x".repeat(1 << 16)).to_json());
    assert_eq!(service.lines("/v1/sessions/s/events", &long).await.problem(413)["line"], 2);
    assert_eq!(service.get("/v1/sessions/s/events").await.text(), "");
}

/// The memory for large bodies is limited, however many requests send one.
#[tokio::test]
async fn large_body_waits_for_memory() {
    let mut options = ServerOptions::default();
    options.limits.body = 1 << 20;
    let service = Service::with(Log::in_memory(), options).await;
    service.log.create("s".parse().unwrap()).await.unwrap();
    let head = |length: usize| {
        format!(
            "POST /v1/sessions/s/events HTTP/1.1\r\nhost: {}\r\ncontent-type: application/x-ndjson\r\n\
             connection: close\r\ncontent-length: {length}\r\n\r\n",
            service.address
        )
    };
    let mut begun = Vec::new();
    for _ in 0..8 {
        let mut stream = TcpStream::connect(service.address).await.unwrap();
        stream.write_all(head(1 << 20).as_bytes()).await.unwrap();
        stream.write_all(&[b' '; 1 << 17]).await.unwrap();
        begun.push(stream);
    }
    // As long as one of them is not read, there is memory for one more.
    let mut waiting = None;
    for _ in 0..100 {
        let (answers, mut body) = TcpStream::connect(service.address).await.unwrap().into_split();
        let request = [head(1 << 20).into_bytes(), vec![b' '; 1 << 20]].concat();
        // Returned at the end: dropping the stream would close the connection.
        let sending = tokio::spawn(async move { body.write_all(&request).await.map(|()| body) });
        // Small bodies need no reserved memory.
        for _ in 0..20 {
            assert_eq!(service.lines("/v1/sessions/s/events", &lines_of(&[user_message("x")])).await.status, 200);
        }
        if answers.try_read(&mut [0; 1]).is_err() {
            waiting = Some((answers, sending));
            break;
        }
    }
    let (mut answers, sending) = waiting.expect("a request without a response");
    drop(begun);
    let mut answer = [0; 12];
    tokio::time::timeout(TIMEOUT, answers.read_exact(&mut answer)).await.expect("a response").unwrap();
    assert_eq!(&answer, b"HTTP/1.1 200");
    drop(sending.await.unwrap().unwrap());
}

#[tokio::test]
async fn connection_is_reused_after_rejection_before_the_body() {
    let service = with_short_timeouts().await;
    let mut stream = TcpStream::connect(service.address).await.unwrap();
    for (target, status) in [
        ("/v1/sessions/s/interrupt", "415"),
        ("/v1/sessions/nobody/events", "404"),
        ("/v1/nowhere", "404"),
        ("/v1/agents", "405"),
    ] {
        let host = service.address;
        let head =
            format!("POST {target} HTTP/1.1\r\nhost: {host}\r\ncontent-type: text/plain\r\ncontent-length: 4\r\n\r\n");
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        while !answer.ends_with(b"}") {
            let read = tokio::time::timeout(TIMEOUT, stream.read_buf(&mut answer)).await.expect("a response");
            assert!(read.unwrap() > 0, "{target}: {}", String::from_utf8_lossy(&answer));
        }
        assert!(answer.starts_with(format!("HTTP/1.1 {status} ").as_bytes()), "{}", String::from_utf8_lossy(&answer));
        stream.write_all(b"body").await.unwrap();
    }
}

#[tokio::test]
async fn deep_nesting_and_invalid_text_are_rejected() {
    let service = with_short_timeouts().await;
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    service.json("POST", "/v1/sessions/s/events", &deep).await.problem(400);
    let deep =
        format!(r#"{{"type":"CUSTOM","name":"x","value":{{"a":{}{}}}}}"#, "[".repeat(10_000), "]".repeat(10_000));
    assert_eq!(service.lines("/v1/sessions/s/events", &deep).await.problem(400)["line"], 1);
    let deep = format!(r#"{{"metadata":{}1{}}}"#, r#"{"a":"#.repeat(10_000), "}".repeat(10_000));
    service.json("POST", "/v1/sessions", &deep).await.problem(400);
    let json = [("content-type", "application/json")];
    service.request("POST", "/v1/sessions", &json, b"{\"title\":\"\xff\xfe\"}").await.problem(400);
    service.json("POST", "/v1/sessions", r#"{"title":"\ud800"}"#).await.problem(400);
    assert_eq!(service.get("/v1/sessions/s/events").await.text(), "");
}

#[tokio::test]
async fn invalid_http_gets_a_response_or_is_closed() {
    let service = with_short_timeouts().await;
    let long = format!("GET /{} HTTP/1.1\r\nhost: localhost\r\n\r\n", "a".repeat(100_000));
    let many: String = (0..1_000).map(|number| format!("x-{number}: 1\r\n")).collect();
    let many = format!("GET /v1/sessions/s/stream HTTP/1.1\r\nhost: localhost\r\n{many}\r\n");
    let two = "GET /v1/sessions/s/stream HTTP/1.1\r\nhost: localhost\r\nhost: evil.example\r\n\r\n".to_owned();
    let garbled = "GET /v1/se ssions HTTP/1.1\r\nhost: localhost\r\n\r\n";
    for (text, status) in [(&*long, 431), (&many, 431), ("GET / HTTP/9.9\r\n\r\n", 400), (garbled, 400)] {
        service.raw(text.as_bytes()).await.problem(status);
    }
    let smuggled = "POST /v1/sessions HTTP/1.1\r\nhost: localhost\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n";
    for text in ["\0\0\0\0".to_owned(), "GET / HTTP/9.9\r\n\r\n".to_owned(), long, many, two, smuggled.to_owned()] {
        let mut stream = TcpStream::connect(service.address).await.unwrap();
        let _ = stream.write_all(text.as_bytes()).await;
        let _ = stream.shutdown().await;
        let answer = until_closed(&mut stream).await;
        assert!(answer.is_empty() || answer.starts_with(b"HTTP/1.1 4"), "{}", String::from_utf8_lossy(&answer));
    }
    assert_eq!(service.get("/healthz").await.status, 200);
}

#[tokio::test]
async fn stalled_reader_is_disconnected_and_can_resume() {
    let mut options = ServerOptions::default();
    options.limits.write_time = Duration::from_millis(500);
    let service = Service::with(Log::in_memory(), options).await;
    service.log.create("s".parse().unwrap()).await.unwrap();
    let text = "x".repeat(30_000);
    let mut stream = service.stream("/v1/sessions/s/stream?after=start", &[]).await;
    let mut total = 0;
    // More than the socket buffers hold.
    while total < 64 << 20 {
        let events: Vec<_> = (0..30).map(|_| user_message(&text)).collect();
        let body = lines_of(&events);
        total += body.len();
        assert_eq!(service.lines("/v1/sessions/s/events", &body).await.status, 200);
    }
    // The stream was cut at some frame. The reader resumes from its last cursor.
    let mut last = None;
    while let Some(frame) = stream.next().await {
        last = frame.id.or(last);
    }
    let last = last.expect("a frame");
    let mut stream = service.stream("/v1/sessions/s/stream", &[("last-event-id", &last)]).await;
    let next = stream.next().await.unwrap().id.unwrap();
    assert_eq!(crate::support::seq(&next), crate::support::seq(&last) + 1);
}

#[tokio::test]
async fn connections_beyond_limit_are_rejected() {
    let mut options = ServerOptions::default();
    options.limits.connections = Some(2);
    let service = Service::with(Log::in_memory(), options).await;
    service.log.create("s".parse().unwrap()).await.unwrap();
    let first = service.stream("/v1/sessions/s/stream", &[]).await;
    let _second = service.stream("/v1/sessions/s/stream", &[]).await;
    service.get("/healthz").await.problem(503);
    drop(first);
    let mut answer = service.get("/healthz").await;
    while answer.status == 503 {
        answer = service.get("/healthz").await;
    }
    assert_eq!(answer.status, 200);
}
