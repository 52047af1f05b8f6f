//! The measured operations, from bytes to messages and back.

use std::hint::black_box;

use recount_dialect::Dialect;
use recount_message::{AgentEvent, DecodeError, Event, Fold, Msg, ReplyEnd, ReplyWriter, Stamps};
use recount_model::decode::{CallError, DecodeOptions, Decoder};
use serde::de::IgnoredAny;

use crate::responses::Response;

/// Skips each line with `serde_json`. It reads no field, so it is a lower bound for decoders.
///
/// # Errors
///
/// Returns an error if a line is not JSON.
pub fn skip(lines: &[&str]) -> serde_json::Result<()> {
    for line in lines {
        black_box(serde_json::from_str::<IgnoredAny>(line)?);
    }
    Ok(())
}

/// Decodes each line into an event that borrows from it.
///
/// # Errors
///
/// Returns an error if a line is not an event.
pub fn decode(lines: &[&str]) -> Result<(), DecodeError> {
    for line in lines {
        let event = Event::from_json(line)?;
        black_box(&event);
    }
    Ok(())
}

/// Decodes each line into an owned event.
///
/// # Errors
///
/// Returns an error if a line is not an event.
pub fn decode_owned(lines: &[&str]) -> Result<(), DecodeError> {
    for line in lines {
        let event = Event::from_json(line)?.into_owned();
        black_box(&event);
    }
    Ok(())
}

/// Decodes all lines and returns the events.
///
/// # Errors
///
/// Returns an error if a line is not an event.
pub fn events<'a>(lines: &[&'a str]) -> Result<Vec<Event<'a>>, DecodeError> {
    lines.iter().map(|line| Event::from_json(line)).collect()
}

/// Decodes each line as an event of a dialect and encodes it natively.
///
/// # Errors
///
/// Returns an error if a line is not an event.
pub fn from_dialect(dialect: Dialect, lines: &[String]) -> Result<(), DecodeError> {
    let mut out = String::new();
    for line in lines {
        out.clear();
        dialect.read_event(line)?.write_json(&mut out);
        black_box(&out);
    }
    Ok(())
}

/// Decodes each line as a native event and encodes it in a dialect.
///
/// # Errors
///
/// Returns an error if a line is not an event.
pub fn to_dialect(dialect: Dialect, lines: &[&str]) -> Result<(), DecodeError> {
    for line in lines {
        black_box(dialect.write_event(&Event::from_json(line)?));
    }
    Ok(())
}

/// Folds decoded events.
pub fn fold(events: &[Event<'_>]) -> Fold {
    let mut fold = Fold::new();
    for event in events {
        let _ = black_box(fold.apply(event));
    }
    fold
}

/// Encodes each event into the same buffer. Returns the total number of bytes.
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

/// Validates UTF-8, decodes borrowing events and folds them, as a reader does.
///
/// # Errors
///
/// Returns an error if a line is not UTF-8 or not an event.
pub fn bytes_to_message(lines: &[&[u8]]) -> Result<Fold, DecodeError> {
    let mut fold = Fold::new();
    for line in lines {
        let _ = black_box(fold.apply(&Event::from_slice(line)?));
    }
    Ok(fold)
}

/// Encodes the messages of a fold. Returns the total number of bytes.
pub fn encode_messages(fold: &Fold) -> usize {
    fold.messages().map(|message| black_box(message.to_json()).len()).sum()
}

/// The size of the pieces in which a response arrives.
const PIECE: usize = 16 * 1024;

/// Decodes a response to events, which are dropped one by one. Returns the message.
///
/// # Errors
///
/// Returns an error if the response is invalid.
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

/// Writes `count` text deltas as events, without decoding.
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
