//! Who may come in: hosts, origins, tokens, rates.

use std::net::{IpAddr, SocketAddr};
use std::time::Instant;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use http::request::Parts;
use http::{HeaderMap, Method, StatusCode, Uri, header};
use tracing::Instrument as _;

use crate::app::App;
use crate::limits::Asker;
use crate::params::{Params, TICKET};
use crate::problem::Problem;
use crate::tokens::Scope;
use crate::unread::Unread;
use crate::watch::Watched;

/// Who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Caller {
    pub(crate) tenant: String,
    pub(crate) scope: Scope,
    /// The token's id, where there is one.
    pub(crate) token: Option<String>,
}

impl Caller {
    /// Whether they would still be let in. Connections last for hours, and tokens are revoked in between.
    pub(crate) fn is_welcome(&self, app: &App) -> bool {
        app.tokens().is_good(self.token.as_deref())
    }
}

/// Where a connection comes from, and where it arrived.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ends {
    pub(crate) remote: SocketAddr,
    pub(crate) local: SocketAddr,
}

/// Holds every request to the rules, before anything else is looked at.
pub(crate) async fn guard(State(app): State<App>, request: Request, next: Next) -> Response {
    let (mut parts, mut body) = request.into_parts();
    let watched = Watched::begin(&parts);
    // Who asks first whether to send it does not send it when told no.
    if !parts.headers.contains_key(header::EXPECT) {
        body = Unread::up_to(app.limits().body.saturating_mul(2), body);
    }
    let response = match admit(&app, &parts) {
        Ok(caller) => {
            parts.extensions.insert(caller);
            next.run(Request::from_parts(parts, body)).instrument(watched.span()).await
        }
        Err(problem) => problem.into_response(),
    };
    watched.end(&app, response.status(), response.extensions().get());
    response
}

/// Whether a request may come in, and as whom.
pub(crate) fn admit(app: &App, parts: &Parts) -> Result<Caller, Problem> {
    let path = parts.uri.path();
    if path == "/healthz" {
        return Ok(Caller { tenant: String::new(), scope: Scope::Read, token: None });
    }
    if parts.headers.get_all(header::HOST).iter().count() > 1 {
        return Err(Problem::bad("the request has several Host headers").with("field", "Host"));
    }
    let ends = parts.extensions.get::<Ends>().copied();
    let host = host_of(&parts.headers, &parts.uri);
    check_host(app, host, ends)?;
    let is_upgrade = parts.headers.contains_key(header::UPGRADE);
    if is_changing(&parts.method) || is_upgrade {
        check_origin(app, &parts.headers, host)?;
    }
    if !is_guarded(path) {
        return Ok(Caller { tenant: String::new(), scope: Scope::Read, token: None });
    }
    let caller = match authenticate(app, parts) {
        Ok(caller) => caller,
        Err(refused) => {
            // Whoever tries out tokens is counted, wherever they come from.
            let stranger = ends.map(|ends| Asker::Address(ends.remote.ip().to_canonical()));
            return Err(stranger.map_or(Ok(()), |stranger| count(app, stranger)).err().unwrap_or(refused));
        }
    };
    check_rate(app, &caller, ends)?;
    let needed = needed(&parts.method, path);
    if caller.scope < needed {
        let detail = format!("the token has the scope `{}`, and this needs `{needed}`", caller.scope);
        return Err(Problem::forbidden(detail)
            .header(header::WWW_AUTHENTICATE, &format!("Bearer error=\"insufficient_scope\", scope=\"{needed}\"")));
    }
    Ok(caller)
}

fn is_changing(method: &Method) -> bool {
    !matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
}

/// Whether a path is behind tokens. The page and what describes the service are not: they say nothing about sessions.
fn is_guarded(path: &str) -> bool {
    path.starts_with("/v1/") || path == "/metrics"
}

fn needed(method: &Method, path: &str) -> Scope {
    match path {
        "/metrics" => Scope::Admin,
        // Who may only read may open streams from a browser too.
        "/v1/tickets" => Scope::Read,
        _ if is_changing(method) => Scope::Write,
        _ => Scope::Read,
    }
}

/// The host that a client means, with the port where it names one.
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

/// A page of another site can make its own name point here. What it cannot do is send another name than its own.
fn check_host(app: &App, host: Option<&str>, ends: Option<Ends>) -> Result<(), Problem> {
    let Some(host) = host else { return Err(Problem::bad("the request has no Host header")) };
    let name = without_port(host).trim_end_matches('.').to_ascii_lowercase();
    let is_own = match name.parse::<IpAddr>() {
        Ok(address) => address.is_loopback() || ends.is_some_and(|ends| ends.local.ip().to_canonical() == address),
        Err(_) => name == "localhost",
    };
    if is_own || app.hosts().contains(&name) {
        return Ok(());
    }
    let detail = "this service is not known by that host name; hint: add it to `hosts` in the `[server]` section";
    Err(Problem::forbidden(detail).with("field", "Host"))
}

fn check_origin(app: &App, headers: &HeaderMap, host: Option<&str>) -> Result<(), Problem> {
    let mut origins = headers.get_all(header::ORIGIN).iter();
    let Some(origin) = origins.next() else { return Ok(()) };
    let foreign = || Err(Problem::forbidden("pages of another origin may not do this").with("field", "Origin"));
    let (Ok(origin), None) = (origin.to_str(), origins.next()) else { return foreign() };
    let Some(authority) = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://")) else {
        return foreign();
    };
    let is_same = host.is_some_and(|host| host.eq_ignore_ascii_case(authority));
    let name = without_port(authority).to_ascii_lowercase();
    if is_same || app.hosts().contains(&name) { Ok(()) } else { foreign() }
}

fn authenticate(app: &App, parts: &Parts) -> Result<Caller, Problem> {
    if !app.tokens().are_required() {
        return Ok(Caller { tenant: String::new(), scope: Scope::Admin, token: None });
    }
    let refused = |detail: &str| {
        Problem::new(StatusCode::UNAUTHORIZED, "unauthorized", detail)
            .header(header::WWW_AUTHENTICATE, "Bearer realm=\"recount\"")
    };
    if let Some(value) = parts.headers.get(header::AUTHORIZATION) {
        let text = value.to_str().unwrap_or_default();
        let token = text.split_once(' ').filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
        let info = token.and_then(|(_, token)| app.tokens().find(token.trim()));
        let info = info.ok_or_else(|| refused("the token is not known"))?;
        return Ok(Caller { tenant: info.tenant, scope: info.scope, token: Some(info.id) });
    }
    // A ticket is for opening streams, where a browser cannot send a header.
    if parts.method == Method::GET
        && let Some(ticket) = Params::of(&parts.uri).get(TICKET)
    {
        let caller = app.tickets().find(ticket, Instant::now()).filter(|caller| caller.is_welcome(app));
        return caller.ok_or_else(|| refused("the ticket is not known, or its time is over"));
    }
    Err(refused("a token is needed; hint: `recount token create` makes one, `Authorization: Bearer` carries it"))
}

fn check_rate(app: &App, caller: &Caller, ends: Option<Ends>) -> Result<(), Problem> {
    let asker = match (&caller.token, ends) {
        (Some(token), _) => Asker::Token(token.clone()),
        (None, Some(ends)) if !ends.remote.ip().to_canonical().is_loopback() => Asker::Address(ends.remote.ip()),
        (None, _) => return Ok(()),
    };
    count(app, asker)
}

fn count(app: &App, asker: Asker) -> Result<(), Problem> {
    app.rates().take(asker, app.limits().rate, Instant::now()).map_err(|seconds| {
        Problem::new(StatusCode::TOO_MANY_REQUESTS, "too_many_requests", "too many requests; try again later")
            .header(header::RETRY_AFTER, &seconds.to_string())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_no_part_of_a_name() {
        for (authority, name) in
            [("localhost:7171", "localhost"), ("[::1]:80", "::1"), ("[::1]", "::1"), ("example.com", "example.com")]
        {
            assert_eq!(without_port(authority), name);
        }
    }
}
