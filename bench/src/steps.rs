//! What is measured: the ways from bytes to a message and back.

use std::hint::black_box;

use recount_dialect::Dialect;
use recount_message::{AgentEvent, DecodeError, Event, Fold, Msg, ReplyEnd, ReplyWriter, Stamps};
use recount_model::decode::{CallError, DecodeOptions, Decoder};
use serde::de::IgnoredAny;

use crate::responses::Response;

/// Lets `serde_json` skip over every line. It reads no field, so this is a floor for whoever reads them.
///
/// # Errors
///
/// When a line is not JSON.
pub fn skip(lines: &[&str]) -> serde_json::Result<()> {
    for line in lines {
        black_box(serde_json::from_str::<IgnoredAny>(line)?);
    }
    Ok(())
}

/// Decodes every line into an event that borrows from it.
///
/// # Errors
///
/// When a line is not an event.
pub fn decode(lines: &[&str]) -> Result<(), DecodeError> {
    for line in lines {
        let event = Event::from_json(line)?;
        black_box(&event);
    }
    Ok(())
}

/// Decodes every line into an event that can be kept.
///
/// # Errors
///
/// When a line is not an event.
pub fn decode_owned(lines: &[&str]) -> Result<(), DecodeError> {
    for line in lines {
        let event = Event::from_json(line)?.into_owned();
        black_box(&event);
    }
    Ok(())
}

/// Decodes every line and keeps the events.
///
/// # Errors
///
/// When a line is not an event.
pub fn events<'a>(lines: &[&'a str]) -> Result<Vec<Event<'a>>, DecodeError> {
    lines.iter().map(|line| Event::from_json(line)).collect()
}

/// Reads every line as an event of a dialect, and writes it natively.
///
/// # Errors
///
/// When a line is not an event.
pub fn from_dialect(dialect: Dialect, lines: &[String]) -> Result<(), DecodeError> {
    let mut out = String::new();
    for line in lines {
        out.clear();
        dialect.read_event(line)?.write_json(&mut out);
        black_box(&out);
    }
    Ok(())
}

/// Reads every line as a native event, and writes it in a dialect.
///
/// # Errors
///
/// When a line is not an event.
pub fn to_dialect(dialect: Dialect, lines: &[&str]) -> Result<(), DecodeError> {
    for line in lines {
        black_box(dialect.write_event(&Event::from_json(line)?));
    }
    Ok(())
}

/// Folds events that have been decoded before.
pub fn fold(events: &[Event<'_>]) -> Fold {
    let mut fold = Fold::new();
    for event in events {
        let _ = black_box(fold.apply(event));
    }
    fold
}

/// Encodes every event, each into the same text, and tells how many bytes they have.
pub fn encode(events: &[Event<'_>]) -> usize {
    let mut out = String::new();
    let mut bytes = 0;
    for event in events {
        out.clear();
        event.write_json(&mut out);
        bytes += black_box(&out).len();
    }
    bytes
}

/// All that a reader does with the bytes of its lines: a UTF-8 check, an event that borrows, and the fold.
///
/// # Errors
///
/// When a line is not UTF-8 or not an event.
pub fn bytes_to_message(lines: &[&[u8]]) -> Result<Fold, DecodeError> {
    let mut fold = Fold::new();
    for line in lines {
        let _ = black_box(fold.apply(&Event::from_slice(line)?));
    }
    Ok(fold)
}

/// Encodes the messages of a fold and tells how many bytes they have.
pub fn encode_messages(fold: &Fold) -> usize {
    fold.messages().map(|message| black_box(message.to_json()).len()).sum()
}

/// How many bytes of a response come at a time.
const PIECE: usize = 16 * 1024;

/// Decodes a response to events, which are dropped one by one, and gives the message.
///
/// # Errors
///
/// When the response cannot be decoded.
pub fn decode_response(response: &Response) -> Result<Msg, CallError> {
    let mut reply = reply();
    let mut decoder = Decoder::new(response.provider, DecodeOptions::default());
    for piece in response.bytes.chunks(PIECE) {
        decoder.push(piece, &mut reply)?;
    }
    match decoder.finish(&mut reply).error {
        None => Ok(reply.end(ReplyEnd::completed())),
        Some(error) => Err(error),
    }
}

/// Writes as many deltas of text to events, without any decoding.
pub fn write_deltas(count: usize) -> Msg {
    let mut reply = reply();
    for _ in 0..count {
        reply.text(black_box("twelve chars"));
    }
    reply.end(ReplyEnd::completed())
}

fn reply() -> ReplyWriter<impl FnMut(AgentEvent)> {
    let sink = |event: AgentEvent| drop(black_box(event));
    ReplyWriter::start(sink, Stamps::repeatable(), "s1", "Friday")
}
