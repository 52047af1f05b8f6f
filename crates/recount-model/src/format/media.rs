//! Media in messages: media types and sources.

use std::borrow::Cow;
use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use recount_message::{DataBlock, LegacyMedia, Source, UrlSource};

/// The fetched bytes of files and URLs, for providers that require them in the request.
///
/// ```
/// use recount_message::{DataBlock, Msg};
/// use recount_model::Provider;
/// use recount_model::format::{Formatter, Media};
///
/// let photo = DataBlock::from_url("https://example.com/cat.png")?;
/// let messages = [Msg::user("Alice", ("Who is this?", photo))];
/// let formatter = Formatter::new(Provider::Anthropic);
///
/// let mut media = Media::new();
/// for wanted in formatter.required_media(&messages) {
///     media.insert(wanted.url, b"\x89PNG");
/// }
/// let formatted = formatter.format(&messages, &media);
/// assert!(formatted.messages[0].as_raw().contains(r#""data":"iVBORw==""#));
/// # Ok::<(), recount_message::SourceError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Media {
    base64_by_url: BTreeMap<String, String>,
}

impl Media {
    /// Creates an empty collection.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the bytes of a URL or file path.
    pub fn insert(&mut self, location: impl Into<String>, bytes: impl AsRef<[u8]>) {
        self.insert_base64(location, STANDARD.encode(bytes));
    }

    /// Adds base64-encoded bytes of a URL or file path.
    pub fn insert_base64(&mut self, location: impl Into<String>, base64: impl Into<String>) {
        self.base64_by_url.insert(location.into(), base64.into());
    }

    /// Returns the base64 data of a URL, also if it was added under the path of the file.
    fn get(&self, url: &str) -> Option<&str> {
        let found = self.base64_by_url.get(url);
        found.or_else(|| self.base64_by_url.get(&file_path(url)?)).map(String::as_str)
    }
}

/// A file or URL whose bytes the provider requires in the request.
///
/// ```
/// use recount_message::{DataBlock, Msg};
/// use recount_model::Provider;
/// use recount_model::format::Formatter;
///
/// let photo = DataBlock::from_path("/tmp/my photo.png")?;
/// let wanted = Formatter::new(Provider::OpenAi).required_media(&[Msg::user("Alice", photo)]);
/// assert_eq!(wanted[0].url, "file:///tmp/my%20photo.png");
/// assert_eq!(wanted[0].path().as_deref(), Some("/tmp/my photo.png"));
/// # Ok::<(), recount_message::SourceError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MediaRef {
    /// The URL as given in the message.
    pub url: String,
    /// The media type as given in the message.
    pub media_type: String,
}

impl MediaRef {
    /// Returns the local path of a `file:` URL, percent-decoded. `None` for other URLs.
    #[must_use]
    pub fn path(&self) -> Option<String> {
        file_path(&self.url)
    }
}

/// Returns the path of a `file:` URL. `None` for other URLs, remote hosts and paths that are not UTF-8.
fn file_path(url: &str) -> Option<String> {
    let rest = url.strip_prefix("file:")?;
    let path = match rest.strip_prefix("//") {
        None => rest,
        Some(rest) => {
            let path = rest.strip_prefix("localhost").filter(|rest| rest.starts_with('/')).unwrap_or(rest);
            path.starts_with('/').then_some(path)?
        }
    };
    let path = path.split(['?', '#']).next().unwrap_or(path);
    percent_decoded(path)
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
            let value = digit(bytes.next())? * 16 + digit(bytes.next())?;
            out.push(u8::try_from(value).ok()?);
        } else {
            out.push(byte);
        }
    }
    String::from_utf8(out).ok()
}

/// The side that fetches media.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FetchedBy {
    /// The provider fetches `http` and `https` URLs.
    Provider,
    /// The client fetches everything and sends the bytes.
    Client,
}

/// The source of media in a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum AttachmentSource<'a> {
    /// A URL that the provider fetches.
    Url(&'a str),
    /// Base64-encoded bytes.
    Base64(&'a str),
}

impl AttachmentSource<'_> {
    /// Returns the URL, or a data URL with the bytes.
    pub(crate) fn to_url(&self, media_type: &str) -> String {
        match self {
            Self::Url(url) => (*url).to_owned(),
            Self::Base64(data) => format!("data:{media_type};base64,{data}"),
        }
    }
}

/// A data block with its resolved media type.
#[derive(Debug, Clone)]
pub(crate) struct Attachment<'a> {
    pub(crate) block: &'a DataBlock,
    /// The media type, detected if the message has only a generic one.
    pub(crate) media_type: Cow<'a, str>,
}

impl<'a> Attachment<'a> {
    pub(crate) fn of(block: &'a DataBlock) -> Self {
        Self { block, media_type: media_type(block) }
    }

    /// Returns the first part of the media type, such as `image` or `application`.
    pub(crate) fn main_type(&self) -> &str {
        self.media_type.split('/').next().unwrap_or_default()
    }

    pub(crate) fn url(&self) -> Option<&'a str> {
        match &self.block.source {
            Source::Url(source) => Some(source.url()),
            Source::Base64(_) => None,
            _ => None,
        }
    }

    /// Returns the source to send. `None` if the bytes are missing or not valid base64.
    pub(crate) fn source(&self, fetched_by: FetchedBy, media: &'a Media) -> Option<AttachmentSource<'a>> {
        let data = match &self.block.source {
            Source::Base64(source) => source.data.as_str(),
            Source::Url(source) => match classify_url(source.url(), fetched_by) {
                UrlKind::PassThrough(url) => return Some(AttachmentSource::Url(url)),
                UrlKind::Inline(data) => data,
                UrlKind::NeedsFetch(url) => media.get(url)?,
            },
            _ => return None,
        };
        is_base64(data).then_some(AttachmentSource::Base64(data))
    }

    /// Returns the file or URL that the client must fetch. `None` if it has the bytes or the provider fetches them.
    pub(crate) fn required_fetch(&self, fetched_by: FetchedBy) -> Option<MediaRef> {
        match classify_url(self.url()?, fetched_by) {
            UrlKind::NeedsFetch(url) => {
                Some(MediaRef { url: url.to_owned(), media_type: self.media_type.clone().into_owned() })
            }
            UrlKind::PassThrough(_) | UrlKind::Inline(_) => None,
        }
    }
}

enum UrlKind<'a> {
    /// The provider fetches the URL.
    PassThrough(&'a str),
    /// A data URL, with its base64 data.
    Inline(&'a str),
    /// The client must fetch the URL.
    NeedsFetch(&'a str),
}

fn classify_url(url: &str, fetched_by: FetchedBy) -> UrlKind<'_> {
    let scheme = url.split_once(':').map_or("", |(scheme, _)| scheme);
    if scheme.eq_ignore_ascii_case("data")
        && let Some((_, data)) = url.split_once(";base64,")
    {
        return UrlKind::Inline(data);
    }
    let is_web = scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https");
    if is_web && fetched_by == FetchedBy::Provider { UrlKind::PassThrough(url) } else { UrlKind::NeedsFetch(url) }
}

/// Whether a text is complete base64. A truncated block may have an incomplete one.
fn is_base64(text: &str) -> bool {
    let digits = text.trim_end_matches('=');
    !digits.is_empty()
        && text.len().is_multiple_of(4)
        && text.len() - digits.len() <= 2
        && digits.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/')
}

/// Returns the media type of a block. If it is missing, generic, or does not match the block type of AgentScope Java,
/// it is detected from the first bytes, the file extension, or that block type.
fn media_type(block: &DataBlock) -> Cow<'_, str> {
    let declared = block.media_type();
    let kind = block.legacy();
    let fits = |media_type: &str| match kind {
        None => true,
        Some(kind) => media_type.starts_with(kind.as_str()),
    };
    let is_generic = declared.is_empty() || declared == "application/octet-stream" || !fits(declared);
    if !is_generic {
        return Cow::Borrowed(declared);
    }
    let found = match &block.source {
        Source::Base64(source) => detect_media_type(&source.data),
        Source::Url(source) => UrlSource::new(source.url()).ok().map(|source| source.media_type),
        _ => None,
    };
    let found = found.filter(|found| found != "application/octet-stream" && fits(found));
    match (found, kind) {
        (Some(found), _) => Cow::Owned(found),
        (None, Some(LegacyMedia::Image)) => Cow::Borrowed("image/png"),
        (None, Some(LegacyMedia::Audio)) => Cow::Borrowed("audio/wav"),
        (None, Some(LegacyMedia::Video)) => Cow::Borrowed("video/mp4"),
        (None, Some(_) | None) => Cow::Borrowed(declared),
    }
}

fn detect_media_type(base64: &str) -> Option<String> {
    const ENOUGH: usize = 512;
    let start = base64.get(..base64.len().min(ENOUGH) / 4 * 4)?;
    let bytes = STANDARD.decode(start).ok()?;
    Some(DataBlock::from_bytes(bytes).media_type().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_urls_are_decoded() {
        assert_eq!(file_path("file:///a%20b/%C3%A9.png").as_deref(), Some("/a b/é.png"));
        assert_eq!(file_path("file://localhost/a").as_deref(), Some("/a"));
        assert_eq!(file_path("file:/a").as_deref(), Some("/a"));
        assert_eq!(file_path("file://server/share"), None);
        assert_eq!(file_path("file:///a%zz"), None);
        assert_eq!(file_path("https://example.com/a"), None);
    }

    #[test]
    fn rejects_incomplete_base64() {
        assert!(is_base64("SGVsbG8="));
        for text in ["", "=", "SGVsb", "SGVsbG8", "SGV sbG8=", "SG==VsbG8"] {
            assert!(!is_base64(text), "{text}");
        }
    }
}
