//! What there is.

use http::Method;

use super::parameters::{
    AFTER, AFTER_SESSION, ALL, BEFORE_MESSAGE, DIALECT, DIGEST, HEAD, ID, LAST_EVENT_ID, MEDIA, NAME, ON_BUSY,
    Parameter, REPLY, SIGNALS, TARGET, limit,
};

/// A route, as the document describes it.
#[derive(Debug)]
pub(crate) struct Route {
    pub(crate) method: &'static str,
    pub(crate) path: &'static str,
    pub(crate) id: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) parameters: &'static [Parameter],
    pub(crate) body: Body,
    pub(crate) successes: &'static [Success],
    /// Statuses of problems, beside those that every route has.
    pub(crate) errors: &'static [u16],
    pub(crate) guard: Guard,
}

/// What is looked at before a request is let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Guard {
    Nothing,
    Host,
    /// The host, and a token where there are any.
    Token,
}

/// What a route takes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Body {
    None,
    /// JSON of a schema.
    Json(&'static str),
    Events,
    Bytes,
}

/// What a route answers.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Success {
    Json(u16, &'static str),
    Text(u16, &'static str),
    Bytes(u16),
    Empty(u16),
}

impl Route {
    /// The names of its parameters in the query.
    pub(crate) fn query(&self) -> impl Iterator<Item = &'static str> {
        self.parameters.iter().filter(|parameter| parameter.place == "query").map(|parameter| parameter.name)
    }

    /// Whether a path is one of its paths.
    fn is_at(&self, path: &str) -> bool {
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

/// The route of a request, if there is one.
pub(crate) fn route_of(method: &Method, path: &str) -> Option<&'static Route> {
    let method = if *method == Method::HEAD { "GET" } else { method.as_str() };
    ROUTES.iter().find(|route| route.method == method && route.is_at(path))
}

const fn guarded(method: &'static str, path: &'static str, id: &'static str, summary: &'static str) -> Route {
    Route {
        method,
        path,
        id,
        summary,
        parameters: &[],
        body: Body::None,
        successes: &[],
        errors: &[],
        guard: Guard::Token,
    }
}

const fn open(method: &'static str, path: &'static str, id: &'static str, summary: &'static str) -> Route {
    Route { guard: Guard::Host, ..guarded(method, path, id, summary) }
}

/// Every route.
pub(crate) const ROUTES: &[Route] = &[
    Route {
        parameters: &[AFTER_SESSION, limit(1_000)],
        successes: &[Success::Json(200, "SessionPage")],
        ..guarded("GET", "/v1/sessions", "listSessions", "Sessions, in the order of their names")
    },
    Route {
        body: Body::Json("SessionChange"),
        successes: &[Success::Json(201, "SessionWithUsage")],
        errors: &[408, 413, 415, 507],
        ..guarded("POST", "/v1/sessions", "createSession", "Make a session")
    },
    Route {
        parameters: &[ID],
        successes: &[Success::Json(200, "SessionWithUsage")],
        errors: &[404],
        ..guarded("GET", "/v1/sessions/{id}", "getSession", "A session, with its usage")
    },
    Route {
        parameters: &[ID],
        body: Body::Json("SessionChange"),
        successes: &[Success::Json(200, "SessionWithUsage"), Success::Json(201, "SessionWithUsage")],
        errors: &[408, 409, 413, 415, 507],
        ..guarded("PUT", "/v1/sessions/{id}", "putSession", "Make a session with a name of one's own, or change it")
    },
    Route {
        parameters: &[ID],
        body: Body::Json("SessionChange"),
        successes: &[Success::Json(200, "SessionWithUsage")],
        errors: &[404, 408, 413, 415, 507],
        ..guarded("PATCH", "/v1/sessions/{id}", "changeSession", "Change what is said about a session; null removes")
    },
    Route {
        parameters: &[ID],
        successes: &[Success::Empty(204)],
        errors: &[404],
        ..guarded("DELETE", "/v1/sessions/{id}", "deleteSession", "Remove a session")
    },
    Route {
        parameters: &[ID, BEFORE_MESSAGE, limit(200), ALL, MEDIA],
        successes: &[Success::Json(200, "MessagePage")],
        errors: &[404],
        ..guarded("GET", "/v1/sessions/{id}/messages", "listMessages", "Messages, oldest first within a page")
    },
    Route {
        parameters: &[ID, ON_BUSY],
        body: Body::Json("NewMessage"),
        successes: &[Success::Json(202, "Posted")],
        errors: &[404, 408, 409, 413, 415, 422, 507],
        ..guarded("POST", "/v1/sessions/{id}/messages", "postMessage", "Say something; the session's agent answers")
    },
    Route {
        parameters: &[ID, AFTER, limit(10_000), TARGET, SIGNALS, ALL, MEDIA],
        successes: &[Success::Text(200, "application/x-ndjson")],
        errors: &[404, 410],
        ..guarded("GET", "/v1/sessions/{id}/events", "listEvents", "Events after a cursor, one per line")
    },
    Route {
        parameters: &[ID, HEAD, DIALECT],
        body: Body::Events,
        successes: &[Success::Json(200, "Appended")],
        errors: &[404, 408, 409, 413, 415, 422, 507],
        ..guarded(
            "POST",
            "/v1/sessions/{id}/events",
            "postEvents",
            "Append events: answers, signals, an agent's elsewhere",
        )
    },
    Route {
        parameters: &[ID, AFTER, LAST_EVENT_ID, TARGET, REPLY, SIGNALS, ALL, MEDIA],
        successes: &[Success::Text(200, "text/event-stream"), Success::Empty(204)],
        errors: &[404],
        ..guarded("GET", "/v1/sessions/{id}/stream", "streamSession", "Follow a session by server-sent events")
    },
    Route {
        parameters: &[ID, AFTER, TARGET, SIGNALS, ALL, MEDIA],
        successes: &[Success::Empty(101)],
        errors: &[404, 426],
        ..guarded("GET", "/v1/sessions/{id}/ws", "connectSession", "Follow and write to a session by WebSocket")
    },
    Route {
        successes: &[Success::Empty(101)],
        errors: &[426],
        ..guarded("GET", "/v1/ws", "connect", "Follow and write to any number of sessions by WebSocket")
    },
    Route {
        parameters: &[ID],
        body: Body::Json("Interrupt"),
        successes: &[Success::Json(202, "Interrupted")],
        errors: &[404, 408, 413, 415],
        ..guarded("POST", "/v1/sessions/{id}/interrupt", "interrupt", "Stop the reply that is under way or waits")
    },
    Route {
        parameters: &[ID],
        body: Body::Json("Fork"),
        successes: &[Success::Json(201, "SessionWithUsage")],
        errors: &[404, 408, 409, 410, 413, 415, 507],
        ..guarded("POST", "/v1/sessions/{id}/fork", "forkSession", "Make a session of another one's beginning")
    },
    Route {
        parameters: &[ID],
        body: Body::Bytes,
        successes: &[Success::Json(201, "Blob")],
        errors: &[404, 408, 413, 415, 507],
        ..guarded("POST", "/v1/sessions/{id}/blobs", "uploadBlob", "BlobUpload bytes that messages can name")
    },
    Route {
        parameters: &[ID, DIGEST],
        successes: &[Success::Bytes(200)],
        errors: &[404],
        ..guarded("GET", "/v1/sessions/{id}/blobs/{digest}", "getBlob", "Bytes that were uploaded")
    },
    Route {
        successes: &[Success::Json(200, "Agents")],
        ..guarded("GET", "/v1/agents", "listAgents", "The agents that sessions can have")
    },
    Route {
        body: Body::Json("Empty"),
        successes: &[Success::Json(200, "Ticket")],
        errors: &[408, 413, 415],
        ..guarded("POST", "/v1/tickets", "createTicket", "A ticket for opening a stream where no header can be sent")
    },
    Route {
        successes: &[Success::Json(200, "Health")],
        guard: Guard::Nothing,
        ..open("GET", "/healthz", "healthz", "Whether the process answers")
    },
    Route { successes: &[Success::Json(200, "Health")], ..open("GET", "/readyz", "readyz", "Whether it takes work") },
    Route {
        successes: &[Success::Text(200, "application/openmetrics-text")],
        ..guarded("GET", "/metrics", "metrics", "What the service counts, for Prometheus")
    },
    Route { successes: &[Success::Json(200, "Document")], ..open("GET", "/openapi.json", "openapi", "This document") },
    Route { successes: &[Success::Text(200, "text/html")], ..open("GET", "/", "page", "The page") },
    Route {
        parameters: &[NAME],
        successes: &[Success::Text(200, "text/html")],
        ..open("GET", "/s/{id}", "sessionPage", "The page, at a session")
    },
];
