//! Messages: those that are there, and a user's new one.

use std::collections::HashSet;

use http::{HeaderValue, StatusCode};
use recount_host::OnBusy;
use recount_log::Session;
use recount_log::storage::Show;
use recount_message::{Json, Msg, Object, Role, Stamps};

use super::{Answer, CURSOR, json};
use crate::call::{Call, check_fields};
use crate::media::{Linker, Media};
use crate::problem::Problem;

/// How many messages a page has.
const PAGE: usize = 50;
const LARGEST_PAGE: usize = 200;

/// `GET /v1/sessions/{id}/messages`
pub(super) async fn list(call: Call) -> Answer {
    let session = call.session().await?;
    let limit = call.params.number("limit", PAGE, LARGEST_PAGE)?;
    let show = if call.params.flag("all", false)? { Show::All } else { Show::TopLevel };
    let before = call.params.get("before");
    let media = call.params.media()?;
    // Before and after: a reply may begin or end in between.
    let mut open = match media {
        Media::Inline => HashSet::new(),
        Media::Url => open_replies(&session).await?,
    };
    let page = session.messages(before, show, limit).await?.ok_or_else(|| {
        let id = before.unwrap_or_default();
        Problem::not_found(format!("there is no message `{id}`")).with("field", "before")
    })?;
    let messages = match media {
        Media::Inline => page.messages,
        Media::Url => {
            open.extend(open_replies(&session).await?);
            linked(&call, &session, page.messages, &open).await?
        }
    };
    let mut body = String::from("{\"messages\":[");
    body.push_str(&messages.join(","));
    body.push_str("],\"cursor\":");
    body.push_str(Json::from(page.cursor.to_string()).as_str());
    body.push_str(",\"before\":");
    body.push_str(page.before.map_or_else(Json::null, Json::from).as_str());
    body.push('}');
    let mut response = json(StatusCode::OK, body);
    if let Ok(cursor) = HeaderValue::from_str(&page.cursor.to_string()) {
        response.headers_mut().insert(CURSOR, cursor);
    }
    Ok(response)
}

/// The same with the URLs of media. Those of replies that are open are as far as they have come.
async fn linked(
    call: &Call,
    session: &Session,
    messages: Vec<String>,
    open: &HashSet<String>,
) -> Result<Vec<String>, Problem> {
    let mut linker = Linker::default();
    let messages = messages.iter().map(|text| {
        let message = Msg::from_json(text).ok();
        let is_open = message.is_some_and(|message| message.finished_at().is_none() && open.contains(message.id()));
        if is_open { linker.open(text) } else { linker.complete(text) }
    });
    let messages = messages.collect();
    call.app.feeds().media().keep(session, linker.uploads).await?;
    Ok(messages)
}

async fn open_replies(session: &Session) -> Result<HashSet<String>, Problem> {
    let key = session.key().clone();
    let opened = session.log().look(move |view| Ok(view.opened(&key)?)).await?;
    Ok(opened.into_iter().map(|reply| reply.id).collect())
}

/// `POST /v1/sessions/{id}/messages`
pub(super) async fn post(mut call: Call) -> Answer {
    let session = call.session().await?;
    let mut body = call.object().await?;
    let on_busy = match body.remove("on_busy") {
        Some(value) => Some(value.to_text().ok_or_else(|| Problem::bad_field("on_busy", "expected a string"))?),
        None => None,
    };
    let asked = call.params.get("on_busy").map(read_on_busy).transpose()?;
    let on_busy = on_busy.as_deref().map(read_on_busy).transpose()?.or(asked).unwrap_or_default();
    let message = read_message(body)?;
    if message.to_json().len() > call.app.limits().event {
        return Err(Problem::too_large(format!("a message may have {} bytes", call.app.limits().event)));
    }
    let posted = call.app.runs().post(session.key(), message, on_busy).await?;
    call.app.metrics().messages.inc();
    let mut answer = Object::new();
    answer.insert("reply_id", posted.reply_id);
    answer.insert("cursor", posted.cursor.to_string());
    Ok(json(StatusCode::ACCEPTED, answer.to_json()))
}

fn read_on_busy(word: &str) -> Result<OnBusy, Problem> {
    match word {
        "reject" => Ok(OnBusy::Reject),
        "queue" => Ok(OnBusy::Queue),
        "interrupt" => Ok(OnBusy::Interrupt),
        _ => Err(Problem::bad_field("on_busy", format!("expected reject, queue or interrupt, found {word:?}"))),
    }
}

/// The fields of a message that was written for this route.
const FIELDS: &[&str] = &["content", "name", "id", "metadata", "role", "created_at", "finished_at"];

/// A user's message. What a client need not know is filled in.
fn read_message(mut body: Object) -> Result<Msg, Problem> {
    // A whole message, as its own side writes it, may have fields that nobody here knows; they are kept.
    if !(body.contains_key("name") && body.contains_key("role")) {
        check_fields(&body, FIELDS)?;
    }
    let content = body.get("content");
    let text = content.and_then(Json::to_text);
    if text.is_none() && content.and_then(Json::to_list).is_none() {
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
    if body.get("id").is_none_or(|id| id.is_null() || id.to_text().is_some_and(|id| id.is_empty())) {
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
    let message = Msg::from_json(&body.to_json())?;
    if message.role() != Role::User {
        let detail = format!("expected a message of the role user, found {}", message.role().as_str());
        return Err(Problem::bad_field("role", detail));
    }
    Ok(message)
}
