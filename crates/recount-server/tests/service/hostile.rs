//! Clients that mean no good.

use std::time::Duration;

use pretty_assertions::assert_eq;
use recount_log::Log;
use recount_server::ServerOptions;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::support::{PATIENCE, Service, lines_of, said};

/// A service that loses patience sooner than usual.
async fn impatient() -> Service {
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
    let _ = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut answer)).await.expect("an end");
    answer
}

#[tokio::test]
async fn a_head_that_never_ends_is_not_waited_for() {
    let service = impatient().await;
    for beginning in ["", "G", "GET /v1/sessions/s/stream HT", "POST /v1/sessions HTTP/1.1\r\nhost: localhost\r\nx: "] {
        let mut stream = TcpStream::connect(service.address).await.unwrap();
        stream.write_all(beginning.as_bytes()).await.unwrap();
        until_closed(&mut stream).await;
    }
    // Drop by drop is no better.
    let mut stream = TcpStream::connect(service.address).await.unwrap();
    let dripping = async {
        loop {
            if stream.write_all(b"G").await.is_err() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(PATIENCE, dripping).await.expect("an end");
}

#[tokio::test]
async fn a_body_that_never_comes_is_not_waited_for() {
    let service = impatient().await;
    let head = "POST /v1/sessions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{";
    service.raw(head.as_bytes()).await.problem(408);
}

#[tokio::test]
async fn what_is_too_large_is_refused() {
    let service = impatient().await;
    let headers = [("content-type", "application/x-ndjson")];
    service.ask("POST", "/v1/sessions/s/events", &headers, &vec![b' '; (1 << 20) + 1]).await.problem(413);
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
    let long = format!("{}\n{}", said("x").to_json(), said(&"x".repeat(1 << 16)).to_json());
    assert_eq!(service.lines("/v1/sessions/s/events", &long).await.problem(413)["line"], 2);
    assert_eq!(service.get("/v1/sessions/s/events").await.text(), "");
}

/// However many send large bodies at once, only some of them are taken into memory.
#[tokio::test]
async fn a_large_body_waits_for_room() {
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
    // Until all of those have been looked at, there is room for one more.
    let mut waiting = None;
    for _ in 0..100 {
        let (answers, mut body) = TcpStream::connect(service.address).await.unwrap().into_split();
        let request = [head(1 << 20).into_bytes(), vec![b' '; 1 << 20]].concat();
        // Given back when it is done: to drop it says that nothing more is wanted.
        let sending = tokio::spawn(async move { body.write_all(&request).await.map(|()| body) });
        // What is small goes through.
        for _ in 0..20 {
            assert_eq!(service.lines("/v1/sessions/s/events", &lines_of(&[said("x")])).await.status, 200);
        }
        if answers.try_read(&mut [0; 1]).is_err() {
            waiting = Some((answers, sending));
            break;
        }
    }
    let (mut answers, sending) = waiting.expect("one that is not answered");
    drop(begun);
    let mut answer = [0; 12];
    tokio::time::timeout(PATIENCE, answers.read_exact(&mut answer)).await.expect("an answer").unwrap();
    assert_eq!(&answer, b"HTTP/1.1 200");
    drop(sending.await.unwrap().unwrap());
}

/// Who is refused before the body has come can go on with the same connection.
#[tokio::test]
async fn a_refusal_does_not_take_the_connection_with_it() {
    let service = impatient().await;
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
            let read = tokio::time::timeout(PATIENCE, stream.read_buf(&mut answer)).await.expect("an answer");
            assert!(read.unwrap() > 0, "{target}: {}", String::from_utf8_lossy(&answer));
        }
        assert!(answer.starts_with(format!("HTTP/1.1 {status} ").as_bytes()), "{}", String::from_utf8_lossy(&answer));
        stream.write_all(b"body").await.unwrap();
    }
}

#[tokio::test]
async fn depth_and_bad_text_are_refused() {
    let service = impatient().await;
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    service.json("POST", "/v1/sessions/s/events", &deep).await.problem(400);
    let deep =
        format!(r#"{{"type":"CUSTOM","name":"x","value":{{"a":{}{}}}}}"#, "[".repeat(10_000), "]".repeat(10_000));
    assert_eq!(service.lines("/v1/sessions/s/events", &deep).await.problem(400)["line"], 1);
    let deep = format!(r#"{{"metadata":{}1{}}}"#, r#"{"a":"#.repeat(10_000), "}".repeat(10_000));
    service.json("POST", "/v1/sessions", &deep).await.problem(400);
    let json = [("content-type", "application/json")];
    service.ask("POST", "/v1/sessions", &json, b"{\"title\":\"\xff\xfe\"}").await.problem(400);
    service.json("POST", "/v1/sessions", r#"{"title":"\ud800"}"#).await.problem(400);
    assert_eq!(service.get("/v1/sessions/s/events").await.text(), "");
}

#[tokio::test]
async fn nonsense_is_answered_or_cut_off() {
    let service = impatient().await;
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
async fn who_takes_nothing_is_let_go_and_comes_back() {
    let mut options = ServerOptions::default();
    options.limits.write_time = Duration::from_millis(500);
    let service = Service::with(Log::in_memory(), options).await;
    service.log.create("s".parse().unwrap()).await.unwrap();
    let text = "x".repeat(30_000);
    let mut stream = service.stream("/v1/sessions/s/stream?after=start", &[]).await;
    let mut total = 0;
    // More than the system keeps for a connection.
    while total < 64 << 20 {
        let events: Vec<_> = (0..30).map(|_| said(&text)).collect();
        let body = lines_of(&events);
        total += body.len();
        assert_eq!(service.lines("/v1/sessions/s/events", &body).await.status, 200);
    }
    // It has been cut off somewhere; what it had not read it gets from there.
    let mut last = None;
    while let Some(frame) = stream.next().await {
        last = frame.id.or(last);
    }
    let last = last.expect("something");
    let mut stream = service.stream("/v1/sessions/s/stream", &[("last-event-id", &last)]).await;
    let next = stream.next().await.unwrap().id.unwrap();
    assert_eq!(crate::support::seq(&next), crate::support::seq(&last) + 1);
}

#[tokio::test]
async fn connections_have_a_limit() {
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
