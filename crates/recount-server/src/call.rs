//! A request, as the routes see it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::body::Body;
use axum::extract::{FromRequest, FromRequestParts as _, RawPathParams, Request};
use bytes::{Bytes, BytesMut};
use http::request::Parts;
use http::{HeaderMap, StatusCode, header};
use http_body_util::BodyExt as _;
use recount_log::{Session, SessionKey};
use recount_message::Object;
use tokio::sync::OwnedSemaphorePermit;

use crate::app::App;
use crate::guard::Caller;
use crate::params::Params;
use crate::problem::Problem;

/// A request that was let in.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) app: App,
    pub(crate) caller: Caller,
    pub(crate) params: Params,
    path: Option<RawPathParams>,
    pub(crate) parts: Parts,
    /// Only who has all of the call reads it.
    body: Mutex<Body>,
    /// The room that its body takes.
    room: Option<OwnedSemaphorePermit>,
}

/// A body up to this size needs no room of its own, so that messages and answers go through whatever else is uploaded.
const SMALL: usize = 64 * 1024;

impl FromRequest<App> for Call {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        let (mut parts, body) = request.into_parts();
        let path = match RawPathParams::from_request_parts(&mut parts, app).await {
            Ok(params) => Some(params),
            Err(_) if parts.uri.path().contains('%') => return Err(Problem::bad("the path is no UTF-8")),
            Err(_) => None,
        };
        let caller = parts.extensions.get::<Caller>().cloned();
        let caller = caller.ok_or_else(|| Problem::forbidden("the request was not let in"))?;
        let params = Params::of(&parts.uri);
        params.check(&parts.method, parts.uri.path())?;
        Ok(Self { app: app.clone(), caller, params, path, parts, body: Mutex::new(body), room: None })
    }
}

/// What a body may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BodyKind {
    Json,
    Lines,
}

impl Call {
    pub(crate) fn headers(&self) -> &HeaderMap {
        &self.parts.headers
    }

    /// A piece of the path.
    pub(crate) fn segment(&self, name: &str) -> &str {
        let mut segments = self.path.iter().flatten();
        segments.find(|(key, _)| *key == name).map_or("", |(_, value)| value)
    }

    /// The key of the session in the path.
    pub(crate) fn key(&self) -> Result<SessionKey, Problem> {
        self.key_of("id", self.segment("id"))
    }

    pub(crate) fn key_of(&self, field: &str, name: &str) -> Result<SessionKey, Problem> {
        SessionKey::of_tenant(&self.caller.tenant, name).map_err(|error| Problem::bad_field(field, error.to_string()))
    }

    /// The session in the path, which exists.
    pub(crate) async fn session(&self) -> Result<Session, Problem> {
        self.app.existing(self.key()?).await
    }

    /// The media type of the body, without its parameters.
    pub(crate) fn media_type(&self) -> Option<String> {
        let value = self.headers().get(header::CONTENT_TYPE)?.to_str().unwrap_or("?");
        Some(value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase())
    }

    fn announced(&self) -> Option<usize> {
        self.headers().get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
    }

    /// What the body is. Other types than JSON are what a page of another site could send without asking.
    pub(crate) fn body_kind(&self) -> Result<BodyKind, Problem> {
        let is_chunked = self.headers().contains_key(header::TRANSFER_ENCODING);
        match self.media_type().as_deref() {
            Some("application/json") => Ok(BodyKind::Json),
            Some("application/x-ndjson" | "application/ndjson" | "application/jsonl" | "application/x-jsonlines") => {
                Ok(BodyKind::Lines)
            }
            None if !is_chunked && self.announced().unwrap_or(0) == 0 => Ok(BodyKind::Json),
            None => Err(Problem::unsupported_media_type("the body has no media type; expected application/json")),
            Some(other) => Err(Problem::unsupported_media_type(format!(
                "the body is {other:?}; expected application/json, or application/x-ndjson for events"
            ))),
        }
    }

    /// The body, whole.
    pub(crate) async fn bytes(&mut self) -> Result<Bytes, Problem> {
        if let Some(encoding) = self.headers().get(header::CONTENT_ENCODING).filter(|encoding| *encoding != "identity")
        {
            let detail = format!("the body has the encoding {encoding:?}; expected none");
            return Err(Problem::unsupported_media_type(detail).with("field", "Content-Encoding"));
        }
        let limit = self.app.limits().body;
        let too_large = || Problem::too_large(format!("the body has more than {limit} bytes"));
        let announced = self.announced();
        if announced.is_some_and(|length| length > limit) {
            return Err(too_large());
        }
        let mebibytes = announced.unwrap_or(0) / (1024 * 1024);
        let time = self.app.limits().body_time + Duration::from_secs(mebibytes as u64);
        let (bodies, room) = (self.app.bodies(), &mut self.room);
        let body = self.body.get_mut().unwrap_or_else(PoisonError::into_inner);
        let read = async {
            let mut whole = BytesMut::new();
            while let Some(frame) = body.frame().await {
                let frame = frame.map_err(|_| Problem::bad("the body has broken off"))?;
                let Ok(data) = frame.into_data() else { continue };
                let length = whole.len() + data.len();
                if length > limit {
                    return Err(too_large());
                }
                if length > SMALL && room.is_none() {
                    // All of it at once: two who have half of what they need would wait for each other.
                    let wanted = u32::try_from(announced.unwrap_or(limit)).unwrap_or(u32::MAX);
                    *room = Arc::clone(bodies).acquire_many_owned(wanted).await.ok();
                }
                whole.extend_from_slice(&data);
            }
            Ok(whole.freeze())
        };
        match tokio::time::timeout(time, read).await {
            Ok(read) => read,
            Err(_) => Err(Problem::new(StatusCode::REQUEST_TIMEOUT, "timeout", "the body took too long")
                .header(header::CONNECTION, "close")),
        }
    }

    /// The body as a JSON object; none at all is an empty one.
    pub(crate) async fn object(&mut self) -> Result<Object, Problem> {
        if self.body_kind()? != BodyKind::Json {
            return Err(Problem::unsupported_media_type("expected application/json"));
        }
        let bytes = self.bytes().await?;
        let text = std::str::from_utf8(&bytes).map_err(|_| Problem::bad("the body is no UTF-8"))?;
        if text.trim().is_empty() {
            return Ok(Object::new());
        }
        Ok(Object::parse(text)?)
    }

    /// The same, with no other fields than these.
    pub(crate) async fn object_with(&mut self, known: &[&str]) -> Result<Object, Problem> {
        let object = self.object().await?;
        check_fields(&object, known)?;
        Ok(object)
    }
}

/// Whether an object has no other fields than these. What somebody has misspelt would be passed over in silence.
pub(crate) fn check_fields(object: &Object, known: &[&str]) -> Result<(), Problem> {
    let Some((name, _)) = object.iter().find(|(name, _)| !known.contains(name)) else { return Ok(()) };
    let expected = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    Err(Problem::bad_field(name, format!("there is no field `{name}` here; expected {expected}")))
}
