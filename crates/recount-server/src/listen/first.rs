//! The first request of a connection.

use std::time::Duration;

use http::request::Parts;
use http::{HeaderName, HeaderValue, Method, Request, StatusCode, Uri, header};
use recount_log::SessionKey;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tracing::Instrument as _;

use super::refusal::refusal;
use super::rewind::Rewind;
use crate::app::App;
use crate::guard::{Ends, admit};
use crate::params::Params;
use crate::problem::Problem;
use crate::routes::stream::{self, SseReader};
use crate::watch::Watched;

/// What a connection is used for.
pub(super) enum First {
    /// It follows a session; its head has been answered.
    Stream(TcpStream, Box<SseReader>),
    /// Anything else.
    Other(Rewind),
    /// Nothing more.
    Over,
}

/// How every request for a stream begins.
const BEGINNING: &[u8] = b"GET /v1/sessions/";
const END: &str = "/stream";
/// The same, as the router has it.
const ROUTE: &str = "/v1/sessions/{id}/stream";
/// A head that is larger is none that we know how to read.
const LONGEST: usize = 16 * 1024;
const HEADER_COUNT: usize = 64;

/// Looks at the first request, and begins a stream if it asks for one.
pub(super) async fn take(app: &App, mut stream: TcpStream, ends: Ends) -> First {
    let mut head = Vec::new();
    let read = read_head(&mut stream, &mut head);
    let parts = match tokio::time::timeout(app.limits().head_time, read).await {
        Ok(Some(parts)) => parts,
        Ok(None) if head.is_empty() => return First::Over,
        Ok(None) => return First::Other(Rewind::new(head, stream)),
        Err(_) => return First::Over,
    };
    let (mut parts, name) = parts;
    parts.extensions.insert(ends);
    let watched = Watched::on_route(&parts, ROUTE);
    let opened = open(app, &parts, &name).instrument(watched.span()).await;
    match &opened {
        Ok(Some(_)) => watched.end(app, StatusCode::OK, None),
        Ok(None) => watched.end(app, StatusCode::NO_CONTENT, None),
        Err(problem) => watched.end(app, problem.status(), Some(&problem.wrong())),
    }
    let answer = match &opened {
        Ok(Some(reader)) => {
            let mut answer = String::from("HTTP/1.1 200 OK\r\n");
            for (name, value) in reader.headers() {
                answer.push_str(&format!("{name}: {value}\r\n"));
            }
            answer.push_str("connection: close\r\n\r\n");
            answer
        }
        Ok(None) => "HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n".to_owned(),
        Err(problem) => refusal(problem),
    };
    let sent = tokio::time::timeout(Duration::from_secs(10), stream.write_all(answer.as_bytes())).await;
    match (opened, sent) {
        (Ok(Some(reader)), Ok(Ok(()))) => First::Stream(stream, Box::new(reader)),
        (Ok(None) | Err(_), Ok(Ok(()))) => {
            let _ = stream.shutdown().await;
            First::Over
        }
        _ => First::Over,
    }
}

async fn open(app: &App, parts: &Parts, name: &str) -> Result<Option<SseReader>, Problem> {
    let caller = admit(app, parts)?;
    let params = Params::of(&parts.uri);
    params.check(&parts.method, parts.uri.path())?;
    let key =
        SessionKey::of_tenant(&caller.tenant, name).map_err(|error| Problem::bad_field("id", error.to_string()))?;
    let session = app.existing(key).await?;
    stream::open(app, caller, session, &params, &parts.headers).await
}

/// Reads until it is clear what the request is. Nothing means that it is for no stream, or that it never came.
async fn read_head(stream: &mut TcpStream, head: &mut Vec<u8>) -> Option<(Parts, String)> {
    loop {
        head.reserve(1_024);
        if stream.read_buf(head).await.ok()? == 0 {
            return None;
        }
        let compared = head.len().min(BEGINNING.len());
        if head.get(..compared) != BEGINNING.get(..compared) || head.len() > LONGEST {
            return None;
        }
        let mut headers = [httparse::EMPTY_HEADER; HEADER_COUNT];
        let mut request = httparse::Request::new(&mut headers);
        match request.parse(head) {
            Ok(httparse::Status::Complete(length)) if length == head.len() => return stream_request(&request),
            Ok(httparse::Status::Partial) => {}
            // Hyper says what is wrong with it.
            Ok(httparse::Status::Complete(_)) | Err(_) => return None,
        }
    }
}

/// The request, if it is a plain one for a stream.
fn stream_request(request: &httparse::Request<'_, '_>) -> Option<(Parts, String)> {
    let uri: Uri = request.path?.parse().ok()?;
    let name = uri.path().strip_prefix("/v1/sessions/")?.strip_suffix(END)?;
    let is_plain = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    if !is_plain || request.version != Some(1) {
        return None;
    }
    let name = name.to_owned();
    let (mut parts, ()) = Request::new(()).into_parts();
    parts.method = Method::GET;
    parts.uri = uri;
    for header in request.headers.iter() {
        let name = HeaderName::from_bytes(header.name.as_bytes()).ok()?;
        parts.headers.append(name, HeaderValue::from_bytes(header.value).ok()?);
    }
    // Two hosts or a body are for somebody who knows what to do with them.
    let is_unusual = [header::CONTENT_LENGTH, header::TRANSFER_ENCODING, header::UPGRADE, header::EXPECT]
        .iter()
        .any(|name| parts.headers.contains_key(name));
    if is_unusual || parts.headers.get_all(header::HOST).iter().count() != 1 {
        return None;
    }
    Some((parts, name))
}
