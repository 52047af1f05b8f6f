//! Messages: reading pages of them, and posting new ones.

use std::collections::HashSet;

use http::{HeaderValue, StatusCode};
use recount_host::OnBusy;
use recount_log::{EncodedMessage, Session, Visibility};
use recount_message::wire::ObjectWriter;
use recount_message::{Json, Object};

use super::{CURSOR, RouteResult, json, new_message};
use crate::call::Call;
use crate::media::{Linker, Media};
use crate::problem::Problem;

/// The default number of messages per page.
const PAGE: usize = 50;
const MAX_PAGE: usize = 200;

/// `GET /v1/sessions/{id}/messages`
pub(super) async fn list(call: Call) -> RouteResult {
    let session = call.session().await?;
    let limit = call.params.number("limit", PAGE, MAX_PAGE)?;
    let visibility = if call.params.flag("all", false)? { Visibility::All } else { Visibility::TopLevel };
    let before = call.params.get("before");
    let media = call.params.media()?;
    // Read before and after the page, because a reply may start or end in between.
    let mut open = match media {
        Media::Inline => HashSet::new(),
        Media::Url => open_replies(&session).await?,
    };
    let page = session.messages(before, visibility, limit).await?.ok_or_else(|| {
        let id = before.unwrap_or_default();
        Problem::not_found(format!("unknown message `{id}`")).with("field", "before")
    })?;
    let messages = match media {
        Media::Inline => page.messages,
        Media::Url => {
            open.extend(open_replies(&session).await?);
            linked(&call, &session, page.messages, &open).await?
        }
    };
    let body = ObjectWriter::new()
        .array("messages", &messages)
        .string("cursor", &page.cursor.to_string())
        .raw("before", Json::from(page.before))
        .finish();
    let mut response = json(StatusCode::OK, body);
    if let Ok(cursor) = HeaderValue::from_str(&page.cursor.to_string()) {
        response.headers_mut().insert(CURSOR, cursor);
    }
    Ok(response)
}

/// Replaces base64 data in messages by URLs. Data of open replies that is still growing is left out.
async fn linked(
    call: &Call,
    session: &Session,
    messages: Vec<EncodedMessage>,
    open: &HashSet<String>,
) -> Result<Vec<EncodedMessage>, Problem> {
    let mut linker = Linker::default();
    let messages = messages.iter().map(|encoded| {
        let message = encoded.decode().ok();
        let is_open = message.is_some_and(|message| message.finished_at().is_none() && open.contains(message.id()));
        let text = encoded.as_str();
        EncodedMessage::new(if is_open { linker.open(text) } else { linker.complete(text) })
    });
    let messages = messages.collect();
    call.app.feeds().blobs().store(session, linker.uploads).await?;
    Ok(messages)
}

async fn open_replies(session: &Session) -> Result<HashSet<String>, Problem> {
    let key = session.key().clone();
    let opened = session.log().read(move |view| Ok(view.open_reply_infos(&key)?)).await?;
    Ok(opened.into_iter().map(|reply| reply.id).collect())
}

/// `POST /v1/sessions/{id}/messages`
pub(super) async fn post(mut call: Call) -> RouteResult {
    let session = call.session().await?;
    let mut body = call.object().await?;
    let in_body = match body.remove("on_busy") {
        Some(value) => {
            Some(value.as_str().map(str::to_owned).ok_or_else(|| Problem::bad_field("on_busy", "expected a string"))?)
        }
        None => None,
    };
    let in_query = call.params.get("on_busy").map(parse_on_busy).transpose()?;
    let in_body = in_body.as_deref().map(parse_on_busy).transpose()?;
    if in_body.is_some() && in_query.is_some() && in_body != in_query {
        return Err(Problem::bad_field("on_busy", "the query and the body have different values"));
    }
    let on_busy = in_body.or(in_query).unwrap_or_default();
    let message = new_message::parse(&session, body).await?;
    if message.to_json().len() > call.app.limits().event {
        return Err(Problem::too_large(format!("the message exceeds {} bytes", call.app.limits().event)));
    }
    let posted = call.app.host().post(session.key(), message, on_busy).await?;
    call.app.metrics().messages.inc();
    let mut fields = Object::new();
    fields.insert("reply_id", posted.reply_id);
    fields.insert("cursor", posted.cursor.to_string());
    Ok(json(StatusCode::ACCEPTED, fields.to_json()))
}

fn parse_on_busy(word: &str) -> Result<OnBusy, Problem> {
    match word {
        "reject" => Ok(OnBusy::Reject),
        "queue" => Ok(OnBusy::Queue),
        "interrupt" => Ok(OnBusy::Interrupt),
        _ => Err(Problem::bad_field("on_busy", format!("expected reject, queue or interrupt, found {word:?}"))),
    }
}
