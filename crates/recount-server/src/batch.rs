//! Batches of events in request bodies.

use std::collections::HashSet;

use recount_dialect::{Dialect, StreamReader};
use recount_host::Error as HostError;
use recount_log::storage::StateChange;
use recount_log::{Appended, Cursor, Digest, Error, Events, Session};
use recount_message::wire::{Kind, Raw};
use recount_message::{AgentEvent, Event, EventKind, Json, Object};

use crate::app::App;
use crate::call::BodyKind;
use crate::problem::Problem;

/// A line of JSON Lines, or an element of a JSON array.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Line<'b> {
    /// The number of the line or element, counted from one.
    number: usize,
    text: &'b [u8],
}

/// Splits a body into events of at most `max_size` bytes.
pub(crate) fn split(body: &[u8], kind: BodyKind, max_size: usize) -> Result<Vec<Line<'_>>, Problem> {
    let lines = match kind {
        BodyKind::Lines => {
            let numbered = body.split(|&byte| byte == b'\n').zip(1..);
            let lines = numbered.map(|(text, number)| Line { number, text: text.trim_ascii() });
            lines.filter(|line| !line.text.is_empty()).collect()
        }
        BodyKind::Json => elements(body)?,
    };
    match lines.iter().find(|line| line.text.len() > max_size) {
        Some(line) => Err(Problem::too_large(format!("the event exceeds {max_size} bytes")).at_line(line.number)),
        None => Ok(lines),
    }
}

/// Returns the elements of a JSON array. A single object is an array of one event.
fn elements(body: &[u8]) -> Result<Vec<Line<'_>>, Problem> {
    if body.trim_ascii().is_empty() {
        return Ok(Vec::new());
    }
    let text = std::str::from_utf8(body).map_err(|error| {
        let before = body.get(..error.valid_up_to()).and_then(|before| std::str::from_utf8(before).ok());
        Problem::bad("invalid UTF-8 in the body").at_line(malformed_element(before.unwrap_or_default()))
    })?;
    let document = Raw::document(text).map_err(|error| Problem::decode(&error).at_line(malformed_element(text)))?;
    match document.kind {
        Kind::Array => {
            let mut lines = Vec::new();
            for (element, number) in document.elements()?.zip(1..) {
                lines.push(Line { number, text: element.text.as_bytes() });
            }
            Ok(lines)
        }
        Kind::Object => Ok(vec![Line { number: 1, text: document.text.as_bytes() }]),
        _ => Err(Problem::bad("expected an array of events")),
    }
}

/// Returns the number of the first element of an array that is not valid JSON.
fn malformed_element(text: &str) -> usize {
    let text = text.trim_start();
    let inner = text.strip_prefix('[').unwrap_or(text);
    let (mut number, mut start, mut depth) = (1, 0, 0_usize);
    let (mut is_in_string, mut is_escaped) = (false, false);
    for (at, byte) in inner.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = is_in_string,
            b'"' => is_in_string = !is_in_string,
            _ if is_in_string => {}
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth == 0 => return number,
            b'}' | b']' => depth -= 1,
            b',' if depth == 0 => {
                if inner.get(start..at).is_none_or(|element| Raw::document(element).is_err()) {
                    return number;
                }
                (number, start) = (number + 1, at + 1);
            }
            _ => {}
        }
    }
    number
}

/// Appends the events of a batch. Returns the number of its line for each event.
pub(crate) async fn append(
    app: &App,
    session: &Session,
    dialect: Dialect,
    after: Option<Cursor>,
    lines: &[Line<'_>],
) -> Result<(Appended, Vec<usize>), Problem> {
    if matches!(dialect, Dialect::Java | Dialect::Java1) {
        return append_stream(app, session, dialect, after, lines).await;
    }
    let mut events = Vec::with_capacity(lines.len());
    for line in lines {
        let event = match dialect {
            Dialect::Native => Event::from_slice(line.text),
            other => match std::str::from_utf8(line.text) {
                Ok(text) => other.read_event(text),
                // Returns the error for invalid UTF-8.
                Err(_) => Event::from_slice(line.text),
            },
        };
        events.push(event.map_err(|error| Problem::decode(&error).at_line(line.number))?);
    }
    let numbers: Vec<usize> = lines.iter().map(|line| line.number).collect();
    let appended = app.host().append(session.key(), after, Events::of(&events)).await;
    match appended {
        Ok(appended) => Ok((appended, numbers)),
        Err(error) => Err(Problem::of_host(&error, &numbers)),
    }
}

/// The maximum number of attempts to append a batch while other clients write to the session.
const MAX_ATTEMPTS: usize = 64;
/// The number of fingerprints that are stored to detect duplicate lines.
const MAX_FINGERPRINTS: usize = 4_096;

/// Appends a part of a stream in a dialect whose events depend on earlier ones. The state of the translation is stored in the
/// same commit, which succeeds only if the head of the session has not changed.
async fn append_stream(
    app: &App,
    session: &Session,
    dialect: Dialect,
    after: Option<Cursor>,
    lines: &[Line<'_>],
) -> Result<(Appended, Vec<usize>), Problem> {
    let name = format!("stream.{dialect}");
    for _ in 0..MAX_ATTEMPTS {
        let row = session.info().await?;
        let head = Cursor { epoch: row.epoch, seq: row.head };
        if after.is_some_and(|after| after != head) {
            return Err(Error::Moved { session: session.key().clone(), head }.into());
        }
        let stored = session.state(&name).await?.and_then(|text| Object::parse(&text).ok()).unwrap_or_default();
        let translated = translate(dialect, &stored, lines)?;
        let state = StateChange { name: name.clone(), body: Some(translated.state.to_json()) };
        let events = Events::of(&translated.events);
        match app.host().append_with_state(session.key(), head, events, state).await {
            Ok(mut appended) => {
                appended.duplicates += translated.duplicates;
                return Ok((appended, translated.lines));
            }
            Err(HostError::Log(Error::Moved { .. })) if after.is_none() => {}
            Err(error) => return Err(Problem::of_host(&error, &translated.lines)),
        }
    }
    Err(Problem::conflict("busy", "too many concurrent writes to the session; try again"))
}

struct Translated {
    events: Vec<AgentEvent>,
    /// The number of the line for each event.
    lines: Vec<usize>,
    /// The number of lines that were appended before.
    duplicates: usize,
    state: Object,
}

fn translate(dialect: Dialect, stored: &Object, lines: &[Line<'_>]) -> Result<Translated, Problem> {
    let mut reader = match stored.get("reader").and_then(Json::to_object) {
        Some(state) => StreamReader::resume(dialect, &state)?,
        None => StreamReader::new(dialect),
    };
    let seen = stored.get("seen").and_then(Json::to_array).unwrap_or_default();
    let mut seen: Vec<String> = seen.iter().filter_map(Json::as_str).map(str::to_owned).collect();
    let mut fingerprints: HashSet<String> = seen.iter().cloned().collect();
    let mut translated = Translated { events: Vec::new(), lines: Vec::new(), duplicates: 0, state: Object::new() };
    for line in lines {
        let text = std::str::from_utf8(line.text)
            .map_err(|_| Problem::bad("invalid UTF-8 in the line").at_line(line.number))?;
        let fingerprint = fingerprint_of(text);
        if fingerprints.contains(&fingerprint) {
            translated.duplicates += 1;
            continue;
        }
        let hint = if reader.is_idle() { parse_hint(dialect, text) } else { None };
        let events = match hint {
            // A hint is for the session's own agent, which detects duplicates by id.
            Some(hint) => vec![hint],
            None => {
                fingerprints.insert(fingerprint.clone());
                seen.push(fingerprint);
                reader.push(text).map_err(|error| Problem::decode(&error).at_line(line.number))?
            }
        };
        translated.lines.extend(std::iter::repeat_n(line.number, events.len()));
        translated.events.extend(events);
    }
    let old = seen.len().saturating_sub(MAX_FINGERPRINTS);
    seen.drain(..old);
    translated.state.insert("reader", reader.state());
    translated.state.insert("seen", seen);
    Ok(translated)
}

/// Parses a line as a hint; `None` if it is any other event.
fn parse_hint(dialect: Dialect, text: &str) -> Option<AgentEvent> {
    let event = dialect.read_event(text).ok()?;
    matches!(event.kind, EventKind::HintBlock(_)).then(|| event.into_owned())
}

/// Returns a short digest of the event's id, or of the whole line if it has none.
fn fingerprint_of(text: &str) -> String {
    let id = Object::parse(text).ok().and_then(|event| event.get("id").and_then(Json::as_str).map(str::to_owned));
    let digest = Digest::of(id.as_deref().unwrap_or(text).as_bytes()).to_string();
    digest.get(..16).unwrap_or(&digest).to_owned()
}
