//! Parsing and validation of a user's new message.

use recount_log::{Digest, Session};
use recount_message::{ContentBlock, DataBlock, Json, Msg, Object, Role, Source, Stamps};

use crate::call::check_fields;
use crate::problem::Problem;

/// The fields of a message in the short form.
const FIELDS: &[&str] = &["content", "name", "id", "metadata", "on_busy", "role", "created_at", "finished_at"];
/// The URL scheme of uploaded blobs.
const BLOB_SCHEME: &str = "recount-blob";
/// The URL schemes that the host can pass to a model.
const SCHEMES: [&str; 4] = ["https", "http", "data", BLOB_SCHEME];

/// Parses a message, fills in missing fields and rejects content that no model would receive.
pub(super) async fn parse(session: &Session, body: Object) -> Result<Msg, Problem> {
    // A complete message of another implementation may have unknown fields and blocks, which are kept.
    let is_complete = body.contains_key("name") && body.contains_key("role");
    if !is_complete {
        check_fields(&body, FIELDS)?;
    }
    let message = Msg::from_json(&fill_in(body)?.to_json())?;
    if message.role() != Role::User {
        let detail = format!("expected the role user, found {}", message.role().as_str());
        return Err(Problem::bad_field("role", detail));
    }
    if !is_complete {
        check_types(message.content())?;
        check_data(message.content())?;
    }
    check_not_blank(message.content())?;
    check_uploads(session, message.content()).await?;
    Ok(message)
}

fn fill_in(mut body: Object) -> Result<Object, Problem> {
    let content = body.get("content");
    let text = content.and_then(Json::as_str).map(str::to_owned);
    if text.is_none() && content.and_then(Json::to_array).is_none() {
        return Err(Problem::bad_field("content", "expected a string or an array of blocks"));
    }
    if let Some(text) = text {
        let mut block = Object::new();
        block.insert("type", "text");
        block.insert("text", text);
        body.insert("content", vec![Json::from(block)]);
    }
    if !body.contains_key("role") {
        body.insert("role", Role::User.as_str());
    }
    if !body.contains_key("name") {
        body.insert("name", "user");
    }
    let mut stamps = Stamps::default();
    if body.get("id").is_none_or(|id| id.is_null() || id.as_str().is_some_and(str::is_empty)) {
        body.insert("id", stamps.id());
    }
    if body.get("created_at").is_none_or(Json::is_null) {
        body.insert("created_at", stamps.time());
    }
    // A posted message is complete.
    if body.get("finished_at").is_none_or(Json::is_null)
        && let Some(time) = body.get("created_at").cloned()
    {
        body.insert("finished_at", time);
    }
    Ok(body)
}

/// Rejects blocks of unknown types. A misspelt one would be stored, and no model would ever receive it.
fn check_types(content: &[ContentBlock]) -> Result<(), Problem> {
    for (index, block) in content.iter().enumerate() {
        if let ContentBlock::Unknown(block) = block {
            let detail = format!("unknown block type `{}`; expected text or data", block.type_name());
            return Err(Problem::bad_field(&format!("content[{index}].type"), detail));
        }
    }
    Ok(())
}

/// Rejects data blocks without valid data. The model would receive a note about it, and the user would not notice.
fn check_data(content: &[ContentBlock]) -> Result<(), Problem> {
    for (index, block) in content.iter().enumerate() {
        let ContentBlock::Data(DataBlock { source, .. }) = block else { continue };
        let invalid =
            |field: &str, detail: &str| Err(Problem::bad_field(&format!("content[{index}].source.{field}"), detail));
        match source {
            Source::Base64(source) if source.bytes().is_err() => {
                return invalid("data", &format!("invalid base64 in content[{index}].source.data"));
            }
            Source::Base64(source) if source.data.is_empty() => {
                return invalid("data", &format!("no data in content[{index}].source.data"));
            }
            Source::Url(source) if scheme_of(source.url()).is_none_or(|scheme| !SCHEMES.contains(&&*scheme)) => {
                return invalid("url", &format!("expected a URL with one of the schemes {}", SCHEMES.join(", ")));
            }
            _ => {}
        }
        // The media type of a URL may be guessed later.
        let is_guessed = matches!(source, Source::Url(_)) && source.media_type().is_empty();
        let is_type = |(kind, name): (&str, &str)| !kind.is_empty() && !name.is_empty();
        if !is_guessed && !source.media_type().split_once('/').is_some_and(is_type) {
            return invalid("media_type", "expected a media type, such as image/png");
        }
    }
    Ok(())
}

fn scheme_of(url: &str) -> Option<String> {
    url.split_once(':').map(|(scheme, _)| scheme.to_ascii_lowercase())
}

fn check_not_blank(content: &[ContentBlock]) -> Result<(), Problem> {
    let is_blank = |block: &ContentBlock| matches!(block, ContentBlock::Text(text) if text.text.trim().is_empty());
    if !content.iter().all(is_blank) {
        return Ok(());
    }
    Err(Problem::bad_field("content", "the message is empty: it has neither text nor data"))
}

/// Rejects URLs of blobs that were not uploaded.
async fn check_uploads(session: &Session, content: &[ContentBlock]) -> Result<(), Problem> {
    for (index, block) in content.iter().enumerate() {
        let ContentBlock::Data(DataBlock { source: Source::Url(source), .. }) = block else { continue };
        let url = source.url();
        if scheme_of(url).is_none_or(|scheme| scheme != BLOB_SCHEME) {
            continue;
        }
        let upload = match Digest::in_url(url) {
            Some(digest) => session.log().uploaded(session.key().tenant(), digest).await?,
            None => None,
        };
        if upload.is_none() {
            let name = session.key().name();
            let detail =
                format!("unknown blob {url:?}; hint: POST /v1/sessions/{name}/blobs returns the `url` of an upload");
            return Err(Problem::bad_field(&format!("content[{index}].source.url"), detail));
        }
    }
    Ok(())
}
