//! Media by URL, for readers that do not want base64 in events.
//!
//! Such a reader receives the URLs of blobs in place of base64 data. Data that is still growing has no URL yet: it is empty
//! until the event that ends it. The invariant: the fold of such a reader is the fold of any other reader with [`Linker`]
//! applied to it.

mod blob_cache;
mod linked_stream;
mod linker;

pub(crate) use blob_cache::{BlobCache, BlobUpload};
pub(crate) use linked_stream::{Linked, LinkedStream};
pub(crate) use linker::Linker;

/// The form in which a reader receives media.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(crate) enum Media {
    /// As they are in the log, usually as base64.
    #[default]
    Inline,
    /// As URLs of blobs.
    Url,
}

impl Media {
    /// The values of the parameter `media`.
    pub(crate) const WORDS: &[&str] = &["inline", "url"];

    pub(crate) fn from_name(word: &str) -> Option<Self> {
        match word {
            "inline" => Some(Self::Inline),
            "url" => Some(Self::Url),
            _ => None,
        }
    }
}
