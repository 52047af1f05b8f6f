//! Blobs: uploaded bytes that messages can refer to.

use axum::response::IntoResponse as _;
use http::{HeaderValue, StatusCode, header};
use recount_log::Digest;
use recount_message::Object;

use super::{RouteResult, json};
use crate::call::Call;
use crate::problem::Problem;

/// `POST /v1/sessions/{id}/blobs`
pub(super) async fn post(mut call: Call) -> RouteResult {
    let session = call.session().await?;
    let media_type = call
        .media_type()
        .ok_or_else(|| Problem::unsupported_media_type("missing Content-Type: the media type of the blob"))?;
    // Browsers send these cross-origin without a preflight.
    if matches!(media_type.as_str(), "text/plain" | "multipart/form-data" | "application/x-www-form-urlencoded")
        || !media_type.contains('/')
    {
        return Err(Problem::unsupported_media_type(format!("unsupported media type {media_type:?} for a blob")));
    }
    let bytes = call.bytes().await?;
    let size = bytes.len() as u64;
    let digest = call.app.log().upload(session.key().tenant(), &media_type, bytes).await?;
    let mut fields = Object::new();
    fields.insert("url", digest.url());
    fields.insert("digest", digest.to_string());
    fields.insert("size", size);
    let mut response = json(StatusCode::CREATED, fields.to_json());
    let path = format!("{}/v1/sessions/{}/blobs/{digest}", call.path_prefix(), session.key().name());
    if let Ok(location) = HeaderValue::from_str(&path) {
        response.headers_mut().insert(header::LOCATION, location);
    }
    Ok(response)
}

/// `GET /v1/sessions/{id}/blobs/{sha256}`
pub(super) async fn get(call: Call) -> RouteResult {
    let session = call.session().await?;
    let text = call.segment("digest");
    let digest: Digest =
        text.parse().map_err(|error: recount_log::DigestError| Problem::bad_field("digest", error.to_string()))?;
    let upload = call.app.log().uploaded(session.key().tenant(), digest).await?;
    let upload = upload.ok_or_else(|| Problem::not_found(format!("unknown blob {digest}")))?;
    let mut response = (StatusCode::OK, upload.bytes).into_response();
    let headers = response.headers_mut();
    let media_type = HeaderValue::from_str(&upload.media_type);
    headers.insert(
        header::CONTENT_TYPE,
        media_type.unwrap_or_else(|_| HeaderValue::from_static("application/octet-stream")),
    );
    // The bytes are untrusted: in a browser they must not run scripts in this origin.
    headers.insert(
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static("default-src 'none'; style-src 'unsafe-inline'; sandbox"),
    );
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    // The URL contains the digest of the bytes.
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, max-age=31536000, immutable"));
    Ok(response)
}
