//! The page, and everything that is nowhere.

use axum::response::IntoResponse as _;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use rust_embed::RustEmbed;

use super::RouteResult;
use crate::call::Call;
use crate::problem::Problem;

/// What `web/` was built into, if it was.
#[derive(RustEmbed)]
#[folder = "../../web/dist"]
#[allow_missing = true]
struct Assets;

const NOT_BUILT: &str = "Recount is running.

There is a page to talk with its agents, and it was not built along with this binary.
In the repository, `make web` builds it; then build or start the service again.

The API is described at /openapi.json.
";

/// What the page may load: what is served here, and pictures that messages name.
const POLICY: &str = "default-src 'self'; connect-src 'self'; img-src 'self' data: blob: https:; media-src 'self' data: \
    blob: https:; style-src 'self' 'unsafe-inline'; object-src 'none'; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'";

/// Anything that no other route takes: the page, a part of it, or nothing.
pub(super) async fn get(call: Call) -> RouteResult {
    let path = call.parts.uri.path();
    let is_read = matches!(call.parts.method, Method::GET | Method::HEAD);
    let nowhere = || Problem::not_found(format!("there is nothing at {path}; hint: /openapi.json lists what there is"));
    if path.starts_with("/v1/") || path == "/v1" || !is_read {
        return Err(nowhere());
    }
    let name = path.trim_start_matches('/');
    if !name.is_empty()
        && let Some(file) = Assets::get(name)
    {
        let media_type = media_type(name);
        // What the build names by its content never changes.
        let caching = if name.starts_with("assets/") { "public, max-age=31536000, immutable" } else { "no-cache" };
        let compressed = Assets::get(&format!("{name}.gz")).filter(|_| takes_gzip(call.headers()));
        let is_compressed = compressed.is_some();
        let mut response = guarded(media_type, caching, compressed.unwrap_or(file).data.into_owned());
        response.headers_mut().insert(header::VARY, HeaderValue::from_static("accept-encoding"));
        if is_compressed {
            response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        return Ok(response);
    }
    // The page finds its session in the URL: `/`, `/s/NAME`.
    if name.is_empty() || name.starts_with("s/") {
        return Ok(match Assets::get("index.html") {
            Some(file) => guarded("text/html; charset=utf-8", "no-cache", file.data.into_owned()),
            None => guarded("text/plain; charset=utf-8", "no-cache", NOT_BUILT.as_bytes().to_vec()),
        });
    }
    Err(nowhere())
}

/// Whether a browser takes what is compressed. One that has something against it says so with `q=0`.
fn takes_gzip(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT_ENCODING).into_iter().filter_map(|value| value.to_str().ok());
    accepted.flat_map(|value| value.split(',')).any(|coding| {
        let (name, weight) = coding.split_once(';').unwrap_or((coding, ""));
        let is_refused = weight.trim().strip_prefix("q=").is_some_and(|weight| weight.trim().parse() == Ok(0.0));
        name.trim().eq_ignore_ascii_case("gzip") && !is_refused
    })
}

fn guarded(media_type: &'static str, caching: &'static str, body: Vec<u8>) -> axum::response::Response {
    let mut response = (StatusCode::OK, body).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(caching));
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response
}

fn media_type(name: &str) -> &'static str {
    match name.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" | "map" => "application/json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        "webmanifest" => "application/manifest+json",
        "txt" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compressed_for_those_who_take_it() {
        let takes = |value: &'static str| {
            takes_gzip(&HeaderMap::from_iter([(header::ACCEPT_ENCODING, HeaderValue::from_static(value))]))
        };
        assert!(takes("gzip, deflate, br, zstd"));
        assert!(takes("br;q=1.0, GZIP;q=0.5"));
        assert!(!takes("gzip;q=0, br"));
        assert!(!takes("gzip; q=0.0"));
        assert!(!takes("identity"));
        assert!(!takes_gzip(&HeaderMap::new()));
    }
}
