//! The parameters in paths, queries and headers.

use serde_json::{Value, json};

use crate::fanout::MAX_NAMES_LEN;
use crate::media::Media;

/// A parameter of a route.
#[derive(Debug)]
pub(crate) struct Parameter {
    pub(crate) name: &'static str,
    /// `path`, `query` or `header`.
    pub(crate) location: &'static str,
    pub(crate) summary: &'static str,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Name,
    NameOrEmpty,
    Digest,
    Text,
    Cursor,
    StartPosition,
    Flag,
    SignalFilter,
    Number(u64),
    Enum(&'static [&'static str]),
}

impl Parameter {
    pub(crate) fn schema(&self) -> Value {
        match &self.kind {
            Kind::Name => json!({"type": "string", "pattern": "^[A-Za-z0-9_-]{1,64}$"}),
            Kind::Digest => json!({"type": "string", "pattern": "^[0-9a-f]{64}$"}),
            Kind::Text => json!({"type": "string"}),
            // An empty parameter is treated as absent.
            Kind::NameOrEmpty => json!({"type": "string", "pattern": "^[A-Za-z0-9_-]{0,64}$"}),
            Kind::Cursor => json!({"type": "string", "pattern": "^([0-9]+\\.[0-9]+)?$"}),
            Kind::StartPosition => {
                json!({"anyOf": [{"enum": ["start", "now"]}, {"type": "string", "pattern": "^([0-9]+\\.[0-9]+)?$"}]})
            }
            Kind::SignalFilter => {
                json!({"anyOf": [{"type": "boolean"}, {"type": "string", "maxLength": MAX_NAMES_LEN}]})
            }
            Kind::Flag => json!({"type": "boolean"}),
            Kind::Number(most) => json!({"type": "integer", "minimum": 1, "maximum": most}),
            Kind::Enum(words) => json!({"enum": words}),
        }
    }
}

const DIALECTS: &[&str] = &["native", "java", "java1", "typescript"];
const TARGETS: &[&str] = &["native", "java", "java1", "typescript", "ag-ui", "ai-sdk"];

pub(super) const ID: Parameter =
    Parameter { name: "id", location: "path", summary: "The name of the session", kind: Kind::Name };
pub(super) const ALL: Parameter =
    Parameter { name: "all", location: "query", summary: "Include the replies of sub-agents", kind: Kind::Flag };
pub(super) const SIGNALS: Parameter = Parameter {
    name: "signals",
    location: "query",
    summary: "Include CUSTOM events: true, false or a comma-separated list of names",
    kind: Kind::SignalFilter,
};
pub(super) const DIALECT: Parameter = Parameter {
    name: "dialect",
    location: "query",
    summary: "The dialect of the events in the body",
    kind: Kind::Enum(DIALECTS),
};
pub(super) const TARGET: Parameter = Parameter {
    name: "dialect",
    location: "query",
    summary: "The dialect or front-end protocol of the events in the response",
    kind: Kind::Enum(TARGETS),
};
pub(super) const REPLY: Parameter = Parameter {
    name: "reply",
    location: "query",
    summary: "The id of the reply; only with the dialect ai-sdk",
    kind: Kind::Text,
};
pub(super) const AFTER: Parameter = Parameter {
    name: "after",
    location: "query",
    summary: "The start position: a cursor, start or now",
    kind: Kind::StartPosition,
};
pub(super) const HEAD: Parameter = Parameter {
    name: "after",
    location: "query",
    summary: "The expected head of the session: appends nothing if it has changed",
    kind: Kind::Cursor,
};
pub(super) const LAST_EVENT_ID: Parameter =
    Parameter { name: "Last-Event-ID", location: "header", summary: "The cursor to resume from", kind: Kind::Text };

pub(super) const MEDIA: Parameter = Parameter {
    name: "media",
    location: "query",
    summary: "The form of media: base64 or URLs of blobs",
    kind: Kind::Enum(Media::WORDS),
};

pub(super) const fn limit(most: u64) -> Parameter {
    Parameter { name: "limit", location: "query", summary: "The maximum number of items", kind: Kind::Number(most) }
}

pub(super) const AFTER_SESSION: Parameter = Parameter {
    name: "after",
    location: "query",
    summary: "Only sessions whose names sort after this one",
    kind: Kind::NameOrEmpty,
};
pub(super) const BEFORE_MESSAGE: Parameter =
    Parameter { name: "before", location: "query", summary: "Only messages before this one", kind: Kind::Text };
pub(super) const ON_BUSY: Parameter = Parameter {
    name: "on_busy",
    location: "query",
    summary: "The handling of a message while a reply is in progress",
    kind: Kind::Enum(&["reject", "queue", "interrupt"]),
};
pub(super) const DIGEST: Parameter =
    Parameter { name: "digest", location: "path", summary: "SHA-256, in hexadecimal", kind: Kind::Digest };
pub(super) const NAME: Parameter =
    Parameter { name: "id", location: "path", summary: "The name of the session", kind: Kind::Text };
