//! Sources of data blocks: bytes in the block, or a URL.

use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::json::fields::Fields;
use crate::json::record::{record, tag_of};
use crate::json::scan::Raw;
use crate::json::wire::{DecodeContext, Wire};
use crate::{DecodeError, DecodeErrorKind, Object, Shape};

const UNKNOWN_MEDIA: &str = "application/octet-stream";

/// The source of a [`DataBlock`](crate::DataBlock).
///
/// ```
/// use recount_message::{DataBlock, Source};
///
/// let location = |block: &DataBlock| match &block.source {
///     Source::Base64(source) => format!("{} characters of base64", source.data.len()),
///     Source::Url(source) => source.url().to_owned(),
///     _ => "elsewhere".to_owned(),
/// };
/// assert_eq!(location(&DataBlock::from_bytes(b"GIF89a")), "8 characters of base64");
/// assert_eq!(location(&DataBlock::from_url("https://example.com/a.gif")?), "https://example.com/a.gif");
/// # Ok::<(), recount_message::SourceError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Source {
    /// Bytes in the block itself.
    Base64(Base64Source),
    /// Bytes at a URL.
    Url(UrlSource),
}

record! {
    /// Bytes in base64.
    ///
    /// ```
    /// use recount_message::Base64Source;
    ///
    /// let source = Base64Source::new(b"Hello", "text/plain");
    /// assert_eq!(source.data, "SGVsbG8=");
    /// ```
    pub struct Base64Source tagged "base64" {
        /// The bytes in base64, with padding.
        pub data: String,
        /// The media type, such as `image/png`.
        pub media_type: String,
    }
}

record! {
    /// Bytes at a URL with any scheme, such as http, https or file.
    ///
    /// ```
    /// use recount_message::{DataBlock, UrlSource};
    ///
    /// let source = UrlSource::new("https://example.com/voice.ogg")?;
    /// assert!(DataBlock::new(source).is_audio());
    /// # Ok::<(), recount_message::SourceError>(())
    /// ```
    pub struct UrlSource tagged "url" {
        /// The URL, not normalised.
        pub(crate) url: String,
        /// The media type, such as `image/png`.
        pub media_type: String,
    }
}

/// The error of creating a source.
///
/// ```
/// use recount_message::{DataBlock, SourceError};
///
/// let error = DataBlock::from_url("photo.png").unwrap_err();
/// assert!(matches!(&error, SourceError::Url { url, .. } if url == "photo.png"));
/// assert!(error.to_string().starts_with("`url`: \"photo.png\" is not a URL"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// The URL violates RFC 3986, or has no scheme.
    #[error("`url`: {url:?} is not a URL: {reason}")]
    Url {
        /// The URL.
        url: String,
        /// The reason.
        reason: String,
    },
    /// The path cannot be made absolute, or is not UTF-8.
    #[error("`path`: {path:?} cannot become a file URL: {reason}")]
    Path {
        /// The path.
        path: String,
        /// The reason.
        reason: String,
    },
    /// The text is not base64.
    #[error("`data`: not base64: {0}")]
    Base64(String),
}

impl Base64Source {
    /// Encodes bytes.
    ///
    /// ```
    /// use recount_message::Base64Source;
    ///
    /// let source = Base64Source::new([0xff, 0xd8, 0xff], "image/jpeg");
    /// assert_eq!((source.data.as_str(), source.media_type.as_str()), ("/9j/", "image/jpeg"));
    /// ```
    pub fn new(bytes: impl AsRef<[u8]>, media_type: impl Into<String>) -> Self {
        Self::from_base64(STANDARD.encode(bytes), media_type)
    }

    /// Creates a source from text that is already base64. The text is not validated.
    ///
    /// ```
    /// use recount_message::Base64Source;
    ///
    /// assert_eq!(Base64Source::from_base64("SGVsbG8=", "text/plain"), Base64Source::new("Hello", "text/plain"));
    /// ```
    pub fn from_base64(data: impl Into<String>, media_type: impl Into<String>) -> Self {
        Self { data: data.into(), media_type: media_type.into(), extra: Object::new() }
    }

    /// Decodes the bytes.
    ///
    /// ```
    /// use recount_message::Base64Source;
    ///
    /// assert_eq!(Base64Source::from_base64("SGVsbG8=", "text/plain").bytes()?, b"Hello");
    /// assert!(Base64Source::from_base64("SGVsb", "text/plain").bytes().is_err());
    /// # Ok::<(), recount_message::SourceError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Fails if the text is not base64 or is incomplete.
    pub fn bytes(&self) -> Result<Vec<u8>, SourceError> {
        STANDARD.decode(&self.data).map_err(|error| SourceError::Base64(error.to_string()))
    }
}

impl UrlSource {
    /// Creates a source from a URL. The media type is guessed from the file extension.
    ///
    /// ```
    /// use recount_message::UrlSource;
    ///
    /// let source = UrlSource::new("https://example.com/image.jpg").unwrap();
    /// assert_eq!((source.url(), source.media_type.as_str()), ("https://example.com/image.jpg", "image/jpeg"));
    /// assert_eq!(UrlSource::new("https://example.com/").unwrap().media_type, "application/octet-stream");
    /// assert!(UrlSource::new("not a url").is_err());
    /// ```
    ///
    /// # Errors
    ///
    /// Fails if the URL violates RFC 3986 or has no scheme.
    pub fn new(url: impl Into<String>) -> Result<Self, SourceError> {
        let url = url.into();
        check_url(&url).map_err(|reason| SourceError::Url { url: url.clone(), reason })?;
        Ok(Self::unchecked(url.clone(), media_type_of_url(&url)))
    }

    /// Creates a source with the file URL of a local file. The file is not read until the message is sent.
    ///
    /// ```
    /// use recount_message::UrlSource;
    ///
    /// let source = UrlSource::from_path("/data/report 1.pdf")?;
    /// assert_eq!((source.url(), source.media_type.as_str()), ("file:///data/report%201.pdf", "application/pdf"));
    /// # Ok::<(), recount_message::SourceError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Fails if the path cannot be made absolute or is not UTF-8.
    pub fn from_path(path: impl AsRef<Path>) -> Result<Self, SourceError> {
        let path = path.as_ref();
        let fail = |reason: &str| SourceError::Path { path: path.display().to_string(), reason: reason.to_owned() };
        let absolute = std::path::absolute(path).map_err(|error| fail(&error.to_string()))?;
        let text = absolute.to_str().ok_or_else(|| fail("it is not UTF-8"))?;
        Self::new(format!("file://{}", percent_encoded_path(text)))
    }

    /// Creates a source from a URL without validation, such as one from another implementation.
    ///
    /// ```
    /// use recount_message::UrlSource;
    ///
    /// let source = UrlSource::unchecked("C:\\photos\\cat.png", "image/png");
    /// assert_eq!(source.url(), "C:\\photos\\cat.png");
    /// ```
    pub fn unchecked(url: impl Into<String>, media_type: impl Into<String>) -> Self {
        Self { url: url.into(), media_type: media_type.into(), extra: Object::new() }
    }

    /// Guesses the media type from the file extension of a URL; `application/octet-stream` if it is unknown.
    ///
    /// ```
    /// use recount_message::UrlSource;
    ///
    /// assert_eq!(UrlSource::guessed_media_type("https://example.com/a.png?size=2"), "image/png");
    /// ```
    pub fn guessed_media_type(url: &str) -> String {
        media_type_of_url(url)
    }

    /// Returns the URL, not normalised.
    ///
    /// ```
    /// use recount_message::UrlSource;
    ///
    /// // Nothing is normalised.
    /// assert_eq!(UrlSource::new("HTTPS://Example.com/a/../b")?.url(), "HTTPS://Example.com/a/../b");
    /// # Ok::<(), recount_message::SourceError>(())
    /// ```
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Sets the media type. Consumes the source and returns the changed one.
    ///
    /// ```
    /// use recount_message::UrlSource;
    ///
    /// let source = UrlSource::new("https://example.com/image?id=7")?.with_media_type("image/webp");
    /// assert_eq!(source.media_type, "image/webp");
    /// # Ok::<(), recount_message::SourceError>(())
    /// ```
    pub fn with_media_type(mut self, media_type: impl Into<String>) -> Self {
        self.media_type = media_type.into();
        self
    }
}

/// Checks that a text is a URL with a scheme.
pub(crate) fn check_url(url: &str) -> Result<(), String> {
    fluent_uri::Uri::parse(url).map(|_| ()).map_err(|error| error.to_string())
}

fn media_type_of_url(url: &str) -> String {
    let path = fluent_uri::Uri::parse(url).map_or(url, |uri| uri.path().as_str());
    mime_guess::from_path(path).first_raw().unwrap_or(UNKNOWN_MEDIA).to_owned()
}

pub(crate) fn media_type_of_bytes(bytes: &[u8]) -> &'static str {
    infer::get(bytes).map_or(UNKNOWN_MEDIA, |kind| kind.mime_type())
}

/// Percent-encodes the characters that a URL path cannot contain.
fn percent_encoded_path(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => out.push(char::from(byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

impl Source {
    /// Returns the media type, such as `image/png`.
    ///
    /// ```
    /// use recount_message::{Source, UrlSource};
    ///
    /// let source = Source::from(UrlSource::new("https://example.com/table.csv")?);
    /// assert_eq!(source.media_type(), "text/csv");
    /// # Ok::<(), recount_message::SourceError>(())
    /// ```
    pub fn media_type(&self) -> &str {
        match self {
            Self::Base64(source) => &source.media_type,
            Self::Url(source) => &source.media_type,
        }
    }
}

impl From<Base64Source> for Source {
    fn from(source: Base64Source) -> Self {
        Self::Base64(source)
    }
}

impl From<UrlSource> for Source {
    fn from(source: UrlSource) -> Self {
        Self::Url(source)
    }
}

impl Wire<'_> for Source {
    fn shape() -> Shape {
        Shape::OneOf(vec![Shape::Record("Base64Source"), Shape::Record("UrlSource")])
    }

    fn decode(raw: Raw<'_>, context: DecodeContext<'_>) -> Result<Self, DecodeError> {
        let fields = Fields::of(raw)?;
        match &*tag_of(&fields)? {
            "base64" => Base64Source::from_fields(fields, context).map(Self::Base64),
            "url" => UrlSource::from_fields(fields, context).map(Self::Url),
            other => Err(DecodeError::new(
                DecodeErrorKind::UnknownValue,
                format!("unknown source {other:?}, expected base64 or url"),
            )
            .within("type")),
        }
    }

    fn encode(&self, out: &mut String) {
        match self {
            Self::Base64(source) => source.encode(out),
            Self::Url(source) => source.encode(out),
        }
    }
}
