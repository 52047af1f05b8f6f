//! Events: reading pages of them, and appending them.

use axum::response::IntoResponse as _;
use http::{HeaderValue, StatusCode, header};
use recount_log::storage::Visibility;
use recount_log::{Appended, Cursor, Error, Frame, Start};
use recount_message::wire::ObjectWriter;
use recount_message::{Json, Object};

use super::{CURSOR, RouteResult, json};
use crate::batch;
use crate::call::Call;
use crate::fanout::{ChunkBuilder, Framing, encoder_at};
use crate::problem::{Problem, parse_cursor};

/// The default number of events per page.
const PAGE: usize = 1_000;
const MAX_PAGE: usize = 10_000;
/// The size at which a page ends even if it has fewer events.
const MAX_PAGE_BYTES: usize = 8 * 1024 * 1024;

/// `GET /v1/sessions/{id}/events`
pub(super) async fn list(call: Call) -> RouteResult {
    let session = call.session().await?;
    let format = call.params.stream_format(Framing::Lines)?;
    let limit = call.params.number("limit", PAGE, MAX_PAGE)?;
    let start = match call.params.get("after") {
        None | Some("start") => Start::Beginning,
        Some("now") => Start::Now,
        Some(text) => Start::After(text.parse().map_err(|_| Problem::bad_cursor("after", text))?),
    };
    let mut reader = session.subscribe_with(start, Visibility::TopLevel)?;
    let position = if let Start::After(cursor) = start { Some(cursor) } else { None };
    let mut encoder = encoder_at(&session, &format, position).await?;
    let mut out = ChunkBuilder::default();
    let (mut last, mut count) = (None, 0);
    while count < limit && out.len() < MAX_PAGE_BYTES {
        let Some(frame) = reader.try_next().await? else { break };
        match frame {
            Frame::Entry(entry) => {
                let before = out.len();
                encoder.entry(&entry, &mut out);
                last = Some(entry.cursor);
                // Clients stop at an empty page, so entries without a frame do not count.
                count += usize::from(out.len() > before);
            }
            Frame::Gap(reason) => return Err(Problem::gap(reason.as_str())),
            // Other frames only follow a gap.
            _ => {}
        }
    }
    call.app.feeds().blobs().store(&session, encoder.take_uploads()).await?;
    let cursor = last.or(position).or_else(|| reader.position()).ok_or(Error::Closed)?;
    let mut response = out.text.into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/x-ndjson"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if let Ok(cursor) = HeaderValue::from_str(&cursor.to_string()) {
        headers.insert(CURSOR, cursor);
    }
    Ok(response)
}

/// `POST /v1/sessions/{id}/events`
pub(super) async fn post(mut call: Call) -> RouteResult {
    let session = call.session().await?;
    let kind = call.body_kind()?;
    let dialect = call.params.dialect()?;
    let after = match call.params.get("after") {
        Some("start") => Some(Cursor { seq: 0, epoch: session.info().await?.epoch }),
        text => parse_cursor("after", text)?,
    };
    let body = call.bytes().await?;
    let lines = batch::split(&body, kind, call.app.limits().event)?;
    let outcome = batch::append(&call.app, &session, dialect, after, &lines).await;
    call.app.metrics().events_posted(outcome.as_ref().map(|(appended, _)| appended));
    let (appended, lines) = outcome?;
    Ok(json(StatusCode::OK, appended_json(&appended, &lines)))
}

/// Returns the events of a batch that change no message, with the reason. `lines` has the line of the request body for each
/// event of the batch.
pub(super) fn ignored(appended: &Appended, lines: &[usize]) -> Vec<Json> {
    let ignored = appended.ignored.iter().map(|ignored| {
        let line = lines.get(ignored.index).copied().unwrap_or(ignored.index + 1);
        let mut object = Object::new();
        object.insert("line", line as u64);
        object.insert("id", ignored.event_id.as_str());
        object.insert("reason", ignored.reason);
        object.insert("message", ignored.message.as_str());
        Json::from(object)
    });
    ignored.collect()
}

/// Returns the response to an appended batch.
fn appended_json(appended: &Appended, lines: &[usize]) -> String {
    let Appended { written, duplicates, cursor, .. } = appended;
    ObjectWriter::new()
        .raw("written", written)
        .raw("duplicates", duplicates)
        .string("cursor", &cursor.to_string())
        .raw("ignored", Json::from(ignored(appended, lines)))
        .finish()
}
