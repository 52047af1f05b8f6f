//! A user's message, as somebody posts it.

use recount_log::{Digest, Session};
use recount_message::{ContentBlock, DataBlock, Json, Msg, Object, Role, Source, Stamps};

use crate::call::check_fields;
use crate::problem::Problem;

/// The fields of a message that was written for this route.
const FIELDS: &[&str] = &["content", "name", "id", "metadata", "on_busy", "role", "created_at", "finished_at"];
/// The scheme of the URLs that uploads have.
const UPLOADED: &str = "recount-blob";
/// The schemes of what a model can be shown.
const SHOWN: [&str; 4] = ["https", "http", "data", UPLOADED];

/// Reads a message. What a client need not know is filled in, and what no model would be shown is refused.
pub(super) async fn read(session: &Session, body: Object) -> Result<Msg, Problem> {
    // A whole message, as its own side writes it, may have fields and blocks that nobody here knows; they are kept.
    let is_whole = body.contains_key("name") && body.contains_key("role");
    if !is_whole {
        check_fields(&body, FIELDS)?;
    }
    let message = Msg::from_json(&filled_in(body)?.to_json())?;
    if message.role() != Role::User {
        let detail = format!("expected a message of the role user, found {}", message.role().as_str());
        return Err(Problem::bad_field("role", detail));
    }
    if !is_whole {
        check_types(message.content())?;
        check_data(message.content())?;
    }
    check_says_something(message.content())?;
    check_uploads(session, message.content()).await?;
    Ok(message)
}

fn filled_in(mut body: Object) -> Result<Object, Problem> {
    let content = body.get("content");
    let text = content.and_then(Json::as_str).map(str::to_owned);
    if text.is_none() && content.and_then(Json::to_array).is_none() {
        return Err(Problem::bad_field("content", "a message has `content`: a text, or a list of blocks"));
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
    if body.get("id").is_none_or(|id| id.is_null() || id.as_str().is_some_and(|id| id.is_empty())) {
        body.insert("id", stamps.id());
    }
    if body.get("created_at").is_none_or(Json::is_null) {
        body.insert("created_at", stamps.time());
    }
    // What is posted is complete.
    if body.get("finished_at").is_none_or(Json::is_null)
        && let Some(time) = body.get("created_at").cloned()
    {
        body.insert("finished_at", time);
    }
    Ok(body)
}

/// Whether all blocks are of types that are known. One that is misspelt would be kept, and no model would ever see it.
fn check_types(content: &[ContentBlock]) -> Result<(), Problem> {
    for (index, block) in content.iter().enumerate() {
        if let ContentBlock::Unknown(block) = block {
            let detail = format!("there is no block of the type `{}`; expected text or data", block.type_name());
            return Err(Problem::bad_field(&format!("content[{index}].type"), detail));
        }
    }
    Ok(())
}

/// Whether there is something to show in every data block. A model would be told that something could not be read, and the
/// user nothing.
fn check_data(content: &[ContentBlock]) -> Result<(), Problem> {
    for (index, block) in content.iter().enumerate() {
        let ContentBlock::Data(DataBlock { source, .. }) = block else { continue };
        let wrong =
            |field: &str, detail: &str| Err(Problem::bad_field(&format!("content[{index}].source.{field}"), detail));
        match source {
            Source::Base64(source) if source.bytes().is_err() => return wrong("data", "it is no base64"),
            Source::Base64(source) if source.data.is_empty() => return wrong("data", "there are no bytes in it"),
            Source::Url(source) if scheme_of(source.url()).is_none_or(|scheme| !SHOWN.contains(&&*scheme)) => {
                return wrong("url", &format!("expected a URL with one of the schemes {}", SHOWN.join(", ")));
            }
            _ => {}
        }
        // That of a URL may be found out.
        let is_guessed = matches!(source, Source::Url(_)) && source.media_type().is_empty();
        let is_type = |(kind, name): (&str, &str)| !kind.is_empty() && !name.is_empty();
        if !is_guessed && !source.media_type().split_once('/').is_some_and(is_type) {
            return wrong("media_type", "expected a media type, such as image/png");
        }
    }
    Ok(())
}

fn scheme_of(url: &str) -> Option<String> {
    url.split_once(':').map(|(scheme, _)| scheme.to_ascii_lowercase())
}

fn check_says_something(content: &[ContentBlock]) -> Result<(), Problem> {
    let is_blank = |block: &ContentBlock| matches!(block, ContentBlock::Text(text) if text.text.trim().is_empty());
    if !content.iter().all(is_blank) {
        return Ok(());
    }
    Err(Problem::bad_field("content", "the message says nothing: there is no text in it, and no data"))
}

/// Whether the uploads that a message names are there.
async fn check_uploads(session: &Session, content: &[ContentBlock]) -> Result<(), Problem> {
    for (index, block) in content.iter().enumerate() {
        let ContentBlock::Data(DataBlock { source: Source::Url(source), .. }) = block else { continue };
        let url = source.url();
        if scheme_of(url).is_none_or(|scheme| scheme != UPLOADED) {
            continue;
        }
        let upload = match Digest::in_url(url) {
            Some(digest) => session.log().uploaded(session.key().tenant(), digest).await?,
            None => None,
        };
        if upload.is_none() {
            let name = session.key().name();
            let detail =
                format!("there is no blob {url:?}; hint: POST /v1/sessions/{name}/blobs answers with its `url`");
            return Err(Problem::bad_field(&format!("content[{index}].source.url"), detail));
        }
    }
    Ok(())
}
