//! The first request of a connection.

use std::time::Duration;

use http::request::Parts;
use http::{HeaderName, HeaderValue, Method, Request, StatusCode, Uri, header};
use recount_log::SessionKey;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tracing::Instrument as _;

use super::error_response::error_response;
use super::rewind::Rewind;
use crate::app::App;
use crate::guard::{ConnInfo, authorize};
use crate::params::Params;
use crate::problem::Problem;
use crate::routes::stream::{self, SseReader};
use crate::telemetry::RequestTelemetry;

/// The purpose of a connection, by its first request.
pub(super) enum FirstRequest {
    /// An event stream, whose response head has been sent.
    Stream(TcpStream, Box<SseReader>),
    /// Any other request, to be read again by hyper.
    Http(Rewind),
    /// The connection is closed, or the response has been sent.
    Closed,
}

/// The beginning of each request for a stream.
const PREFIX: &[u8] = b"GET /v1/sessions/";
const SUFFIX: &str = "/stream";
/// The maximum size of a request head. Larger ones are left to hyper.
const MAX_HEAD: usize = 16 * 1024;
const MAX_HEADERS: usize = 64;

/// The time limit for sending the response head.
const HEAD_WRITE_TIMEOUT: Duration = Duration::from_secs(10);

/// Reads the first request, and starts a stream if it is a request for one.
pub(super) async fn read(app: &App, mut stream: TcpStream, conn: ConnInfo) -> FirstRequest {
    let mut head = Vec::new();
    let read = read_head(&mut stream, &mut head);
    let parts = match tokio::time::timeout(app.limits().head_time, read).await {
        Ok(Some(parts)) => parts,
        Ok(None) if head.is_empty() => return FirstRequest::Closed,
        Ok(None) => return FirstRequest::Http(Rewind::new(head, stream)),
        Err(_) => return FirstRequest::Closed,
    };
    let (mut parts, name) = parts;
    parts.extensions.insert(conn);
    let telemetry = RequestTelemetry::on_route(&parts, stream::PATH);
    let opened = open(app, &parts, &name).instrument(telemetry.span()).await;
    match &opened {
        Ok(Some(_)) => telemetry.finish(app, StatusCode::OK, None),
        Ok(None) => telemetry.finish(app, StatusCode::NO_CONTENT, None),
        Err(problem) => telemetry.finish(app, problem.status(), Some(&problem.summary())),
    }
    let response = match &opened {
        Ok(Some(reader)) => {
            let mut head = String::from("HTTP/1.1 200 OK\r\n");
            for (name, value) in reader.headers() {
                head.push_str(&format!("{name}: {value}\r\n"));
            }
            head.push_str("connection: close\r\n\r\n");
            head
        }
        Ok(None) => "HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n".to_owned(),
        Err(problem) => error_response(problem),
    };
    let sent = tokio::time::timeout(HEAD_WRITE_TIMEOUT, stream.write_all(response.as_bytes())).await;
    match (opened, sent) {
        (Ok(Some(reader)), Ok(Ok(()))) => FirstRequest::Stream(stream, Box::new(reader)),
        (Ok(None) | Err(_), Ok(Ok(()))) => {
            let _ = stream.shutdown().await;
            FirstRequest::Closed
        }
        _ => FirstRequest::Closed,
    }
}

async fn open(app: &App, parts: &Parts, name: &str) -> Result<Option<SseReader>, Problem> {
    let caller = authorize(app, parts)?;
    let params = Params::of(&parts.uri);
    params.check(&parts.method, parts.uri.path())?;
    let key =
        SessionKey::of_tenant(&caller.tenant, name).map_err(|error| Problem::bad_field("id", error.to_string()))?;
    let session = app.existing_session(key).await?;
    stream::open(app, caller, session, &params, &parts.headers).await
}

/// Reads the head of a request into `head`. Returns `None` if the request is not for a stream, or if the connection closes
/// before it is complete.
async fn read_head(stream: &mut TcpStream, head: &mut Vec<u8>) -> Option<(Parts, String)> {
    loop {
        head.reserve(1_024);
        if stream.read_buf(head).await.ok()? == 0 {
            return None;
        }
        let compared = head.len().min(PREFIX.len());
        if head.get(..compared) != PREFIX.get(..compared) || head.len() > MAX_HEAD {
            return None;
        }
        let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
        let mut request = httparse::Request::new(&mut headers);
        match request.parse(head) {
            Ok(httparse::Status::Complete(length)) if length == head.len() => return stream_request(&request),
            Ok(httparse::Status::Partial) => {}
            // Hyper reports the error.
            Ok(httparse::Status::Complete(_)) | Err(_) => return None,
        }
    }
}

/// Returns the request and the name of its session, if it is a plain request for a stream.
fn stream_request(request: &httparse::Request<'_, '_>) -> Option<(Parts, String)> {
    let uri: Uri = request.path?.parse().ok()?;
    let name = uri.path().strip_prefix("/v1/sessions/")?.strip_suffix(SUFFIX)?;
    let is_passthrough =
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    if !is_passthrough || request.version != Some(1) {
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
    // Requests with a body, an upgrade or several hosts are left to hyper.
    let is_unusual = [header::CONTENT_LENGTH, header::TRANSFER_ENCODING, header::UPGRADE, header::EXPECT]
        .iter()
        .any(|name| parts.headers.contains_key(name));
    if is_unusual || parts.headers.get_all(header::HOST).iter().count() != 1 {
        return None;
    }
    Some((parts, name))
}
