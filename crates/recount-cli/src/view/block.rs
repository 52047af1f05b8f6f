//! Renders the content blocks of a message.

use std::borrow::Cow;

use anstyle::{AnsiColor, Style};
use indicatif::BinaryBytes;
use recount_message::{
    ContentBlock, DataBlock, HintBlock, Json, MediaBlock, Object, Payload, Source, ToolCallBlock, ToolCallState,
    ToolResultBlock, ToolResultState,
};

use super::bubble::Bubble;
use super::{BAD, DIMMED, GOOD, Length, PLAIN, WARNING};
use crate::pretty;

const CALL: Style = AnsiColor::Cyan.on_default().bold();
const HINT: Style = AnsiColor::Magenta.on_default();

/// Writes a block that is not a tool call or a tool result. Those are written in pairs.
pub(super) fn simple(bubble: &mut Bubble<'_>, block: &ContentBlock) {
    match block {
        ContentBlock::Text(block) if block.text.is_empty() => {}
        ContentBlock::Text(block) => {
            bubble.unnamed();
            bubble.text(&block.text, PLAIN);
            cut_note(bubble, &block.extra);
        }
        ContentBlock::Thinking(block) => {
            bubble.label("thinking", DIMMED);
            bubble.text(&block.thinking, DIMMED);
            cut_note(bubble, &block.extra);
        }
        ContentBlock::Data(block) => bubble.label(&format!("data · {}", data_summary(block)), PLAIN),
        ContentBlock::Hint(block) => hint(bubble, block),
        ContentBlock::Unknown(block) => {
            bubble.label(&format!("block of unknown type · {}", block.type_name()), WARNING);
            bubble.text(&block.fields.to_json(), PLAIN);
        }
        other => bubble.label(other.type_name(), PLAIN),
    }
}

/// Returns the note at the end of a block whose model call broke off. `None` if it did not.
///
/// The next call repeats the text of such a block.
pub(crate) fn broken_off(extra: &Object) -> Option<&'static str> {
    let is_cut = extra.get("cut").is_some_and(|cut| cut.as_bool() == Some(true));
    is_cut.then_some("— broken off here, and begun again")
}

fn cut_note(bubble: &mut Bubble<'_>, extra: &Object) {
    if let Some(note) = broken_off(extra) {
        bubble.text(note, WARNING);
    }
}

pub(super) fn tool_call(bubble: &mut Bubble<'_>, call: &ToolCallBlock, length: Length) {
    let style = if call.state == ToolCallState::Asking { WARNING.bold() } else { CALL };
    bubble.label(&format!("call {} · {}", call.name, call.state), style);
    // Incomplete or invalid arguments are shown unchanged.
    let arguments = match Json::parse(&call.input) {
        Ok(json) => Cow::Owned(pretty::indented(json.as_raw())),
        Err(_) => Cow::Borrowed(call.input.as_str()),
    };
    bubble.lines(&arguments.lines().collect::<Vec<_>>(), PLAIN, length);
}

/// Writes the result of the last written call.
pub(super) fn tool_result(bubble: &mut Bubble<'_>, result: &ToolResultBlock, length: Length) {
    labelled_result(bubble, "result", result, length);
}

/// Writes a result without a matching call.
pub(super) fn orphan_result(bubble: &mut Bubble<'_>, result: &ToolResultBlock, length: Length) {
    labelled_result(bubble, &format!("result of {} without its call", result.name), result, length);
}

fn labelled_result(bubble: &mut Bubble<'_>, label: &str, result: &ToolResultBlock, length: Length) {
    let style = match result.state {
        ToolResultState::Success => GOOD,
        ToolResultState::Error => BAD,
        _ => WARNING,
    };
    bubble.label(&format!("{label} · {}", result.state), style);
    bubble.lines(&payload_lines(&result.output), PLAIN, length);
}

fn hint(bubble: &mut Bubble<'_>, hint: &HintBlock) {
    let label = hint.label().map(|source| match source.sublabel {
        Some(sublabel) => format!("hint · {}: {sublabel}", source.label),
        None => format!("hint · {}", source.label),
    });
    bubble.label(label.as_deref().unwrap_or("hint"), HINT);
    bubble.lines(&payload_lines(&hint.hint), HINT, Length::Whole);
}

fn payload_lines(payload: &Payload) -> Vec<Cow<'_, str>> {
    match payload {
        Payload::Text(text) => text.lines().map(Cow::Borrowed).collect(),
        _ => payload.blocks().iter().flat_map(media_lines).collect(),
    }
}

fn media_lines(block: &MediaBlock) -> Vec<Cow<'_, str>> {
    match block {
        MediaBlock::Text(block) => block.text.lines().map(Cow::Borrowed).collect(),
        MediaBlock::Data(block) => vec![Cow::Owned(format!("[data · {}]", data_summary(block)))],
        MediaBlock::Unknown(block) => vec![Cow::Owned(block.fields.to_json())],
        _ => Vec::new(),
    }
}

/// Describes data by its type, its size or URL, and its name.
fn data_summary(block: &DataBlock) -> String {
    let location = match &block.source {
        Source::Base64(source) => BinaryBytes(decoded_size(&source.data)).to_string(),
        Source::Url(source) => source.url().to_owned(),
        _ => "elsewhere".to_owned(),
    };
    let mut parts = vec![block.media_type(), &location];
    parts.extend(block.name.as_deref());
    parts.join(" · ")
}

/// Returns the decoded size of a base64 text, in bytes.
fn decoded_size(base64: &str) -> u64 {
    base64.trim_end_matches('=').len() as u64 * 3 / 4
}
