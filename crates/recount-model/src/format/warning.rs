//! What a request could not say as it was said.

use std::fmt;

/// Something that a provider could not take as it stands, and what was sent instead.
///
/// ```
/// use recount_message::{DataBlock, Msg};
/// use recount_model::Provider;
/// use recount_model::format::{Formatter, FormatWarningKind, Media};
///
/// let film = DataBlock::from_url("https://example.com/film.mp4")?.with_id("b1");
/// let question = Msg::user("Alice", ("What happens here?", film));
/// let formatted = Formatter::new(Provider::Anthropic).format(&[question], &Media::new());
/// assert_eq!(formatted.warnings[0].kind, FormatWarningKind::UnsupportedMedia { media_type: "video/mp4".into() });
/// assert_eq!(formatted.warnings[0].to_string(), "b1: video/mp4 is nothing that this provider takes; a text says so");
/// # Ok::<(), recount_message::SourceError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormatWarning {
    /// The id of the block, or of the message where it is about all of it.
    pub id: String,
    /// What happened to it.
    pub kind: FormatWarningKind,
}

/// What was lost on the way to a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FormatWarningKind {
    /// Media that this provider, or this model, does not take; a text stands in its place.
    UnsupportedMedia {
        /// Its media type.
        media_type: String,
    },
    /// Media of more bytes than this provider takes; a text stands in its place.
    MediaTooLarge {
        /// Its media type.
        media_type: String,
    },
    /// Media whose bytes nobody brought, or that are no base64; a text stands in its place.
    UnreadableMedia {
        /// Where they were to be found; empty for data within the message.
        url: String,
    },
    /// A block of a type that this version does not know; a text stands in its place.
    UnknownBlock {
        /// Its type.
        type_name: String,
    },
    /// Arguments that are no JSON object and could not be made into one; an empty object stands in their place.
    InvalidArguments,
    /// A system message in the middle of the conversation, where the provider has none; it became a user's.
    SystemMessageAsUser,
    /// A call without a result; the provider is told that there is none.
    MissingResult,
    /// A result without a call; it became text.
    OrphanResult,
    /// A tool's name that the provider refuses.
    RenamedTool {
        /// What was sent instead.
        sent: String,
    },
}

impl FormatWarning {
    pub(super) fn new(id: impl Into<String>, kind: FormatWarningKind) -> Self {
        Self { id: id.into(), kind }
    }
}

impl fmt::Display for FormatWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.id, self.kind)
    }
}

impl fmt::Display for FormatWarningKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnsupportedMedia { media_type } => {
                write!(f, "{media_type} is nothing that this provider takes; a text says so")
            }
            Self::MediaTooLarge { media_type } => {
                write!(f, "{media_type} of more bytes than this provider takes; a text says so")
            }
            Self::UnreadableMedia { url } if url.is_empty() => {
                f.write_str("the data is not base64; a text says that it could not be read")
            }
            Self::UnreadableMedia { url } => write!(f, "{url} could not be read; a text says so"),
            Self::UnknownBlock { type_name } => {
                write!(f, "a block of the unknown type `{type_name}`; a text says so")
            }
            Self::InvalidArguments => f.write_str("the arguments are no JSON object; an empty one was sent"),
            Self::SystemMessageAsUser => f.write_str("a system message in mid-conversation was sent as a user's"),
            Self::MissingResult => f.write_str("the call has no result; the provider is told so"),
            Self::OrphanResult => f.write_str("the result has no call; it was sent as text"),
            Self::RenamedTool { sent } => write!(f, "the provider refuses the tool's name; `{sent}` was sent"),
        }
    }
}
