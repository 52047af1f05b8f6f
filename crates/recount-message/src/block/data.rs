//! Data blocks: images, audio, video, files.

use std::path::Path;

use super::source::media_type_of_bytes;
use super::{Base64Source, Source, SourceError, UrlSource};
use crate::Object;
use crate::ids::random_id;
use crate::json::record::record;
use crate::json::wire::string_enum;
use crate::time::now_text;

record! {
    /// Binary data, in the block itself or at a URL.
    ///
    /// ```
    /// use recount_message::{DataBlock, Msg};
    ///
    /// let report = DataBlock::from_bytes(b"%PDF-1.7").with_name("report.pdf");
    /// assert_eq!(report.media_type(), "application/pdf");
    /// assert!(Msg::user("Alice", ("Please read this.", report)).has::<DataBlock>());
    /// ```
    pub struct DataBlock tagged "data" {
        /// Id of the block.
        pub id: String = |here| here.owner.to_owned(),
        /// The bytes or their URL.
        pub source: Source,
        /// Name of the data, such as a file name.
        pub name: Option<String> = |_here| None,
        /// The time at which the block started.
        pub created_at: String = |here| here.time.to_owned(),
        /// The time at which the block was complete; `None` while it is open.
        pub finished_at: Option<String> = |_here| None,
    }
}

string_enum! {
    /// The media blocks of AgentScope Java that the data block replaces.
    ///
    /// ```
    /// use recount_message::{DataBlock, LegacyMedia, Msg};
    ///
    /// let photo = DataBlock::from_url("https://example.com/photo.png")?.into_legacy(LegacyMedia::Image);
    /// assert!(Msg::user("Alice", photo).has_named(&["image"]));
    /// # Ok::<(), recount_message::SourceError>(())
    /// ```
    pub enum LegacyMedia as "legacy block" {
        /// An image block.
        Image = "image",
        /// An audio block.
        Audio = "audio",
        /// A video block.
        Video = "video",
    }
}

impl DataBlock {
    /// Creates a data block with a new id and the current time.
    ///
    /// ```
    /// use recount_message::{Base64Source, DataBlock};
    ///
    /// let block = DataBlock::new(Base64Source::new("a,b\n1,2\n", "text/csv"));
    /// assert_eq!(block.media_type(), "text/csv");
    /// ```
    pub fn new(source: impl Into<Source>) -> Self {
        Self::stamped(random_id(), now_text(), source)
    }

    /// Creates a data block with a given id and time.
    ///
    /// ```
    /// use recount_message::{Base64Source, DataBlock};
    ///
    /// let block = DataBlock::stamped("b1", "2026-01-01T00:00:00Z", Base64Source::new("a,b\n", "text/csv"));
    /// assert_eq!((block.id.as_str(), block.created_at.as_str()), ("b1", "2026-01-01T00:00:00Z"));
    /// ```
    pub fn stamped(id: impl Into<String>, created_at: impl Into<String>, source: impl Into<Source>) -> Self {
        Self {
            id: id.into(),
            source: source.into(),
            name: None,
            created_at: created_at.into(),
            finished_at: None,
            extra: Object::new(),
        }
    }

    /// Creates a data block from bytes. The media type is detected from the first bytes.
    ///
    /// ```
    /// use recount_message::DataBlock;
    ///
    /// let image = DataBlock::from_bytes(b"\x89PNG\r\n\x1a\n");
    /// assert_eq!(image.media_type(), "image/png");
    /// assert!(image.is_image());
    /// ```
    pub fn from_bytes(bytes: impl AsRef<[u8]>) -> Self {
        let media_type = media_type_of_bytes(bytes.as_ref());
        Self::new(Base64Source::new(bytes, media_type))
    }

    /// Creates a data block for a URL. The media type is guessed from the file extension.
    ///
    /// ```
    /// use recount_message::DataBlock;
    ///
    /// assert!(DataBlock::from_url("https://example.com/voice.mp3")?.is_audio());
    /// assert!(DataBlock::from_url("voice.mp3").is_err());
    /// # Ok::<(), recount_message::SourceError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Fails if the URL violates RFC 3986 or has no scheme.
    pub fn from_url(url: impl Into<String>) -> Result<Self, SourceError> {
        UrlSource::new(url).map(Self::new)
    }

    /// Creates a data block for a local file, with its name and a file URL. The file is not read until the message is sent.
    ///
    /// ```
    /// use recount_message::{DataBlock, Source};
    ///
    /// let block = DataBlock::from_path("/tmp/my photo.png")?;
    /// assert_eq!(block.name.as_deref(), Some("my photo.png"));
    /// let Source::Url(source) = &block.source else { unreachable!() };
    /// assert_eq!(source.url(), "file:///tmp/my%20photo.png");
    /// # Ok::<(), recount_message::SourceError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Fails if the path cannot be made absolute or is not UTF-8.
    pub fn from_path(path: impl AsRef<Path>) -> Result<Self, SourceError> {
        let name = path.as_ref().file_name().map(|name| name.to_string_lossy().into_owned());
        let mut block = Self::new(UrlSource::from_path(path)?);
        block.name = name;
        Ok(block)
    }

    /// Sets the id. Consumes the block and returns the changed one.
    ///
    /// ```
    /// use recount_message::DataBlock;
    ///
    /// assert_eq!(DataBlock::from_bytes(b"GIF89a").with_id("d1").id, "d1");
    /// ```
    pub fn with_id(mut self, id: impl Into<String>) -> Self {
        self.id = id.into();
        self
    }

    /// Sets the name. Consumes the block and returns the changed one.
    ///
    /// ```
    /// use recount_message::DataBlock;
    ///
    /// let chart = DataBlock::from_bytes(b"GIF89a").with_name("chart.gif");
    /// assert_eq!(chart.name.as_deref(), Some("chart.gif"));
    /// ```
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets the media type. Consumes the block and returns the changed one.
    ///
    /// ```
    /// use recount_message::DataBlock;
    ///
    /// let notes = DataBlock::from_bytes("# Notes");
    /// assert_eq!(notes.media_type(), "application/octet-stream");
    /// assert_eq!(notes.with_media_type("text/markdown").media_type(), "text/markdown");
    /// ```
    pub fn with_media_type(mut self, media_type: impl Into<String>) -> Self {
        match &mut self.source {
            Source::Base64(source) => source.media_type = media_type.into(),
            Source::Url(source) => source.media_type = media_type.into(),
        }
        self
    }

    /// Marks the block as a legacy media block of AgentScope Java. Consumes the block and returns the changed one.
    ///
    /// In native JSON it remains a data block; conversion to Java restores the legacy block.
    ///
    /// ```
    /// use recount_message::{DataBlock, LegacyMedia};
    ///
    /// let sound = DataBlock::from_bytes("…").into_legacy(LegacyMedia::Audio);
    /// assert_eq!(sound.extra.to_json(), r#"{"recount":{"legacy":"audio"}}"#);
    /// ```
    pub fn into_legacy(mut self, kind: LegacyMedia) -> Self {
        self.extra.insert("recount", Object::from([("legacy", kind.as_str())]));
        self
    }

    /// Returns the legacy media block that this block represents; `None` for an ordinary data block.
    ///
    /// ```
    /// use recount_message::{DataBlock, LegacyMedia};
    ///
    /// let block = DataBlock::from_bytes(b"GIF89a");
    /// assert_eq!(block.legacy(), None);
    /// assert_eq!(block.into_legacy(LegacyMedia::Image).legacy(), Some(LegacyMedia::Image));
    /// ```
    pub fn legacy(&self) -> Option<LegacyMedia> {
        let mark = self.extra.get("recount")?.to_object()?;
        LegacyMedia::from_name(mark.get("legacy")?.as_str()?)
    }

    /// Returns the media type, such as `image/png`.
    ///
    /// ```
    /// use recount_message::DataBlock;
    ///
    /// assert_eq!(DataBlock::from_url("https://example.com/film.mp4")?.media_type(), "video/mp4");
    /// # Ok::<(), recount_message::SourceError>(())
    /// ```
    pub fn media_type(&self) -> &str {
        self.source.media_type()
    }

    /// Returns whether this is an image, by its legacy type or else by its media type.
    ///
    /// ```
    /// use recount_message::DataBlock;
    ///
    /// assert!(DataBlock::from_bytes(b"\x89PNG\r\n\x1a\n").is_image());
    /// assert!(!DataBlock::from_bytes(b"%PDF-1.7").is_image());
    /// ```
    pub fn is_image(&self) -> bool {
        self.is_media("image/", LegacyMedia::Image)
    }

    /// Returns whether this is audio, by its legacy type or else by its media type.
    ///
    /// ```
    /// use recount_message::DataBlock;
    ///
    /// assert!(DataBlock::from_bytes("…").with_media_type("audio/wav").is_audio());
    /// ```
    pub fn is_audio(&self) -> bool {
        self.is_media("audio/", LegacyMedia::Audio)
    }

    /// Returns whether this is a video, by its legacy type or else by its media type.
    ///
    /// ```
    /// use recount_message::{DataBlock, LegacyMedia};
    ///
    /// // The legacy type takes precedence over the media type.
    /// let clip = DataBlock::from_bytes(b"GIF89a").into_legacy(LegacyMedia::Video);
    /// assert!(clip.is_video() && !clip.is_image());
    /// ```
    pub fn is_video(&self) -> bool {
        self.is_media("video/", LegacyMedia::Video)
    }

    fn is_media(&self, prefix: &str, legacy: LegacyMedia) -> bool {
        match self.legacy() {
            Some(kind) => kind == legacy,
            None => self.media_type().starts_with(prefix),
        }
    }
}
