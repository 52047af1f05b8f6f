//! Data: images, sounds, films, files.

use std::path::Path;

use super::source::media_type_of_bytes;
use super::{Base64Source, Source, SourceError, UrlSource};
use crate::Object;
use crate::ids::random_id;
use crate::json::record::record;
use crate::json::wire::words;
use crate::time::now_text;

record! {
    /// Binary data, held in the block or found at a URL.
    pub struct DataBlock tagged "data" {
        /// Id of the block.
        pub id: String = |here| here.owner.to_owned(),
        /// Where the bytes are.
        pub source: Source,
        /// What the data is called, such as a file name.
        pub name: Option<String> = |_here| None,
        /// When the block began.
        pub created_at: String = |here| here.time.to_owned(),
        /// When the block was complete.
        pub finished_at: Option<String> = |_here| None,
    }
}

words! {
    /// The three media blocks that AgentScope Java had before the data block.
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
    /// Data from a source, with a new id.
    pub fn new(source: impl Into<Source>) -> Self {
        Self::started(random_id(), now_text(), source.into())
    }

    pub(crate) fn started(id: String, created_at: String, source: Source) -> Self {
        Self { id, source, name: None, created_at, finished_at: None, extra: Object::new() }
    }

    /// Data held in the block. The media type is found by the first bytes.
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

    /// Data at a URL. The media type is found by the path's ending.
    ///
    /// # Errors
    ///
    /// When the URL breaks RFC 3986 or has no scheme.
    pub fn from_url(url: impl Into<String>) -> Result<Self, SourceError> {
        UrlSource::new(url).map(Self::new)
    }

    /// Data in a local file, named after it. Nothing is read: that is left to who sends the message.
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
    /// When the path cannot be made absolute or is not UTF-8.
    pub fn from_path(path: impl AsRef<Path>) -> Result<Self, SourceError> {
        let name = path.as_ref().file_name().map(|name| name.to_string_lossy().into_owned());
        let mut block = Self::new(UrlSource::from_path(path)?);
        block.name = name;
        Ok(block)
    }

    /// The same block with another id.
    pub fn with_id(mut self, id: impl Into<String>) -> Self {
        self.id = id.into();
        self
    }

    /// The same block with a name.
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// The same block with another media type.
    pub fn with_media_type(mut self, media_type: impl Into<String>) -> Self {
        match &mut self.source {
            Source::Base64(source) => source.media_type = media_type.into(),
            Source::Url(source) => source.media_type = media_type.into(),
        }
        self
    }

    /// The same block, marked as one of AgentScope Java's legacy media blocks.
    ///
    /// Natively it stays a data block, which every other side can read; the mark lets the Java side have its own back.
    pub fn into_legacy(mut self, kind: LegacyMedia) -> Self {
        self.extra.insert("recount", Object::from([("legacy", kind.as_str())]));
        self
    }

    /// Which legacy media block this stands for, if it stands for one.
    pub fn legacy(&self) -> Option<LegacyMedia> {
        let mark = self.extra.get("recount")?.to_object()?;
        LegacyMedia::from_word(&mark.get("legacy")?.to_text()?)
    }

    /// The media type, such as `image/png`.
    pub fn media_type(&self) -> &str {
        self.source.media_type()
    }

    /// Whether this is an image, by its media type or as a legacy block.
    pub fn is_image(&self) -> bool {
        self.is_media("image/", LegacyMedia::Image)
    }

    /// Whether this is a sound.
    pub fn is_audio(&self) -> bool {
        self.is_media("audio/", LegacyMedia::Audio)
    }

    /// Whether this is a film.
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
