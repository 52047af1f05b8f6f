//! Media sources as a single URL: a link, or a `data:` URL that holds the bytes.

use recount_message::{Base64Source, Source, UrlSource};

const PREFIX: &str = "data:";
const SEPARATOR: &str = ";base64,";

/// Returns the URL of a source. Empty for an unknown kind of source.
pub(crate) fn from_source(source: &Source) -> String {
    match source {
        Source::Url(source) => source.url().to_owned(),
        Source::Base64(source) => format!("{PREFIX}{}{SEPARATOR}{}", source.media_type, source.data),
        _ => String::new(),
    }
}

/// Returns the source that a URL describes. The media type of a link is guessed from its path.
pub(crate) fn to_source(url: &str) -> Source {
    let data = url.strip_prefix(PREFIX).and_then(|url| url.split_once(SEPARATOR));
    match data {
        Some((media_type, data)) => Base64Source::from_base64(data, media_type).into(),
        None => UrlSource::unchecked(url, UrlSource::guessed_media_type(url)).into(),
    }
}
