//! The extractor for requests of the API.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::body::Body;
use axum::extract::{FromRequest, FromRequestParts as _, OriginalUri, RawPathParams, Request};
use bytes::{Bytes, BytesMut};
use http::request::Parts;
use http::{HeaderMap, StatusCode, header};
use http_body_util::BodyExt as _;
use recount_log::{Session, SessionKey};
use recount_message::Object;
use tokio::sync::OwnedSemaphorePermit;

use crate::app::App;
use crate::auth::Caller;
use crate::guard::ApiPath;
use crate::params::Params;
use crate::problem::Problem;

/// An authorized request.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) app: App,
    pub(crate) caller: Caller,
    pub(crate) params: Params,
    path: Option<RawPathParams>,
    pub(crate) parts: Parts,
    /// A mutex only to be `Sync`: reading the body requires `&mut self`.
    body: Mutex<Body>,
    /// The memory reserved for the body.
    body_permit: Option<OwnedSemaphorePermit>,
}

/// Bodies up to this size reserve no memory, so that messages and tool results are accepted during large uploads.
const SMALL_BODY: usize = 64 * 1024;

impl FromRequest<App> for Call {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        let (mut parts, body) = request.into_parts();
        let path = match RawPathParams::from_request_parts(&mut parts, app).await {
            Ok(params) => Some(params),
            Err(_) if parts.uri.path().contains('%') => return Err(Problem::bad("invalid UTF-8 in the path")),
            Err(_) => None,
        };
        let caller = parts.extensions.get::<Caller>().cloned();
        let caller = caller.ok_or_else(|| Problem::forbidden("unauthorized request"))?;
        let params = Params::of(&parts.uri);
        params.check(&parts.method, ApiPath::of(&parts))?;
        Ok(Self { app: app.clone(), caller, params, path, parts, body: Mutex::new(body), body_permit: None })
    }
}

/// The format of a request body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BodyKind {
    Json,
    /// JSON Lines.
    Lines,
}

impl Call {
    pub(crate) fn headers(&self) -> &HeaderMap {
        &self.parts.headers
    }

    /// Returns the prefix under which the API is nested in an axum application; empty if it is not.
    pub(crate) fn path_prefix(&self) -> &str {
        let original = self.parts.extensions.get::<OriginalUri>().map(|OriginalUri(uri)| uri.path());
        original.and_then(|path| path.strip_suffix(self.parts.uri.path())).unwrap_or_default()
    }

    /// Returns a path parameter; empty if the route does not have it.
    pub(crate) fn segment(&self, name: &str) -> &str {
        let mut segments = self.path.iter().flatten();
        segments.find(|(key, _)| *key == name).map_or("", |(_, value)| value)
    }

    /// Returns the key of the session in the path.
    pub(crate) fn key(&self) -> Result<SessionKey, Problem> {
        self.key_of("id", self.segment("id"))
    }

    /// Returns the key of a session of the caller's tenant. `field` is the request field that contains the name.
    pub(crate) fn key_of(&self, field: &str, name: &str) -> Result<SessionKey, Problem> {
        SessionKey::of_tenant(&self.caller.tenant, name).map_err(|error| Problem::bad_field(field, error.to_string()))
    }

    /// Returns the session in the path, or the problem that it does not exist.
    pub(crate) async fn session(&self) -> Result<Session, Problem> {
        self.app.existing_session(self.key()?).await
    }

    /// Returns the media type of the body, in lower case and without parameters.
    pub(crate) fn media_type(&self) -> Option<String> {
        let value = self.headers().get(header::CONTENT_TYPE)?.to_str().unwrap_or("?");
        Some(value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase())
    }

    fn content_length(&self) -> Option<usize> {
        self.headers().get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
    }

    /// Returns the format of the body. Only JSON types are accepted: browsers send others cross-origin without a preflight.
    pub(crate) fn body_kind(&self) -> Result<BodyKind, Problem> {
        let is_chunked = self.headers().contains_key(header::TRANSFER_ENCODING);
        match self.media_type().as_deref() {
            Some("application/json") => Ok(BodyKind::Json),
            Some("application/x-ndjson" | "application/ndjson" | "application/jsonl" | "application/x-jsonlines") => {
                Ok(BodyKind::Lines)
            }
            None if !is_chunked && self.content_length().unwrap_or(0) == 0 => Ok(BodyKind::Json),
            None => Err(Problem::unsupported_media_type("missing Content-Type; expected application/json")),
            Some(other) => Err(Problem::unsupported_media_type(format!(
                "unsupported media type {other:?}; expected application/json, or application/x-ndjson for events"
            ))),
        }
    }

    /// Reads the whole body, within the limits of size, time and shared memory.
    pub(crate) async fn bytes(&mut self) -> Result<Bytes, Problem> {
        if let Some(encoding) = self.headers().get(header::CONTENT_ENCODING).filter(|encoding| *encoding != "identity")
        {
            let detail = format!("unsupported content encoding {encoding:?}; expected none");
            return Err(Problem::unsupported_media_type(detail).with("field", "Content-Encoding"));
        }
        let limit = self.app.limits().body;
        let too_large = || Problem::too_large(format!("the body exceeds {limit} bytes"));
        let content_length = self.content_length();
        if content_length.is_some_and(|length| length > limit) {
            return Err(too_large());
        }
        let mebibytes = content_length.unwrap_or(0) / (1024 * 1024);
        let time = self.app.limits().body_time + Duration::from_secs(mebibytes as u64);
        let (body_memory, permit) = (self.app.body_memory(), &mut self.body_permit);
        let body = self.body.get_mut().unwrap_or_else(PoisonError::into_inner);
        let read = async {
            let mut bytes = BytesMut::new();
            while let Some(frame) = body.frame().await {
                let frame = frame.map_err(|_| Problem::bad("the body was truncated"))?;
                let Ok(data) = frame.into_data() else { continue };
                let length = bytes.len() + data.len();
                if length > limit {
                    return Err(too_large());
                }
                if length > SMALL_BODY && permit.is_none() {
                    // All at once: two requests that each hold a part of their memory could deadlock.
                    let size = u32::try_from(content_length.unwrap_or(limit)).unwrap_or(u32::MAX);
                    *permit = Arc::clone(body_memory).acquire_many_owned(size).await.ok();
                }
                bytes.extend_from_slice(&data);
            }
            Ok(bytes.freeze())
        };
        match tokio::time::timeout(time, read).await {
            Ok(read) => read,
            Err(_) => Err(Problem::new(StatusCode::REQUEST_TIMEOUT, "timeout", "timed out reading the body")
                .header(header::CONNECTION, "close")),
        }
    }

    /// Reads the body as a JSON object. An empty body is an empty object.
    pub(crate) async fn object(&mut self) -> Result<Object, Problem> {
        if self.body_kind()? != BodyKind::Json {
            return Err(Problem::unsupported_media_type("unsupported media type; expected application/json"));
        }
        let bytes = self.bytes().await?;
        let text = std::str::from_utf8(&bytes).map_err(|_| Problem::bad("invalid UTF-8 in the body"))?;
        if text.trim().is_empty() {
            return Ok(Object::new());
        }
        Ok(Object::parse(text)?)
    }

    /// Reads the body as a JSON object with known fields only.
    pub(crate) async fn object_with(&mut self, known: &[&str]) -> Result<Object, Problem> {
        let object = self.object().await?;
        check_fields(&object, known)?;
        Ok(object)
    }
}

/// Rejects an object with unknown fields, which are usually misspelt.
pub(crate) fn check_fields(object: &Object, known: &[&str]) -> Result<(), Problem> {
    let Some((name, _)) = object.iter().find(|(name, _)| !known.contains(name)) else { return Ok(()) };
    let expected = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    Err(Problem::bad_field(name, format!("unknown field `{name}`; expected {expected}")))
}
