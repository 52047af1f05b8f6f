//! AG-UI messages.
//!
//! A reply becomes several messages. Each text is an assistant message that also holds the calls after it. Their results
//! follow it directly, in the order in which they began, regardless of when they end. Thinking is a message with the role
//! `reasoning`, and a block for which AG-UI has no role is an activity. A message id consists of the reply id and the
//! index of a block, because a client keeps all messages in one list, in which ids of blocks and calls could collide.

use std::collections::HashMap;

use recount_message::{
    ContentBlock, DataBlock, HintBlock, Json, MediaBlock, Msg, Object, Payload, Role, Source, ToolCallBlock,
    ToolResultBlock,
};

use crate::frame::{Frame, text_or_parts};
use crate::json;
use crate::reply_view::is_reopened;

/// Returns the id of the message or call that a block becomes.
pub(super) fn id_at(reply_id: &str, index: usize) -> String {
    format!("{reply_id}.{index}")
}

/// Returns the messages for a complete message.
pub(super) fn of_complete(message: &Msg) -> Vec<String> {
    of(message, true)
}

/// Returns the messages for an open reply, without the results that are not visible yet.
pub(super) fn of_open(message: &Msg) -> Vec<String> {
    of(message, false)
}

fn of(message: &Msg, is_complete: bool) -> Vec<String> {
    match message.role() {
        Role::User => vec![base_frame(message, "user").json("content", &user_content(message)).end()],
        Role::System => vec![base_frame(message, "system").text("content", &message.text_or_empty()).end()],
        _ => ReplyLayout::of(message.content()).messages(message, is_complete),
    }
}

fn base_frame(message: &Msg, role: &str) -> Frame {
    Frame::new().text("id", message.id()).text("role", role).optional("name", name_of(message))
}

/// Returns the author of a message. `None` if the name is empty.
pub(super) fn name_of(message: &Msg) -> Option<&str> {
    Some(message.name()).filter(|name| !name.is_empty())
}

fn user_content(message: &Msg) -> String {
    if let [ContentBlock::Text(text)] = message.content() {
        return Json::from(text.text.as_str()).as_raw().to_owned();
    }
    let parts = message.content().iter().filter_map(|block| match block {
        ContentBlock::Text(text) => Some(text_part(&text.text)),
        ContentBlock::Data(data) => Some(data_part(data)),
        _ => None,
    });
    json::list(&parts.collect::<Vec<_>>())
}

/// The distribution of the blocks of a reply over messages.
#[derive(Debug, Default)]
pub(super) struct ReplyLayout {
    messages: Vec<MessageLayout>,
    /// The latest call with each id: the indexes of its message and its block.
    calls: HashMap<String, (usize, usize)>,
    /// The index of the message that the next call belongs to.
    current_message: Option<usize>,
}

/// The blocks of one message.
#[derive(Debug)]
enum MessageLayout {
    /// An assistant message: a text with its calls, or calls without a text, and the results of these calls.
    Assistant { text: Option<usize>, calls: Vec<usize>, results: Vec<(usize, usize)> },
    /// A block that is a message of its own.
    Alone(usize),
}

impl ReplyLayout {
    pub(super) fn of(content: &[ContentBlock]) -> Self {
        let mut layout = Self::default();
        for (index, block) in content.iter().enumerate() {
            layout.add(index, block);
        }
        layout
    }

    fn add(&mut self, index: usize, block: &ContentBlock) {
        match block {
            ContentBlock::Text(_) => {
                self.current_message = Some(self.messages.len());
                self.messages.push(MessageLayout::Assistant {
                    text: Some(index),
                    calls: Vec::new(),
                    results: Vec::new(),
                });
            }
            ContentBlock::ToolCall(call) => {
                let position = self.current_message.unwrap_or(self.messages.len());
                self.current_message = Some(position);
                self.calls.insert(call.id.clone(), (position, index));
                match self.messages.get_mut(position) {
                    Some(MessageLayout::Assistant { calls, .. }) => calls.push(index),
                    _ => self.messages.push(MessageLayout::Assistant {
                        text: None,
                        calls: vec![index],
                        results: Vec::new(),
                    }),
                }
            }
            ContentBlock::ToolResult(result) => {
                self.current_message = None;
                let position = self.calls.get(&result.id).copied();
                match position
                    .and_then(|(position, call)| self.messages.get_mut(position).map(|message| (message, call)))
                {
                    Some((MessageLayout::Assistant { results, .. }, call)) => results.push((index, call)),
                    _ => self.messages.push(MessageLayout::Alone(index)),
                }
            }
            _ => self.messages.push(MessageLayout::Alone(index)),
        }
    }

    /// Returns the index of the block whose message the next call belongs to. `None` if that call begins a message.
    pub(super) fn current_message(&self) -> Option<usize> {
        match self.messages.get(self.current_message?)? {
            MessageLayout::Assistant { text, calls, .. } => text.or(calls.first().copied()),
            MessageLayout::Alone(_) => None,
        }
    }

    /// Returns the visible results with the indexes of their calls. A finished result is hidden until the earlier results
    /// of the same message have finished.
    pub(super) fn visible_results(&self, content: &[ContentBlock], is_complete: bool) -> Vec<(usize, usize)> {
        let indexes = self.messages.iter().flat_map(|layout| match layout {
            MessageLayout::Assistant { results, .. } => visible(results, content, is_complete),
            MessageLayout::Alone(_) => &[],
        });
        indexes.copied().collect()
    }

    fn messages(&self, message: &Msg, is_complete: bool) -> Vec<String> {
        let content = message.content();
        let mut all = Vec::new();
        for layout in &self.messages {
            match layout {
                MessageLayout::Alone(index) => {
                    all.extend(content.get(*index).map(|block| single_block(message.id(), *index, block, is_complete)));
                }
                MessageLayout::Assistant { text, calls, results } => {
                    all.push(assistant(message, *text, calls));
                    all.extend(visible(results, content, is_complete).iter().filter_map(|&(index, call)| {
                        let result = result_at(content, index)?;
                        Some(tool_message(message.id(), index, &id_at(message.id(), call), result))
                    }));
                }
            }
        }
        all
    }
}

/// Returns the visible results of one message. A reopened result stays visible.
fn visible<'r>(results: &'r [(usize, usize)], content: &[ContentBlock], is_complete: bool) -> &'r [(usize, usize)] {
    let is_visible = |result: &ToolResultBlock| is_complete || result.finished_at.is_some() || is_reopened(result);
    let count = results.iter().take_while(|(index, _)| result_at(content, *index).is_some_and(is_visible)).count();
    results.get(..count).unwrap_or_default()
}

pub(super) fn result_at(content: &[ContentBlock], index: usize) -> Option<&ToolResultBlock> {
    match content.get(index)? {
        ContentBlock::ToolResult(result) => Some(result),
        _ => None,
    }
}

fn assistant(message: &Msg, text: Option<usize>, calls: &[usize]) -> String {
    let (id, content) = (message.id(), message.content());
    let block = text.or(calls.first().copied()).unwrap_or_default();
    let mut frame = Frame::new().text("id", &id_at(id, block)).text("role", "assistant");
    if let Some(ContentBlock::Text(text)) = text.and_then(|text| content.get(text)) {
        frame = frame.optional("name", name_of(message)).text("content", &text.text);
    }
    let calls: Vec<String> = calls
        .iter()
        .filter_map(|&index| match content.get(index)? {
            ContentBlock::ToolCall(call) => Some(tool_call(&id_at(id, index), call)),
            _ => None,
        })
        .collect();
    if !calls.is_empty() {
        frame = frame.list("toolCalls", &calls);
    }
    frame.end()
}

fn tool_call(id: &str, call: &ToolCallBlock) -> String {
    let function = Frame::new().text("name", &call.name).text("arguments", &call.input).end();
    let frame = Frame::new().text("id", id).text("type", "function").json("function", &function);
    frame.json("metadata", &call_metadata(&call.id)).end()
}

/// Returns the metadata of a call, which holds its native id.
pub(super) fn call_metadata(id: &str) -> String {
    recount_metadata(Object::from([("tool_call_id", id)]))
}

/// Returns metadata with the given fields under Recount's key.
pub(super) fn recount_metadata(own: Object) -> String {
    Object::from([("recount", own)]).to_json()
}

fn tool_message(reply_id: &str, index: usize, call: &str, result: &ToolResultBlock) -> String {
    result_fields(Frame::new().text("id", &id_at(reply_id, index)), call, result).text("role", "tool").end()
}

/// Adds the call id, the content and the state of a result.
pub(super) fn result_fields(frame: Frame, call: &str, result: &ToolResultBlock) -> Frame {
    let state = Object::from([("state", result.state.as_str())]);
    frame
        .text("toolCallId", call)
        .json("content", &result_content(&result.output))
        .json("metadata", &recount_metadata(state))
}

/// Returns the content of a result or a hint.
pub(super) fn result_content(output: &Payload) -> String {
    text_or_parts(output, |block| match block {
        MediaBlock::Text(text) => text_part(&text.text),
        MediaBlock::Data(data) => data_part(data),
        MediaBlock::Unknown(other) => text_part(&other.fields.to_json()),
        _ => text_part(""),
    })
}

fn text_part(text: &str) -> String {
    Frame::of("text").text("text", text).end()
}

fn data_part(data: &DataBlock) -> String {
    let source = match &data.source {
        Source::Base64(source) => Frame::of("data").text("value", &source.data),
        Source::Url(source) => Frame::of("url").text("value", source.url()),
        _ => Frame::of("url").text("value", ""),
    };
    let source = source.text("mimeType", data.media_type()).end();
    with_filename(Frame::of(part_type(data)).json("source", &source), data).end()
}

fn part_type(data: &DataBlock) -> &'static str {
    if data.is_image() {
        "image"
    } else if data.is_audio() {
        "audio"
    } else if data.is_video() {
        "video"
    } else {
        "document"
    }
}

fn with_filename(frame: Frame, data: &DataBlock) -> Frame {
    match &data.name {
        Some(name) => frame.json("metadata", &Object::from([("filename", name.as_str())]).to_json()),
        None => frame,
    }
}

/// Returns the message for a block that is a message of its own.
fn single_block(reply_id: &str, index: usize, block: &ContentBlock, is_complete: bool) -> String {
    let id = id_at(reply_id, index);
    if let Some(activity) = Activity::of(block, is_complete) {
        let frame = Frame::new().text("id", &id).text("role", "activity");
        return frame.text("activityType", activity.kind).json("content", &activity.content).end();
    }
    match block {
        ContentBlock::Thinking(thinking) => {
            Frame::new().text("id", &id).text("role", "reasoning").text("content", &thinking.thinking).end()
        }
        // The call is in another message or does not exist.
        ContentBlock::ToolResult(result) => tool_message(reply_id, index, &result.id, result),
        _ => Frame::new().text("id", &id).text("role", "assistant").end(),
    }
}

/// The activity for a block that has no AG-UI role.
#[derive(Debug)]
pub(super) struct Activity {
    pub(super) kind: &'static str,
    pub(super) content: String,
}

impl Activity {
    /// Returns the activity for a block, or `None` for other blocks. The bytes of data are included once they are
    /// complete.
    pub(super) fn of(block: &ContentBlock, is_complete: bool) -> Option<Self> {
        Some(match block {
            ContentBlock::Data(data) if !is_complete && data.finished_at.is_none() => {
                let content = Frame::of(part_type(data)).text("mimeType", data.media_type());
                Self { kind: "recount.data", content: with_filename(content, data).end() }
            }
            ContentBlock::Data(data) => Self { kind: "recount.data", content: data_part(data) },
            ContentBlock::Hint(hint) => Self { kind: "recount.hint", content: hint_content(hint) },
            ContentBlock::Unknown(other) => Self { kind: "recount.block", content: other.fields.to_json() },
            _ => return None,
        })
    }
}

fn hint_content(hint: &HintBlock) -> String {
    Frame::new().json("hint", &result_content(&hint.hint)).optional("source", hint.source.as_deref()).end()
}
