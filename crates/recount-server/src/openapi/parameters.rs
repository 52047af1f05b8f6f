//! What can stand in a path, a query or a header.

use serde_json::{Value, json};

use crate::fanout::MAX_NAMES_LEN;
use crate::media::Media;

/// A parameter of a route.
#[derive(Debug)]
pub(crate) struct Parameter {
    pub(crate) name: &'static str,
    /// `path`, `query` or `header`.
    pub(crate) place: &'static str,
    pub(crate) summary: &'static str,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Name,
    NameOrNothing,
    Digest,
    Text,
    Cursor,
    Place,
    Flag,
    SignalFilter,
    Number(u64),
    Words(&'static [&'static str]),
}

impl Parameter {
    pub(crate) fn schema(&self) -> Value {
        match &self.kind {
            Kind::Name => json!({"type": "string", "pattern": "^[A-Za-z0-9_-]{1,64}$"}),
            Kind::Digest => json!({"type": "string", "pattern": "^[0-9a-f]{64}$"}),
            Kind::Text => json!({"type": "string"}),
            // An empty parameter is as good as none.
            Kind::NameOrNothing => json!({"type": "string", "pattern": "^[A-Za-z0-9_-]{0,64}$"}),
            Kind::Cursor => json!({"type": "string", "pattern": "^([0-9]+\\.[0-9]+)?$"}),
            Kind::Place => {
                json!({"anyOf": [{"enum": ["start", "now"]}, {"type": "string", "pattern": "^([0-9]+\\.[0-9]+)?$"}]})
            }
            Kind::SignalFilter => {
                json!({"anyOf": [{"type": "boolean"}, {"type": "string", "maxLength": MAX_NAMES_LEN}]})
            }
            Kind::Flag => json!({"type": "boolean"}),
            Kind::Number(most) => json!({"type": "integer", "minimum": 1, "maximum": most}),
            Kind::Words(words) => json!({"enum": words}),
        }
    }
}

const DIALECTS: &[&str] = &["native", "java", "java1", "typescript"];
const TARGETS: &[&str] = &["native", "java", "java1", "typescript", "ag-ui", "ai-sdk"];

pub(super) const ID: Parameter = Parameter { name: "id", place: "path", summary: "The session", kind: Kind::Name };
pub(super) const ALL: Parameter =
    Parameter { name: "all", place: "query", summary: "Whether sub-agents' replies are shown", kind: Kind::Flag };
pub(super) const SIGNALS: Parameter = Parameter {
    name: "signals",
    place: "query",
    summary: "Whether CUSTOM events are shown, or the names of those that are, with commas",
    kind: Kind::SignalFilter,
};
pub(super) const DIALECT: Parameter =
    Parameter { name: "dialect", place: "query", summary: "Whose JSON it is", kind: Kind::Words(DIALECTS) };
pub(super) const TARGET: Parameter =
    Parameter { name: "dialect", place: "query", summary: "Whose JSON to write", kind: Kind::Words(TARGETS) };
pub(super) const REPLY: Parameter =
    Parameter { name: "reply", place: "query", summary: "The reply, where the dialect is ai-sdk", kind: Kind::Text };
pub(super) const AFTER: Parameter =
    Parameter { name: "after", place: "query", summary: "Where to begin: a cursor, start or now", kind: Kind::Place };
pub(super) const HEAD: Parameter =
    Parameter { name: "after", place: "query", summary: "The cursor that must still be the head", kind: Kind::Cursor };
pub(super) const LAST_EVENT_ID: Parameter =
    Parameter { name: "Last-Event-ID", place: "header", summary: "The cursor to go on from", kind: Kind::Text };

pub(super) const MEDIA: Parameter = Parameter {
    name: "media",
    place: "query",
    summary: "Whether media are base64 or the URLs of blobs",
    kind: Kind::Words(Media::WORDS),
};

pub(super) const fn limit(most: u64) -> Parameter {
    Parameter { name: "limit", place: "query", summary: "How many at most", kind: Kind::Number(most) }
}

pub(super) const AFTER_SESSION: Parameter = Parameter {
    name: "after",
    place: "query",
    summary: "Sessions whose names come after this one, which need not be there",
    kind: Kind::NameOrNothing,
};
pub(super) const BEFORE_MESSAGE: Parameter =
    Parameter { name: "before", place: "query", summary: "The message after the page", kind: Kind::Text };
pub(super) const ON_BUSY: Parameter = Parameter {
    name: "on_busy",
    place: "query",
    summary: "What to do while a reply is under way",
    kind: Kind::Words(&["reject", "queue", "interrupt"]),
};
pub(super) const DIGEST: Parameter =
    Parameter { name: "digest", place: "path", summary: "SHA-256, in hexadecimal", kind: Kind::Digest };
pub(super) const NAME: Parameter =
    Parameter { name: "id", place: "path", summary: "The session's name", kind: Kind::Text };
