//! Events that come by POST.

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

/// A line of a body, or an element of an array.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Line<'b> {
    /// GaugeGuard from one.
    number: usize,
    text: &'b [u8],
}

/// The lines of a body.
pub(crate) fn lines(body: &[u8], kind: BodyKind, longest: usize) -> Result<Vec<Line<'_>>, Problem> {
    let lines = match kind {
        BodyKind::Lines => {
            let numbered = body.split(|&byte| byte == b'\n').zip(1..);
            let lines = numbered.map(|(text, number)| Line { number, text: text.trim_ascii() });
            lines.filter(|line| !line.text.is_empty()).collect()
        }
        BodyKind::Json => elements(body)?,
    };
    match lines.iter().find(|line| line.text.len() > longest) {
        Some(line) => Err(Problem::too_large(format!("an event may have {longest} bytes")).at_line(line.number)),
        None => Ok(lines),
    }
}

/// The elements of an array; one event may come without an array around it.
fn elements(body: &[u8]) -> Result<Vec<Line<'_>>, Problem> {
    if body.trim_ascii().is_empty() {
        return Ok(Vec::new());
    }
    let text = std::str::from_utf8(body).map_err(|error| {
        let before = body.get(..error.valid_up_to()).and_then(|before| std::str::from_utf8(before).ok());
        Problem::bad("the body is no UTF-8").at_line(broken_element(before.unwrap_or_default()))
    })?;
    let document = Raw::document(text).map_err(|error| Problem::decode(&error).at_line(broken_element(text)))?;
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

/// The number of the first element of an array that is not whole.
fn broken_element(text: &str) -> usize {
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

/// Appends what lines say. Gives, for each event, the line that it came from.
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
                // Whatever is wrong with the bytes, this says it.
                Err(_) => Event::from_slice(line.text),
            },
        };
        events.push(event.map_err(|error| Problem::decode(&error).at_line(line.number))?);
    }
    let places: Vec<usize> = lines.iter().map(|line| line.number).collect();
    let appended = app.host().append(session.key(), after, Events::of(&events)).await;
    match appended {
        Ok(appended) => Ok((appended, places)),
        Err(error) => Err(Problem::of_host(&error, &places)),
    }
}

/// How often a batch is tried whose session others write to at the same time.
const TRIES: usize = 64;
/// How many lines of a stream are remembered, so that one that is sent again is known.
const REMEMBERED: usize = 4_096;

/// Appends a part of a stream whose events mean something only together. What has to be remembered of it is committed
/// along, and only if nothing else was written in between.
async fn append_stream(
    app: &App,
    session: &Session,
    dialect: Dialect,
    after: Option<Cursor>,
    lines: &[Line<'_>],
) -> Result<(Appended, Vec<usize>), Problem> {
    let name = format!("stream.{dialect}");
    for _ in 0..TRIES {
        let row = session.info().await?;
        let head = Cursor { epoch: row.epoch, seq: row.head };
        if after.is_some_and(|after| after != head) {
            return Err(Error::Moved { session: session.key().clone(), head }.into());
        }
        let kept = session.state(&name).await?.and_then(|text| Object::parse(&text).ok()).unwrap_or_default();
        let translated = translate(dialect, &kept, lines)?;
        let state = StateChange { name: name.clone(), body: Some(translated.state.to_json()) };
        let events = Events::of(&translated.events);
        match app.host().append_with_state(session.key(), head, events, state).await {
            Ok(mut appended) => {
                appended.duplicates += translated.known;
                return Ok((appended, translated.places));
            }
            Err(HostError::Log(Error::Moved { .. })) if after.is_none() => {}
            Err(error) => return Err(Problem::of_host(&error, &translated.places)),
        }
    }
    Err(Problem::conflict("busy", "others write to the session all the time; try again"))
}

struct Translated {
    events: Vec<AgentEvent>,
    places: Vec<usize>,
    /// How many lines had come before.
    known: usize,
    state: Object,
}

fn translate(dialect: Dialect, kept: &Object, lines: &[Line<'_>]) -> Result<Translated, Problem> {
    let mut reader = match kept.get("reader").and_then(Json::to_object) {
        Some(state) => StreamReader::resume(dialect, &state)?,
        None => StreamReader::new(dialect),
    };
    let seen = kept.get("seen").and_then(Json::to_array).unwrap_or_default();
    let mut seen: Vec<String> = seen.iter().filter_map(Json::as_str).map(str::to_owned).collect();
    let mut marks: HashSet<String> = seen.iter().cloned().collect();
    let mut translated = Translated { events: Vec::new(), places: Vec::new(), known: 0, state: Object::new() };
    for line in lines {
        let text =
            std::str::from_utf8(line.text).map_err(|_| Problem::bad("the line is no UTF-8").at_line(line.number))?;
        let mark = mark_of(text);
        if marks.contains(&mark) {
            translated.known += 1;
            continue;
        }
        let hint = if reader.is_idle() { hint_in(dialect, text) } else { None };
        let events = match hint {
            // It is for the session's own agent, which knows by its id whether it has it.
            Some(hint) => vec![hint],
            None => {
                marks.insert(mark.clone());
                seen.push(mark);
                reader.push(text).map_err(|error| Problem::decode(&error).at_line(line.number))?
            }
        };
        translated.places.extend(std::iter::repeat_n(line.number, events.len()));
        translated.events.extend(events);
    }
    let old = seen.len().saturating_sub(REMEMBERED);
    seen.drain(..old);
    translated.state.insert("reader", reader.state());
    translated.state.insert("seen", seen);
    Ok(translated)
}

/// The hint that a line is.
fn hint_in(dialect: Dialect, text: &str) -> Option<AgentEvent> {
    let event = dialect.read_event(text).ok()?;
    matches!(event.kind, EventKind::HintBlock(_)).then(|| event.into_owned())
}

/// What a line is known by: its event's id, or all of it.
fn mark_of(text: &str) -> String {
    let id = Object::parse(text).ok().and_then(|event| event.get("id").and_then(Json::as_str).map(str::to_owned));
    let digest = Digest::of(id.as_deref().unwrap_or(text).as_bytes()).to_string();
    digest.get(..16).unwrap_or(&digest).to_owned()
}
