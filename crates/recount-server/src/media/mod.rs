//! Media by URL: for readers who do not want bytes as base64 in what they read.
//!
//! Such a reader is told everything with the URLs of blobs in place of base64, which it fetches if it likes. What is not
//! complete has no bytes yet: data that grows is told empty, and its URL when it ends. So there is one law: what such a
//! reader folds is what everybody folds, with [`Linker`] applied to it.

mod blob_cache;
mod linked_stream;
mod linker;

pub(crate) use blob_cache::{BlobCache, BlobUpload};
pub(crate) use linked_stream::{Linked, LinkedStream};
pub(crate) use linker::Linker;

/// How a reader wants media.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(crate) enum Media {
    /// As base64, where they came so.
    #[default]
    Inline,
    /// By their URLs.
    Url,
}

impl Media {
    /// The words for them.
    pub(crate) const WORDS: &[&str] = &["inline", "url"];

    pub(crate) fn from_word(word: &str) -> Option<Self> {
        match word {
            "inline" => Some(Self::Inline),
            "url" => Some(Self::Url),
            _ => None,
        }
    }
}
