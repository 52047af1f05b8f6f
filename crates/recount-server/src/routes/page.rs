//! The web page, and the response to unknown paths.

use axum::response::IntoResponse as _;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use rust_embed::RustEmbed;

use super::RouteResult;
use crate::call::Call;
use crate::problem::Problem;

/// The build output of `web/`. Empty if it was not built.
#[derive(RustEmbed)]
#[folder = "../../web/dist"]
#[allow_missing = true]
struct Assets;

const NOT_BUILT: &str = "Recount is running.

The web page is not included in this binary.
In the repository, build it with `make web`, and then build or start the service again.

The API is described at /openapi.json.
";

/// The Content-Security-Policy of the page: its own resources, and media that messages refer to.
const POLICY: &str = "default-src 'self'; connect-src 'self'; img-src 'self' data: blob: https:; media-src 'self' data: \
    blob: https:; style-src 'self' 'unsafe-inline'; object-src 'none'; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'";

/// The fallback route: the page, one of its assets, or 404.
pub(super) async fn get(call: Call) -> RouteResult {
    let path = call.parts.uri.path();
    let is_read = matches!(call.parts.method, Method::GET | Method::HEAD);
    let not_found = || Problem::not_found(format!("unknown path {path}; hint: /openapi.json lists the routes"));
    if path.starts_with("/v1/") || path == "/v1" || !is_read {
        return Err(not_found());
    }
    let name = path.trim_start_matches('/');
    if !name.is_empty()
        && let Some(file) = Assets::get(name)
    {
        let media_type = media_type(name);
        // The names of these files contain a hash of their content.
        let caching = if name.starts_with("assets/") { "public, max-age=31536000, immutable" } else { "no-cache" };
        let compressed = Assets::get(&format!("{name}.gz")).filter(|_| accepts_gzip(call.headers()));
        let is_compressed = compressed.is_some();
        let mut response = asset_response(media_type, caching, compressed.unwrap_or(file).data.into_owned());
        response.headers_mut().insert(header::VARY, HeaderValue::from_static("accept-encoding"));
        if is_compressed {
            response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        return Ok(response);
    }
    // The page reads the name of its session from the URL: `/`, `/s/NAME`.
    if name.is_empty() || name.starts_with("s/") {
        return Ok(match Assets::get("index.html") {
            Some(file) => asset_response("text/html; charset=utf-8", "no-cache", file.data.into_owned()),
            None => asset_response("text/plain; charset=utf-8", "no-cache", NOT_BUILT.as_bytes().to_vec()),
        });
    }
    Err(not_found())
}

/// Whether `Accept-Encoding` includes gzip. `q=0` excludes it.
fn accepts_gzip(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT_ENCODING).into_iter().filter_map(|value| value.to_str().ok());
    accepted.flat_map(|value| value.split(',')).any(|coding| {
        let (name, weight) = coding.split_once(';').unwrap_or((coding, ""));
        let is_excluded = weight.trim().strip_prefix("q=").is_some_and(|weight| weight.trim().parse() == Ok(0.0));
        name.trim().eq_ignore_ascii_case("gzip") && !is_excluded
    })
}

fn asset_response(media_type: &'static str, caching: &'static str, body: Vec<u8>) -> axum::response::Response {
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
    fn accepts_gzip_unless_its_weight_is_zero() {
        let accepts = |value: &'static str| {
            accepts_gzip(&HeaderMap::from_iter([(header::ACCEPT_ENCODING, HeaderValue::from_static(value))]))
        };
        assert!(accepts("gzip, deflate, br, zstd"));
        assert!(accepts("br;q=1.0, GZIP;q=0.5"));
        assert!(!accepts("gzip;q=0, br"));
        assert!(!accepts("gzip; q=0.0"));
        assert!(!accepts("identity"));
        assert!(!accepts_gzip(&HeaderMap::new()));
    }
}
