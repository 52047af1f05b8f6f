//! The parts of a message.

use std::borrow::Cow;

use anstyle::{AnsiColor, Style};
use indicatif::BinaryBytes;
use recount_message::{
    ContentBlock, DataBlock, HintBlock, Json, MediaBlock, Object, Payload, Source, ToolCallBlock, ToolCallState,
    ToolResultBlock, ToolResultState,
};

use super::bubble::Bubble;
use super::{BAD, CAREFUL, DIMMED, GOOD, Length, PLAIN};
use crate::pretty;

const CALL: Style = AnsiColor::Cyan.on_default().bold();
const HINT: Style = AnsiColor::Magenta.on_default();

/// Writes any block but a tool's call and result, which stand together.
pub(super) fn simple(bubble: &mut Bubble<'_>, block: &ContentBlock) {
    match block {
        ContentBlock::Text(block) if block.text.is_empty() => {}
        ContentBlock::Text(block) => {
            bubble.unnamed();
            bubble.text(&block.text, PLAIN);
            cut(bubble, &block.extra);
        }
        ContentBlock::Thinking(block) => {
            bubble.label("thinking", DIMMED);
            bubble.text(&block.thinking, DIMMED);
            cut(bubble, &block.extra);
        }
        ContentBlock::Data(block) => bubble.label(&format!("data · {}", described(block)), PLAIN),
        ContentBlock::Hint(block) => hint(bubble, block),
        ContentBlock::Unknown(block) => {
            bubble.label(&format!("block of unknown type · {}", block.type_name()), CAREFUL);
            bubble.text(&block.fields.to_json(), PLAIN);
        }
        other => bubble.label(other.type_name(), PLAIN),
    }
}

/// What is said where a model call broke off, if it did. What was said until then is said again.
pub(crate) fn broken_off(extra: &Object) -> Option<&'static str> {
    let is_cut = extra.get("cut").is_some_and(|cut| cut.as_bool() == Some(true));
    is_cut.then_some("— broken off here, and begun again")
}

fn cut(bubble: &mut Bubble<'_>, extra: &Object) {
    if let Some(told) = broken_off(extra) {
        bubble.text(told, CAREFUL);
    }
}

pub(super) fn tool_call(bubble: &mut Bubble<'_>, call: &ToolCallBlock, length: Length) {
    let style = if call.state == ToolCallState::Asking { CAREFUL.bold() } else { CALL };
    bubble.label(&format!("call {} · {}", call.name, call.state), style);
    // Arguments that are still coming in, or that the model got wrong, are shown as they are.
    let arguments = match Json::parse(&call.input) {
        Ok(json) => Cow::Owned(pretty::indented(json.as_raw())),
        Err(_) => Cow::Borrowed(call.input.as_str()),
    };
    bubble.lines(&arguments.lines().collect::<Vec<_>>(), PLAIN, length);
}

/// Writes the result of the call that was written last.
pub(super) fn tool_result(bubble: &mut Bubble<'_>, result: &ToolResultBlock, length: Length) {
    result_named(bubble, "result", result, length);
}

/// Writes a result that no call asked for.
pub(super) fn lone_result(bubble: &mut Bubble<'_>, result: &ToolResultBlock, length: Length) {
    result_named(bubble, &format!("result of {} without its call", result.name), result, length);
}

fn result_named(bubble: &mut Bubble<'_>, label: &str, result: &ToolResultBlock, length: Length) {
    let style = match result.state {
        ToolResultState::Success => GOOD,
        ToolResultState::Error => BAD,
        _ => CAREFUL,
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
        MediaBlock::Data(block) => vec![Cow::Owned(format!("[data · {}]", described(block)))],
        MediaBlock::Unknown(block) => vec![Cow::Owned(block.fields.to_json())],
        _ => Vec::new(),
    }
}

/// What stands for data: its type, its size or where it is, and its name.
fn described(block: &DataBlock) -> String {
    let place = match &block.source {
        Source::Base64(source) => BinaryBytes(decoded_size(&source.data)).to_string(),
        Source::Url(source) => source.url().to_owned(),
        _ => "elsewhere".to_owned(),
    };
    let mut parts = vec![block.media_type(), &place];
    parts.extend(block.name.as_deref());
    parts.join(" · ")
}

/// How many bytes a base64 text stands for.
fn decoded_size(base64: &str) -> u64 {
    base64.trim_end_matches('=').len() as u64 * 3 / 4
}
