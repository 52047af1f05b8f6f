//! Warnings about content that could not be sent unchanged.

use std::fmt;

/// Content that a provider does not accept, and its replacement.
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
/// assert_eq!(formatted.warnings[0].to_string(), "b1: video/mp4 is not supported by this provider; replaced by a text");
/// # Ok::<(), recount_message::SourceError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormatWarning {
    /// The id of the block, or of the message if the warning is about all of it.
    pub id: String,
    /// The kind of the warning.
    pub kind: FormatWarningKind,
}

/// The kind of a [`FormatWarning`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FormatWarningKind {
    /// Media that the provider or the model does not accept; replaced by a text.
    UnsupportedMedia {
        /// The media type.
        media_type: String,
    },
    /// Media that exceeds the provider's size limit; replaced by a text.
    MediaTooLarge {
        /// The media type.
        media_type: String,
    },
    /// Media that was not fetched, or invalid base64; replaced by a text.
    UnreadableMedia {
        /// The URL of the media. Empty for data within the message.
        url: String,
    },
    /// A block of an unknown type; replaced by a text.
    UnknownBlock {
        /// The block type.
        type_name: String,
    },
    /// Input that is not a JSON object and cannot be repaired; replaced by an empty object.
    InvalidArguments,
    /// A system message inside the conversation, which the provider does not allow; sent as a user message.
    SystemMessageAsUser,
    /// A call without a result; a placeholder was added.
    MissingResult,
    /// A result without a call; sent as text.
    OrphanResult,
    /// A tool name that the provider does not allow.
    RenamedTool {
        /// The name that was sent.
        sent_as: String,
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
                write!(f, "{media_type} is not supported by this provider; replaced by a text")
            }
            Self::MediaTooLarge { media_type } => {
                write!(f, "{media_type} is too large for this provider; replaced by a text")
            }
            Self::UnreadableMedia { url } if url.is_empty() => f.write_str("invalid base64 data; replaced by a text"),
            Self::UnreadableMedia { url } => write!(f, "cannot read {url}; replaced by a text"),
            Self::UnknownBlock { type_name } => {
                write!(f, "unknown block type `{type_name}`; replaced by a text")
            }
            Self::InvalidArguments => f.write_str("the arguments are not a JSON object; sent as `{}`"),
            Self::SystemMessageAsUser => {
                f.write_str("a system message inside the conversation was sent as a user message")
            }
            Self::MissingResult => f.write_str("the call has no result; a placeholder was sent"),
            Self::OrphanResult => f.write_str("the result has no call; it was sent as text"),
            Self::RenamedTool { sent_as } => {
                write!(f, "the provider does not allow this tool name; sent as `{sent_as}`")
            }
        }
    }
}
