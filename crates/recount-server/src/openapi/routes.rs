//! The list of all routes.

use http::Method;

use super::parameters::{
    AFTER, AFTER_SESSION, ALL, BEFORE_MESSAGE, DIALECT, DIGEST, HEAD, ID, LAST_EVENT_ID, MEDIA, NAME, ON_BUSY,
    Parameter, REPLY, SIGNALS, TARGET, limit,
};

/// The description of a route.
#[derive(Debug)]
pub(crate) struct Route {
    pub(crate) method: &'static str,
    pub(crate) path: &'static str,
    pub(crate) id: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) parameters: &'static [Parameter],
    pub(crate) body: Body,
    pub(crate) successes: &'static [Success],
    /// The statuses of error responses, in addition to those that all routes have.
    pub(crate) errors: &'static [u16],
    pub(crate) access: Access,
}

/// The checks before a request is handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// No checks.
    Public,
    /// The `Host` header.
    Host,
    /// The `Host` header, and a token if tokens are required.
    Token,
}

/// The request body of a route.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Body {
    None,
    /// JSON with the schema of this name.
    Json(&'static str),
    Events,
    Bytes,
}

/// A successful response of a route.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Success {
    Json(u16, &'static str),
    Text(u16, &'static str),
    Bytes(u16),
    Empty(u16),
}

impl Route {
    /// Returns the names of the query parameters.
    pub(crate) fn query(&self) -> impl Iterator<Item = &'static str> {
        self.parameters.iter().filter(|parameter| parameter.location == "query").map(|parameter| parameter.name)
    }

    /// Whether a path matches the path template.
    fn matches(&self, path: &str) -> bool {
        let (mut template, mut path) = (self.path.split('/'), path.split('/'));
        loop {
            match (template.next(), path.next()) {
                (None, None) => return true,
                (Some(piece), Some(given)) if piece.starts_with('{') || piece == given => {}
                _ => return false,
            }
        }
    }
}

/// Returns the route of a request, if there is one.
pub(crate) fn route_of(method: &Method, path: &str) -> Option<&'static Route> {
    let method = if *method == Method::HEAD { "GET" } else { method.as_str() };
    ROUTES.iter().find(|route| route.method == method && route.matches(path))
}

const fn authenticated(method: &'static str, path: &'static str, id: &'static str, summary: &'static str) -> Route {
    Route {
        method,
        path,
        id,
        summary,
        parameters: &[],
        body: Body::None,
        successes: &[],
        errors: &[],
        access: Access::Token,
    }
}

const fn public(method: &'static str, path: &'static str, id: &'static str, summary: &'static str) -> Route {
    Route { access: Access::Host, ..authenticated(method, path, id, summary) }
}

/// Every route.
pub(crate) const ROUTES: &[Route] = &[
    Route {
        parameters: &[AFTER_SESSION, limit(1_000)],
        successes: &[Success::Json(200, "SessionPage")],
        ..authenticated("GET", "/v1/sessions", "listSessions", "List sessions by name")
    },
    Route {
        body: Body::Json("SessionChange"),
        successes: &[Success::Json(201, "SessionWithUsage")],
        errors: &[408, 413, 415, 507],
        ..authenticated("POST", "/v1/sessions", "createSession", "Create a session")
    },
    Route {
        parameters: &[ID],
        successes: &[Success::Json(200, "SessionWithUsage")],
        errors: &[404],
        ..authenticated("GET", "/v1/sessions/{id}", "getSession", "Read a session with its usage")
    },
    Route {
        parameters: &[ID],
        body: Body::Json("SessionChange"),
        successes: &[Success::Json(200, "SessionWithUsage"), Success::Json(201, "SessionWithUsage")],
        errors: &[408, 409, 413, 415, 507],
        ..authenticated("PUT", "/v1/sessions/{id}", "putSession", "Create a session with a chosen name, or change it")
    },
    Route {
        parameters: &[ID],
        body: Body::Json("SessionChange"),
        successes: &[Success::Json(200, "SessionWithUsage")],
        errors: &[404, 408, 413, 415, 507],
        ..authenticated(
            "PATCH",
            "/v1/sessions/{id}",
            "changeSession",
            "Change the properties of a session; null removes one",
        )
    },
    Route {
        parameters: &[ID],
        successes: &[Success::Empty(204)],
        errors: &[404],
        ..authenticated("DELETE", "/v1/sessions/{id}", "deleteSession", "Delete a session")
    },
    Route {
        parameters: &[ID, BEFORE_MESSAGE, limit(200), ALL, MEDIA],
        successes: &[Success::Json(200, "MessagePage")],
        errors: &[404],
        ..authenticated(
            "GET",
            "/v1/sessions/{id}/messages",
            "listMessages",
            "List messages, oldest first within a page",
        )
    },
    Route {
        parameters: &[ID, ON_BUSY],
        body: Body::Json("NewMessage"),
        successes: &[Success::Json(202, "Posted")],
        errors: &[404, 408, 409, 413, 415, 422, 507],
        ..authenticated(
            "POST",
            "/v1/sessions/{id}/messages",
            "postMessage",
            "Post a message, to which the session's agent replies",
        )
    },
    Route {
        parameters: &[ID, AFTER, limit(10_000), TARGET, SIGNALS, ALL, MEDIA],
        successes: &[Success::Text(200, "application/x-ndjson")],
        errors: &[404, 410],
        ..authenticated("GET", "/v1/sessions/{id}/events", "listEvents", "List the events after a cursor, one per line")
    },
    Route {
        parameters: &[ID, HEAD, DIALECT],
        body: Body::Events,
        successes: &[Success::Json(200, "Appended")],
        errors: &[404, 408, 409, 413, 415, 422, 507],
        ..authenticated(
            "POST",
            "/v1/sessions/{id}/events",
            "postEvents",
            "Append events: confirmations, results, signals, or those of an external agent",
        )
    },
    Route {
        parameters: &[ID, AFTER, LAST_EVENT_ID, TARGET, REPLY, SIGNALS, ALL, MEDIA],
        successes: &[Success::Text(200, "text/event-stream"), Success::Empty(204)],
        errors: &[404],
        ..authenticated(
            "GET",
            "/v1/sessions/{id}/stream",
            "streamSession",
            "Subscribe to a session with server-sent events",
        )
    },
    Route {
        parameters: &[ID, AFTER, TARGET, SIGNALS, ALL, MEDIA],
        successes: &[Success::Empty(101)],
        errors: &[404, 426],
        ..authenticated(
            "GET",
            "/v1/sessions/{id}/ws",
            "connectSession",
            "Subscribe and write to a session over WebSocket",
        )
    },
    Route {
        successes: &[Success::Empty(101)],
        errors: &[426],
        ..authenticated("GET", "/v1/ws", "connect", "Subscribe and write to any number of sessions over WebSocket")
    },
    Route {
        parameters: &[ID],
        body: Body::Json("Interrupt"),
        successes: &[Success::Json(202, "Interrupted")],
        errors: &[404, 408, 413, 415],
        ..authenticated(
            "POST",
            "/v1/sessions/{id}/interrupt",
            "interrupt",
            "Interrupt the reply that is in progress or waits",
        )
    },
    Route {
        parameters: &[ID],
        body: Body::Json("Fork"),
        successes: &[Success::Json(201, "SessionWithUsage")],
        errors: &[404, 408, 409, 410, 413, 415, 507],
        ..authenticated(
            "POST",
            "/v1/sessions/{id}/fork",
            "forkSession",
            "Create a session that copies the beginning of another one",
        )
    },
    Route {
        parameters: &[ID],
        body: Body::Bytes,
        successes: &[Success::Json(201, "Blob")],
        errors: &[404, 408, 413, 415, 507],
        ..authenticated("POST", "/v1/sessions/{id}/blobs", "uploadBlob", "Upload a blob for messages")
    },
    Route {
        parameters: &[ID, DIGEST],
        successes: &[Success::Bytes(200)],
        errors: &[404],
        ..authenticated("GET", "/v1/sessions/{id}/blobs/{digest}", "getBlob", "Download a blob")
    },
    Route {
        successes: &[Success::Json(200, "Agents")],
        ..authenticated("GET", "/v1/agents", "listAgents", "List agents")
    },
    Route {
        body: Body::Json("Empty"),
        successes: &[Success::Json(200, "Ticket")],
        errors: &[408, 413, 415],
        ..authenticated(
            "POST",
            "/v1/tickets",
            "createTicket",
            "Create a ticket, which replaces the token where no header can be sent",
        )
    },
    Route {
        successes: &[Success::Json(200, "Health")],
        access: Access::Public,
        ..public("GET", "/healthz", "healthz", "Liveness")
    },
    Route { successes: &[Success::Json(200, "Health")], ..public("GET", "/readyz", "readyz", "Readiness") },
    Route {
        successes: &[Success::Text(200, "application/openmetrics-text")],
        ..authenticated("GET", "/metrics", "metrics", "Metrics for Prometheus")
    },
    Route {
        successes: &[Success::Json(200, "Document")],
        ..public("GET", "/openapi.json", "openapi", "This document")
    },
    Route { successes: &[Success::Text(200, "text/html")], ..public("GET", "/", "page", "The web page") },
    Route {
        parameters: &[NAME],
        successes: &[Success::Text(200, "text/html")],
        ..public("GET", "/s/{id}", "sessionPage", "The web page of a session")
    },
];
