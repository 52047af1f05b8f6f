//! The middleware in front of all routes: host and origin checks, authentication, and rate limits.

use std::net::{IpAddr, SocketAddr};
use std::time::Instant;

use axum::extract::{ConnectInfo, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use http::request::Parts;
use http::{HeaderMap, Method, StatusCode, Uri, header};
use tracing::Instrument as _;

use crate::app::App;
use crate::auth::Caller;
use crate::drain_body::DrainBody;
use crate::limits::RateLimitKey;
use crate::params::{Params, TICKET};
use crate::problem::Problem;
use crate::telemetry::RequestTelemetry;
use crate::tokens::Scope;

/// The addresses of a connection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ConnInfo {
    pub(crate) remote: SocketAddr,
    /// Unknown in an embedding server.
    pub(crate) local: Option<SocketAddr>,
}

impl ConnInfo {
    /// Returns the addresses that the server has attached to the request; an embedding server does so with [`ConnectInfo`].
    pub(crate) fn of(parts: &Parts) -> Option<Self> {
        let embedded = || {
            let remote = parts.extensions.get::<ConnectInfo<SocketAddr>>()?.0;
            Some(Self { remote, local: None })
        };
        parts.extensions.get::<Self>().copied().or_else(embedded)
    }
}

/// The path of the API that a route serves, for a route mounted at another path.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ApiPath(pub(crate) &'static str);

impl ApiPath {
    /// Returns the path of a request within the API.
    pub(crate) fn of(parts: &Parts) -> &str {
        parts.extensions.get::<Self>().map_or(parts.uri.path(), |path| path.0)
    }
}

/// Authorizes each request before it is routed, and records it.
pub(crate) async fn guard(State(app): State<App>, request: Request, next: Next) -> Response {
    let (mut parts, mut body) = request.into_parts();
    let telemetry = RequestTelemetry::start(&parts);
    // A client that sends `Expect: 100-continue` does not send its body after a rejection.
    if !parts.headers.contains_key(header::EXPECT) {
        body = DrainBody::wrap(app.limits().body.saturating_mul(2), body);
    }
    let response = match authorize(&app, &parts) {
        Ok(caller) => {
            parts.extensions.insert(caller);
            next.run(Request::from_parts(parts, body)).instrument(telemetry.span()).await
        }
        Err(problem) => problem.into_response(),
    };
    telemetry.finish(&app, response.status(), response.extensions().get());
    response
}

/// Returns the caller of a request, or the problem why it is rejected.
pub(crate) fn authorize(app: &App, parts: &Parts) -> Result<Caller, Problem> {
    let path = ApiPath::of(parts);
    if path == "/healthz" {
        return Ok(Caller::anonymous());
    }
    if parts.headers.get_all(header::HOST).iter().count() > 1 {
        return Err(Problem::bad("duplicate Host header").with("field", "Host"));
    }
    let conn = ConnInfo::of(parts);
    let host = host_of(&parts.headers, &parts.uri);
    check_host(app, host, conn)?;
    let is_upgrade = parts.headers.contains_key(header::UPGRADE);
    if is_mutation(&parts.method) || is_upgrade {
        check_origin(app, &parts.headers, host)?;
    }
    if !requires_authentication(path) {
        return Ok(Caller::anonymous());
    }
    let caller = match authenticate(app, parts) {
        Ok(caller) => caller,
        Err(unauthorized) => {
            // Failed logins count against the remote address, even a loopback one, to slow down guessing.
            let key = conn.map(|conn| RateLimitKey::Address(conn.remote.ip().to_canonical()));
            return Err(key.map_or(Ok(()), |key| count(app, key)).err().unwrap_or(unauthorized));
        }
    };
    check_rate(app, &caller, conn)?;
    let required = required_scope(&parts.method, path);
    if caller.scope < required {
        return Err(Problem::missing_scope(caller.scope, required));
    }
    Ok(caller)
}

fn is_mutation(method: &Method) -> bool {
    !matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
}

/// Whether a path needs authentication. The page and the description of the API do not: they contain no data of sessions.
fn requires_authentication(path: &str) -> bool {
    path.starts_with("/v1/") || path == "/metrics"
}

fn required_scope(method: &Method, path: &str) -> Scope {
    match path {
        "/metrics" => Scope::Admin,
        // A client with the scope `read` needs tickets to open streams from a browser.
        "/v1/tickets" => Scope::Read,
        _ if is_mutation(method) => Scope::Write,
        _ => Scope::Read,
    }
}

/// The host that a request is addressed to, with its port if there is one.
fn host_of<'a>(headers: &'a HeaderMap, uri: &'a Uri) -> Option<&'a str> {
    headers
        .get(header::HOST)
        .and_then(|host| host.to_str().ok())
        .or_else(|| uri.authority().map(http::uri::Authority::as_str))
}

fn without_port(authority: &str) -> &str {
    if let Some(rest) = authority.strip_prefix('[') {
        return rest.split(']').next().unwrap_or(rest);
    }
    authority.rsplit_once(':').map_or(authority, |(host, _)| host)
}

/// Rejects requests to unknown host names. A web page can point its own name at this server (DNS rebinding), but its requests
/// still carry that name in the `Host` header.
fn check_host(app: &App, host: Option<&str>, conn: Option<ConnInfo>) -> Result<(), Problem> {
    let Some(host) = host else { return Err(Problem::bad("missing Host header")) };
    let name = without_port(host).trim_end_matches('.').to_ascii_lowercase();
    let is_local = match name.parse::<IpAddr>() {
        Ok(address) => {
            let local = conn.and_then(|conn| conn.local).map(|local| local.ip().to_canonical());
            address.is_loopback() || local == Some(address)
        }
        Err(_) => name == "localhost",
    };
    if is_local || app.allowed_hosts().contains(&name) {
        return Ok(());
    }
    let detail =
        format!("unknown host name `{name}`; hint: add it to `hosts` (section `[server]`, or `ServerOptions`)");
    Err(Problem::forbidden(detail).with("field", "Host"))
}

fn check_origin(app: &App, headers: &HeaderMap, host: Option<&str>) -> Result<(), Problem> {
    let mut origins = headers.get_all(header::ORIGIN).iter();
    let Some(origin) = origins.next() else { return Ok(()) };
    let foreign = || Err(Problem::forbidden("cross-origin request rejected").with("field", "Origin"));
    let (Ok(origin), None) = (origin.to_str(), origins.next()) else { return foreign() };
    let Some(authority) = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://")) else {
        return foreign();
    };
    let is_same = host.is_some_and(|host| host.eq_ignore_ascii_case(authority));
    let name = without_port(authority).to_ascii_lowercase();
    if is_same || app.allowed_hosts().contains(&name) { Ok(()) } else { foreign() }
}

fn authenticate(app: &App, parts: &Parts) -> Result<Caller, Problem> {
    let unauthorized = |detail: &str| {
        Problem::new(StatusCode::UNAUTHORIZED, "unauthorized", detail)
            .header(header::WWW_AUTHENTICATE, "Bearer realm=\"recount\"")
    };
    if app.is_caller_external() {
        return parts.extensions.get::<Caller>().cloned().ok_or_else(|| unauthorized("authentication required"));
    }
    if !app.tokens().are_required() {
        return Ok(Caller { scope: Scope::Admin, ..Caller::anonymous() });
    }
    if let Some(value) = parts.headers.get(header::AUTHORIZATION) {
        let text = value.to_str().unwrap_or_default();
        let token = text.split_once(' ').filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
        let info = token.and_then(|(_, token)| app.tokens().find(token.trim()));
        let info = info.ok_or_else(|| unauthorized("unknown token"))?;
        return Ok(Caller { tenant: info.tenant, scope: info.scope, token: Some(info.id) });
    }
    // Tickets open streams in browsers, which cannot send the header there.
    if parts.method == Method::GET
        && let Some(ticket) = Params::of(&parts.uri).get(TICKET)
    {
        let caller = app.tickets().find(ticket, Instant::now()).filter(|caller| caller.is_authorized(app));
        return caller.ok_or_else(|| unauthorized("unknown or expired ticket"));
    }
    Err(unauthorized("missing token; hint: create one with `recount token create`, send it as `Authorization: Bearer`"))
}

fn check_rate(app: &App, caller: &Caller, conn: Option<ConnInfo>) -> Result<(), Problem> {
    let key = match (&caller.token, conn) {
        (Some(token), _) => RateLimitKey::Token(token.clone()),
        (None, Some(conn)) if !conn.remote.ip().to_canonical().is_loopback() => RateLimitKey::Address(conn.remote.ip()),
        (None, _) => return Ok(()),
    };
    count(app, key)
}

fn count(app: &App, key: RateLimitKey) -> Result<(), Problem> {
    app.rate_limiter().check(key, app.limits().rate, Instant::now()).map_err(|seconds| {
        Problem::new(StatusCode::TOO_MANY_REQUESTS, "too_many_requests", "too many requests; try again later")
            .header(header::RETRY_AFTER, &seconds.to_string())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_port_returns_the_host() {
        for (authority, host) in
            [("localhost:7171", "localhost"), ("[::1]:80", "::1"), ("[::1]", "::1"), ("example.com", "example.com")]
        {
            assert_eq!(without_port(authority), host);
        }
    }
}
