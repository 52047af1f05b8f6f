//! JSON lines for the checkers in other languages, which decode and fold them.

use recount_dialect::{Dialect, split_turn};
use recount_message::{AgentEvent, EventKind, Fold, Json, MediaBlock, Msg, Object, Payload};

use crate::{Profile, illegal, legal, legal_for, messages, messages_for};

/// The kind of generated lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Legal streams with the messages that they fold to, and events of all types.
    Legal,
    /// The events of illegal streams.
    Illegal,
    /// Messages of every role.
    Messages,
}

impl Kind {
    /// Parses the name of a kind.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "legal" => Some(Self::Legal),
            "illegal" => Some(Self::Illegal),
            "messages" => Some(Self::Messages),
            _ => None,
        }
    }
}

/// Generates the lines of a seed.
pub fn lines(kind: Kind, seed: u64) -> Vec<String> {
    match kind {
        Kind::Legal => {
            let mut lines = folds(&legal_for(Profile::Python, seed));
            lines.extend(legal(seed).iter().filter(|event| python_reads(event)).map(event_line));
            lines
        }
        Kind::Illegal => illegal(seed).iter().filter(|event| python_reads(event)).map(event_line).collect(),
        Kind::Messages => {
            let messages = messages_for(Profile::Python, seed);
            messages.iter().map(|message| text_line("message", message.to_json())).collect()
        }
    }
}

/// Generates the lines of a seed in a dialect, which the original implementation must accept: messages, blocks, events, and
/// the frames that a reader of the stream receives.
pub fn dialect_lines(dialect: Dialect, kind: Kind, seed: u64) -> Vec<String> {
    let events = match kind {
        Kind::Legal => legal(seed),
        Kind::Illegal => illegal(seed),
        Kind::Messages => {
            let messages = messages(seed);
            let parts = messages.iter().flat_map(split_turn);
            let parts = parts.map(|part| accept_line("message", seed, dialect.write_message(&part)));
            let blocks = messages.iter().flat_map(Msg::content);
            let blocks = blocks.map(|block| accept_line("block", seed, dialect.write_block(block)));
            return parts.chain(blocks).collect();
        }
    };
    // Java 1 has envelopes instead of events.
    let word = if dialect == Dialect::Java1 { "event1" } else { "event" };
    let mut fold = Fold::new();
    let mut lines = Vec::new();
    for event in &events {
        lines.push(accept_line(word, seed, dialect.write_event(event)));
        lines.extend(dialect.frames(&fold, event).into_iter().map(|frame| accept_line(word, seed, frame)));
        let _ = fold.apply(event);
    }
    lines.extend(dialect.prelude(&fold).into_iter().map(|frame| accept_line(word, seed, frame)));
    lines
}

/// Creates the line of a text that the original implementation must accept.
fn accept_line(kind: &str, seed: u64, text: String) -> String {
    let mut line = Object::from([("case", format!("{kind}/{seed}"))]);
    line.insert("kind", kind);
    line.insert("text", text);
    line.insert("must", "accept");
    line.to_json()
}

/// Creates one line for each reply of a stream. Each line has all events of the stream, because the reader must skip those of
/// other replies.
fn folds(events: &[AgentEvent]) -> Vec<String> {
    let mut fold = Fold::new();
    fold.extend(events);
    let texts: Json = events.iter().map(|event| Json::from(event.to_json())).collect::<Vec<_>>().into();
    fold.messages()
        .map(|message| {
            let mut line = Object::from([("kind", "fold")]);
            line.insert("events", texts.clone());
            line.insert("message", message.to_json());
            line.to_json()
        })
        .collect()
}

fn event_line(event: &AgentEvent) -> String {
    text_line("event", event.to_json())
}

fn text_line(kind: &str, json: String) -> String {
    let mut line = Object::from([("kind", kind)]);
    line.insert("json", json);
    line.to_json()
}

/// Whether AgentScope Python decodes and encodes the event identically. It knows fewer types of events and blocks, and
/// generates ids for data without an id.
fn python_reads(event: &AgentEvent) -> bool {
    match &event.kind {
        EventKind::Unknown(_) => false,
        EventKind::ToolResultDataDelta(kind) => kind.block_id.is_some(),
        EventKind::HintBlock(kind) => is_known(&kind.hint),
        EventKind::ExternalExecutionResult(kind) => {
            kind.execution_results.iter().all(|result| is_known(&result.output))
        }
        _ => true,
    }
}

fn is_known(payload: &Payload) -> bool {
    payload.blocks().iter().all(|block| !matches!(block, MediaBlock::Unknown(_)))
}
