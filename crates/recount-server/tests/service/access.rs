//! Authentication, authorization and rate limits.

use pretty_assertions::assert_eq;
use recount_agent::scripted::ScriptedModel;
use recount_log::Log;
use recount_server::{Scope, Server, ServerOptions, Tokens};
use secrecy::ExposeSecret;
use serde_json::json;

use crate::support::{Service, host_of, lines_of, user_message};

struct Guarded {
    service: Service,
    tokens: Tokens,
    directory: tempfile::TempDir,
}

impl Guarded {
    async fn start() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let tokens = Tokens::in_directory(directory.path());
        let mut options = ServerOptions::default();
        options.data_dir = Some(directory.path().to_owned());
        let service = Service::with(Log::in_memory(), options).await;
        Self { service, tokens, directory }
    }

    fn token(&self, tenant: &str, scope: Scope) -> String {
        let (_, token) = self.tokens.create(tenant, scope).unwrap();
        format!("Bearer {}", token.expose_secret())
    }
}

#[tokio::test]
async fn tokens_give_access_by_tenant_and_scope() {
    let guarded = Guarded::start().await;
    let service = &guarded.service;
    assert_eq!(service.get("/v1/sessions").await.status, 200, "no token is required before the first one is created");
    let write = guarded.token("acme", Scope::Write);
    let rejected = service.get("/v1/sessions").await;
    rejected.problem(401);
    assert_eq!(rejected.header("www-authenticate").as_deref(), Some("Bearer realm=\"recount\""));
    let unknown = service.request("GET", "/v1/sessions", &[("authorization", "Bearer rct_nonsense")], b"").await;
    unknown.problem(401);
    assert!(unknown.header("www-authenticate").is_some());

    let json = ("content-type", "application/json");
    let auth = |token: &'static str| ("authorization", token);
    let write: &'static str = write.leak();
    let made = service.request("PUT", "/v1/sessions/s", &[auth(write), json], b"{}").await;
    assert_eq!(made.status, 201);
    let read: &'static str = guarded.token("acme", Scope::Read).leak();
    assert_eq!(service.request("GET", "/v1/sessions/s", &[auth(read)], b"").await.status, 200);
    let small = service.request("DELETE", "/v1/sessions/s", &[auth(read)], b"").await;
    assert!(small.problem(403)["detail"].as_str().unwrap().contains("`write`"));
    service.request("GET", "/metrics", &[auth(write)], b"").await.problem(403);
    let admin: &'static str = guarded.token("acme", Scope::Admin).leak();
    assert_eq!(service.request("GET", "/metrics", &[auth(admin)], b"").await.status, 200);

    // A session of another tenant does not exist, and its name is available.
    let other: &'static str = guarded.token("other", Scope::Write).leak();
    let foreign = service.request("GET", "/v1/sessions/s", &[auth(other)], b"").await;
    let missing = service.request("GET", "/v1/sessions/t", &[auth(other)], b"").await;
    assert_eq!(foreign.text().replace("`s`", "`t`"), missing.text());
    foreign.problem(404);
    service.request("POST", "/v1/sessions/s/events", &[auth(other), json], b"no json").await.problem(404);
    service.request("GET", "/v1/sessions/s/stream", &[auth(other)], b"").await.problem(404);
    assert_eq!(service.request("PUT", "/v1/sessions/s", &[auth(other), json], b"{}").await.status, 201);
    assert_eq!(
        service.request("GET", "/v1/sessions", &[auth(other)], b"").await.value()["sessions"].as_array().unwrap().len(),
        1
    );

    // A blob belongs to its tenant. Knowing its digest does not give access.
    let png = ("content-type", "image/png");
    let blob = service.request("POST", "/v1/sessions/s/blobs", &[auth(write), png], b"png").await.value();
    let place = format!("/v1/sessions/s/blobs/{}", blob["digest"].as_str().unwrap());
    assert_eq!(service.request("GET", &place, &[auth(read)], b"").await.status, 200);
    service.request("GET", &place, &[auth(other)], b"").await.problem(404);
}

#[tokio::test]
async fn session_of_another_tenant_is_not_found_on_any_route() {
    let guarded = Guarded::start().await;
    let service = &guarded.service;
    let (owner, other) = (guarded.token("acme", Scope::Write), guarded.token("other", Scope::Write));
    let json = ("content-type", "application/json");
    let made = service.request("PUT", "/v1/sessions/s", &[("authorization", &owner), json], b"{}").await;
    assert_eq!(made.status, 201);
    let changing = ["messages", "events", "interrupt", "fork", "blobs"].map(|route| ("POST", format!("/{route}")));
    for (method, route) in changing.into_iter().chain([("PATCH", String::new()), ("DELETE", String::new())]) {
        for kind in ["text/plain", "application/json", "application/x-www-form-urlencoded", "image/png"] {
            let headers = [("authorization", other.as_str()), ("content-type", kind)];
            let foreign = service.request(method, &format!("/v1/sessions/s{route}"), &headers, b"no json").await;
            let missing = service.request(method, &format!("/v1/sessions/t{route}"), &headers, b"no json").await;
            foreign.problem(404);
            assert_eq!(foreign.text().replace("`s`", "`t`"), missing.text(), "{method} {route} {kind}");
        }
    }
}

#[tokio::test]
async fn revoked_token_is_rejected() {
    let guarded = Guarded::start().await;
    let (info, token) = guarded.tokens.create("acme", Scope::Write).unwrap();
    let token = format!("Bearer {}", token.expose_secret());
    let headers = [("authorization", token.as_str())];
    assert_eq!(guarded.service.request("GET", "/v1/sessions", &headers, b"").await.status, 200);
    assert!(guarded.tokens.revoke(&info.id).unwrap());
    guarded.service.request("GET", "/v1/sessions", &headers, b"").await.problem(401);
    guarded.service.get("/v1/sessions").await.problem(401);
}

#[tokio::test]
async fn revoked_token_closes_its_streams() {
    let guarded = Guarded::start().await;
    let service = &guarded.service;
    let (info, token) = guarded.tokens.create("acme", Scope::Write).unwrap();
    let token = format!("Bearer {}", token.expose_secret());
    let headers = [("authorization", token.as_str()), ("content-type", "application/json")];
    service.request("PUT", "/v1/sessions/s", &headers, b"{}").await;
    let ticket = service.request("POST", "/v1/tickets", &headers, b"{}").await.value();
    let ticket = ticket["ticket"].as_str().unwrap();
    let mut stream = service.stream("/v1/sessions/s/stream", &headers[..1]).await;
    assert_eq!(stream.next().await.unwrap().event.as_deref(), Some("snapshot"));
    let mut socket = crate::sockets::Socket::open(service, &format!("/v1/ws?ticket={ticket}")).await;
    socket.send(json!({"subscribe": "s"})).await;
    assert!(socket.next().await["snapshot"].is_object());
    assert!(socket.next().await["live"].is_string());

    assert!(guarded.tokens.revoke(&info.id).unwrap());
    service.get(&format!("/v1/sessions/s?ticket={ticket}")).await.problem(401);
    assert_eq!(stream.next().await, None);
    assert_eq!(socket.text().await, None);
}

#[tokio::test]
async fn first_token_closes_unauthenticated_streams() {
    let guarded = Guarded::start().await;
    let service = &guarded.service;
    service.json("PUT", "/v1/sessions/s", "").await;
    let mut socket = crate::sockets::Socket::open(service, "/v1/sessions/s/ws").await;
    assert!(socket.next().await["snapshot"].is_object());
    assert!(socket.next().await["live"].is_string());
    guarded.tokens.create("acme", Scope::Write).unwrap();
    socket.send(json!({"ref": 1, "session": "s", "event": {"type": "CUSTOM", "name": "late", "value": {}}})).await;
    assert_eq!(socket.text().await, None);
}

#[tokio::test]
async fn ticket_authenticates_get_requests_only() {
    let guarded = Guarded::start().await;
    let service = &guarded.service;
    let token = guarded.token("acme", Scope::Write);
    let headers = [("authorization", token.as_str()), ("content-type", "application/json")];
    service.request("PUT", "/v1/sessions/s", &headers, b"{}").await;
    let ticket = service.request("POST", "/v1/tickets", &headers, b"{}").await.value();
    let ticket = ticket["ticket"].as_str().unwrap();
    let mut stream = service.stream(&format!("/v1/sessions/s/stream?ticket={ticket}"), &[]).await;
    assert_eq!(stream.next().await.unwrap().event.as_deref(), Some("snapshot"));
    let mut socket = crate::sockets::Socket::open(service, &format!("/v1/ws?ticket={ticket}")).await;
    socket.send(json!({"subscribe": "s"})).await;
    assert!(socket.next().await["snapshot"].is_object());
    service.get("/v1/sessions/s/stream?ticket=tkt_wrong").await.problem(401);
    // A ticket does not authenticate changes.
    service
        .lines(&format!("/v1/sessions/s/events?ticket={ticket}"), &lines_of(&[user_message("x")]))
        .await
        .problem(401);
}

#[tokio::test]
async fn unknown_hosts_and_origins_are_rejected() {
    let service = Service::with_session("s").await;
    let own = service.address.to_string();
    for host in ["evil.example", "evil.example:80", "localhost.evil.example", "10.1.2.3"] {
        for path in ["/", "/v1/sessions", "/readyz", "/openapi.json", "/v1/sessions/s/stream"] {
            service.request("GET", path, &[("host", host)], b"").await.problem(403);
        }
        assert_eq!(service.request("GET", "/healthz", &[("host", host)], b"").await.status, 200);
    }
    for host in ["localhost", "LOCALHOST:1", "[::1]:80", &own] {
        assert_eq!(service.request("GET", "/v1/sessions", &[("host", host)], b"").await.status, 200, "{host}");
    }
    let json = ("content-type", "application/json");
    for origin in ["http://evil.example", "null", "http://localhost:1", "file://", "https://127.0.0.1"] {
        service.request("POST", "/v1/sessions", &[("origin", origin), json], b"{}").await.problem(403);
        assert_eq!(service.request("GET", "/v1/sessions", &[("origin", origin)], b"").await.status, 200);
        let upgrade = [
            ("origin", origin),
            ("upgrade", "websocket"),
            ("connection", "upgrade"),
            ("sec-websocket-version", "13"),
            ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
        ];
        service.request("GET", "/v1/ws", &upgrade, b"").await.problem(403);
    }
    let same = format!("http://{own}");
    assert_eq!(service.request("POST", "/v1/sessions", &[("origin", &same), json], b"{}").await.status, 201);
    let cors = service.request("OPTIONS", "/v1/sessions", &[("origin", "http://evil.example")], b"").await;
    assert!(cors.header("access-control-allow-origin").is_none());
}

#[tokio::test]
async fn bind_without_tokens_requires_loopback_address() {
    let host = host_of(Log::in_memory(), ScriptedModel::new()).await;
    let error = Server::bind(host, "0.0.0.0:0", ServerOptions::default()).await.unwrap_err();
    assert!(error.to_string().contains("without tokens"), "{error}");
}

#[tokio::test]
async fn requests_beyond_rate_are_rejected() {
    let directory = tempfile::tempdir().unwrap();
    let tokens = Tokens::in_directory(directory.path());
    let (_, token) = tokens.create("acme", Scope::Read).unwrap();
    let mut options = ServerOptions::default();
    options.data_dir = Some(directory.path().to_owned());
    options.limits.rate = 5;
    let service = Service::with(Log::in_memory(), options).await;
    let token = format!("Bearer {}", token.expose_secret());
    let mut rejected = None;
    for _ in 0..200 {
        let answer = service.request("GET", "/v1/agents", &[("authorization", &token)], b"").await;
        if answer.status != 200 {
            rejected = Some(answer);
            break;
        }
    }
    let rejected = rejected.expect("a rejected request");
    rejected.problem(429);
    assert_eq!(rejected.header("retry-after").as_deref(), Some("1"));
}

#[tokio::test]
async fn session_limit_applies_per_tenant() {
    let mut options = ServerOptions::default();
    options.limits.sessions = 2;
    let service = Service::with(Log::in_memory(), options).await;
    for name in ["a", "b"] {
        assert_eq!(service.json("PUT", &format!("/v1/sessions/{name}"), "").await.status, 201);
    }
    service.json("PUT", "/v1/sessions/c", "").await.problem(429);
    service.json("POST", "/v1/sessions", "").await.problem(429);
    service.request("DELETE", "/v1/sessions/a", &[], b"").await;
    assert_eq!(service.json("PUT", "/v1/sessions/c", "").await.status, 201);
}

#[tokio::test]
async fn restored_token_file_is_read_again() {
    let guarded = Guarded::start().await;
    let token = guarded.token("acme", Scope::Read);
    let headers = [("authorization", token.as_str())];
    let list = || guarded.service.request("GET", "/v1/sessions", &headers, b"");
    assert_eq!(list().await.status, 200);
    let (file, aside) = (guarded.directory.path().join("tokens.jsonl"), guarded.directory.path().join("aside"));
    std::fs::rename(&file, &aside).unwrap();
    list().await.problem(401);
    guarded.service.get("/v1/sessions").await.problem(401);
    std::fs::rename(&aside, &file).unwrap();
    assert_eq!(list().await.status, 200);
}

#[tokio::test]
async fn failed_logins_are_rate_limited() {
    let directory = tempfile::tempdir().unwrap();
    let tokens = Tokens::in_directory(directory.path());
    let mut options = ServerOptions::default();
    options.data_dir = Some(directory.path().to_owned());
    options.limits.rate = 5;
    let service = Service::with(Log::in_memory(), options).await;
    let (_, token) = tokens.create("acme", Scope::Read).unwrap();
    let mut statuses = Vec::new();
    for _ in 0..40 {
        statuses
            .push(service.request("GET", "/v1/sessions", &[("authorization", "Bearer rct_guess")], b"").await.status);
    }
    assert_eq!(statuses.first(), Some(&401));
    assert!(statuses.contains(&429), "{statuses:?}");
    // Clients with a valid token are not affected.
    let known = format!("Bearer {}", token.expose_secret());
    assert_eq!(service.request("GET", "/v1/sessions", &[("authorization", &known)], b"").await.status, 200);
}
