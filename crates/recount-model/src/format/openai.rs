//! OpenAI chat completions and compatible providers.
//!
//! [`ChatFormat`] lists the differences between the providers.

use recount_message::Role;

use super::arguments;
use super::chat_request::ChatApi;
use super::json_builder::{JsonBuilder, ObjectBuilder, object};
use super::media::{Attachment, AttachmentSource, FetchedBy};
use super::multi_agent::{HistoryLine, HistoryStyle, MediaPosition};
use super::names::NameRule;
use super::provider_format::{ContentPart, Context, ProviderFormat};
use super::request::RequestParts;
use super::turns::{Call, CallRules, Item, Turn};

/// The differences to OpenAI's chat completions.
#[derive(Debug)]
pub(crate) struct ChatFormat {
    api: ChatApi,
    /// The media types accepted by default.
    input_types: &'static [&'static str],
    /// Whether messages have a `name`.
    names: bool,
    /// Whether the user message with the media of tool results has a `name`.
    names_promoted: bool,
    /// How thinking is sent.
    thinking: ThinkingField,
    /// Whether a message with only text has a string as content.
    plain_text: bool,
    /// Whether assistant messages may contain media.
    assistant_media: bool,
    image: Option<FetchedBy>,
    audio: Option<Audio>,
    video: Option<FetchedBy>,
    pdf: bool,
    /// The maximum length of a call id.
    id_length: usize,
    /// Whether invalid JSON as arguments fails the whole request.
    strict_arguments: bool,
    history: HistoryStyle,
}

/// When thinking is sent, as `reasoning_content`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ThinkingField {
    /// Never.
    Never,
    /// After the calls, and only if the model accepts its own thinking.
    IfModelReadsIt,
    /// If the message has thinking.
    IfPresent,
    /// In every assistant message; empty if it has no thinking.
    Always {
        /// Whether thinking without other content makes a message.
        empty: bool,
    },
}

/// How audio is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Audio {
    /// WAV and MP3, as base64.
    Bare,
    /// Any format, as a URL or data URL.
    Url,
}

const LINES: HistoryStyle =
    HistoryStyle { line: HistoryLine::PerBlock, media: MediaPosition::Last { tags_without_text: false } };

pub(crate) static OPENAI: ChatFormat = ChatFormat {
    api: ChatApi::OpenAi,
    input_types: &["text/plain", "image/*", "audio/*", "application/pdf"],
    names: true,
    names_promoted: true,
    thinking: ThinkingField::Never,
    plain_text: false,
    assistant_media: false,
    image: Some(FetchedBy::Provider),
    audio: Some(Audio::Bare),
    video: None,
    pdf: true,
    id_length: 40,
    strict_arguments: false,
    history: LINES,
};

pub(crate) static DASHSCOPE: ChatFormat = ChatFormat {
    api: ChatApi::DashScope,
    input_types: &["text/plain", "image/*", "audio/*", "video/*"],
    names: false,
    names_promoted: false,
    thinking: ThinkingField::IfModelReadsIt,
    assistant_media: true,
    audio: Some(Audio::Url),
    video: Some(FetchedBy::Provider),
    pdf: false,
    id_length: usize::MAX,
    strict_arguments: true,
    ..OPENAI
};

pub(crate) static DEEPSEEK: ChatFormat = ChatFormat {
    api: ChatApi::DeepSeek,
    input_types: &["text/plain"],
    names: false,
    names_promoted: false,
    thinking: ThinkingField::Always { empty: true },
    plain_text: true,
    audio: None,
    pdf: false,
    id_length: usize::MAX,
    history: HistoryStyle { line: HistoryLine::PerBlock, media: MediaPosition::AfterName },
    ..OPENAI
};

pub(crate) static MOONSHOT: ChatFormat = ChatFormat {
    api: ChatApi::Moonshot,
    input_types: &["text/plain", "image/*", "audio/*", "video/*"],
    thinking: ThinkingField::Always { empty: false },
    assistant_media: true,
    image: Some(FetchedBy::Client),
    video: Some(FetchedBy::Client),
    pdf: false,
    id_length: usize::MAX,
    ..OPENAI
};

pub(crate) static VOLCENGINE: ChatFormat = ChatFormat {
    api: ChatApi::Volcengine,
    input_types: &["text/plain", "image/*", "video/*"],
    names: false,
    thinking: ThinkingField::IfPresent,
    assistant_media: true,
    audio: None,
    video: Some(FetchedBy::Provider),
    pdf: false,
    id_length: usize::MAX,
    ..OPENAI
};

pub(crate) static XAI: ChatFormat = ChatFormat {
    api: ChatApi::Xai,
    input_types: &["text/plain", "image/jpeg", "image/png"],
    names: false,
    names_promoted: false,
    plain_text: true,
    audio: None,
    pdf: false,
    id_length: usize::MAX,
    history: HistoryStyle {
        line: HistoryLine::PerMessage { bare_names: true },
        media: MediaPosition::Last { tags_without_text: false },
    },
    ..OPENAI
};

impl ProviderFormat for ChatFormat {
    fn input_types(&self) -> &'static [&'static str] {
        self.input_types
    }

    fn call_rules(&self) -> CallRules {
        CallRules { id: NameRule::length(self.id_length), name: NameRule::word(64) }
    }

    fn accepts_media(&self, media_type: &str, role: Role) -> Option<FetchedBy> {
        if role == Role::Assistant && !self.assistant_media {
            return None;
        }
        match media_type.split_once('/')? {
            ("image", _) => self.image,
            ("audio", _) => match self.audio? {
                Audio::Bare => bare_audio_format(media_type).map(|_| FetchedBy::Client),
                Audio::Url => Some(FetchedBy::Provider),
            },
            ("video", _) => self.video,
            ("application", "pdf") if self.pdf => Some(FetchedBy::Client),
            _ => None,
        }
    }

    fn media(&self, attachment: &Attachment<'_>, source: &AttachmentSource<'_>) -> JsonBuilder {
        let media_type = &*attachment.media_type;
        match attachment.main_type() {
            "image" => {
                object! { "type": "image_url", "image_url": object! { "url": source.to_url(media_type) } }.into()
            }
            "video" => {
                object! { "type": "video_url", "video_url": object! { "url": source.to_url(media_type) } }.into()
            }
            "audio" => object! { "type": "input_audio", "input_audio": self.sound(media_type, source) }.into(),
            _ => pdf_part(attachment, source).into(),
        }
    }

    fn chat(&self, turns: &[Turn<'_>], cx: &mut Context<'_>) -> Vec<ObjectBuilder> {
        let mut messages = Vec::new();
        for turn in turns {
            let mut pending = PendingMessage::default();
            let mut promoted: Vec<ObjectBuilder> = Vec::new();
            for item in &turn.items {
                if !matches!(item, Item::Result(_)) {
                    messages.append(&mut promoted);
                }
                match item {
                    Item::Text(text, _) => pending.parts.push(ContentPart::Text(text.clone().into_owned())),
                    Item::Data(block) => {
                        cx.media_or_move(self, block, turn.role, &mut pending.parts, &mut pending.moved_media);
                    }
                    Item::Thinking(block) => self.think(&block.thinking, cx, &mut pending),
                    Item::Call(call) => pending.calls.push(self.call(call, cx).into()),
                    Item::Hint(hint) => {
                        messages.extend(self.message(turn, &mut pending));
                        messages.extend(self.moved_media(&mut pending));
                        let parts = cx.hint(self, hint);
                        messages.extend(self.user(parts));
                    }
                    Item::Result(result) => {
                        messages.extend(self.message(turn, &mut pending));
                        promoted.extend(self.moved_media(&mut pending));
                        let (text, media) = cx.result_text(self, result);
                        messages.push(object! {
                            "role": "tool", "tool_call_id": result.id.as_str(), "content": text, "name": &*result.name,
                        });
                        promoted.extend((!media.is_empty()).then(|| self.promoted(media)));
                    }
                }
            }
            messages.append(&mut promoted);
            messages.extend(self.message(turn, &mut pending));
            messages.extend(self.moved_media(&mut pending));
        }
        messages
    }

    fn system(&self, text: String) -> ObjectBuilder {
        object! { "role": "system", "content": text }
    }

    fn user(&self, parts: Vec<ContentPart>) -> Option<ObjectBuilder> {
        (!parts.is_empty()).then(|| object! { "role": "user", "content": self.content(parts) })
    }

    fn user_text(&self, text: String) -> Option<ObjectBuilder> {
        Some(object! { "role": "user", "content": text })
    }

    fn history(&self) -> HistoryStyle {
        self.history
    }

    fn body(&self, request: RequestParts<'_>) -> ObjectBuilder {
        self.api.body(request)
    }
}

/// A message under construction.
#[derive(Default)]
struct PendingMessage {
    parts: Vec<ContentPart>,
    thinking: Vec<String>,
    calls: Vec<JsonBuilder>,
    /// Media of an assistant message, which is sent in a user message.
    moved_media: Vec<ContentPart>,
}

impl PendingMessage {
    fn is_empty(&self) -> bool {
        self.parts.is_empty() && self.thinking.is_empty() && self.calls.is_empty()
    }
}

impl ChatFormat {
    fn think(&self, thinking: &str, cx: &Context<'_>, pending: &mut PendingMessage) {
        let is_sent = match self.thinking {
            ThinkingField::Never => false,
            ThinkingField::IfModelReadsIt => cx.input.allows_thinking(),
            ThinkingField::IfPresent => true,
            ThinkingField::Always { empty } => empty || !thinking.is_empty(),
        };
        if is_sent {
            pending.thinking.push(thinking.to_owned());
        }
    }

    fn call(&self, call: &Call<'_>, cx: &mut Context<'_>) -> ObjectBuilder {
        let arguments = self.arguments(call, cx);
        object! {
            "id": call.id.as_str(),
            "type": "function",
            "function": object! { "name": &*call.name, "arguments": arguments },
        }
    }

    /// Returns the arguments as text: as the model wrote them, unless the provider would reject them.
    fn arguments(&self, call: &Call<'_>, cx: &mut Context<'_>) -> String {
        if call.input.trim().is_empty() {
            return "{}".to_owned();
        }
        if !self.strict_arguments || recount_message::Json::parse(call.input).is_ok() {
            return call.input.to_owned();
        }
        arguments::parse_or_empty(call, cx.warnings).as_raw().to_owned()
    }

    fn moved_media(&self, pending: &mut PendingMessage) -> Option<ObjectBuilder> {
        let moved_media = std::mem::take(&mut pending.moved_media);
        (!moved_media.is_empty()).then(|| self.promoted(moved_media))
    }

    /// Builds the message from the pending parts and clears them. `None` if there are none.
    fn message(&self, turn: &Turn<'_>, pending: &mut PendingMessage) -> Option<ObjectBuilder> {
        if pending.is_empty() {
            return None;
        }
        let (parts, thinking) = (std::mem::take(&mut pending.parts), std::mem::take(&mut pending.thinking));
        let calls = std::mem::take(&mut pending.calls);
        let says_nothing = parts.iter().all(|part| matches!(part, ContentPart::Text(text) if text.is_empty()));
        if self.plain_text && says_nothing && thinking.is_empty() && calls.is_empty() {
            return None;
        }
        let thinks_nothing = self.thinking == ThinkingField::IfModelReadsIt && thinking.iter().all(String::is_empty);
        if thinks_nothing && parts.is_empty() && calls.is_empty() {
            return None;
        }
        let mut message = object! { "role": turn.role.as_str() };
        if self.names && !turn.name.is_empty() {
            message.set("name", &*NameRule::SPEAKER.sanitized(turn.name));
        }
        let is_empty = if self.plain_text { says_nothing } else { parts.is_empty() };
        message.set(
            "content",
            match (is_empty, calls.is_empty()) {
                (true, true) if self.plain_text => "".into(),
                (true, _) => JsonBuilder::null(),
                (false, _) => self.content(parts),
            },
        );
        let thought = (!thinking.is_empty()).then(|| thinking.join("\n"));
        let thought = match self.thinking {
            ThinkingField::Always { .. } => Some(thought.unwrap_or_default()),
            ThinkingField::Never | ThinkingField::IfModelReadsIt | ThinkingField::IfPresent => thought,
        };
        let thought = thought.filter(|_| turn.role == Role::Assistant);
        let calls = (!calls.is_empty()).then_some(calls);
        if self.thinking == ThinkingField::IfModelReadsIt {
            message.set_some("tool_calls", calls);
            message.set_some("reasoning_content", thought);
        } else {
            message.set_some("reasoning_content", thought);
            message.set_some("tool_calls", calls);
        }
        Some(message)
    }

    fn content(&self, parts: Vec<ContentPart>) -> JsonBuilder {
        let is_text = parts.iter().all(|part| matches!(part, ContentPart::Text(_)));
        if self.plain_text && is_text { texts(&parts).join("\n").into() } else { parts_list(parts) }
    }

    fn promoted(&self, parts: Vec<ContentPart>) -> ObjectBuilder {
        let mut message = object! { "role": "user" };
        if self.names_promoted {
            message.set("name", "system-reminder");
        }
        message.with("content", parts_list(parts))
    }

    fn sound(&self, media_type: &str, source: &AttachmentSource<'_>) -> ObjectBuilder {
        match self.audio {
            Some(Audio::Url) => {
                let format = media_type.rsplit('/').next().unwrap_or(media_type);
                let data = match source {
                    AttachmentSource::Url(url) => (*url).to_owned(),
                    AttachmentSource::Base64(data) => format!("data:;base64,{data}"),
                };
                object! { "data": data, "format": if format == "mpeg" { "mp3" } else { format } }
            }
            Some(Audio::Bare) | None => {
                let data = match source {
                    AttachmentSource::Url(data) | AttachmentSource::Base64(data) => *data,
                };
                object! { "data": data, "format": bare_audio_format(media_type).unwrap_or("wav") }
            }
        }
    }
}

fn texts(parts: &[ContentPart]) -> Vec<&str> {
    parts
        .iter()
        .filter_map(|part| match part {
            ContentPart::Text(text) => Some(text.as_str()),
            ContentPart::Media(_) => None,
        })
        .collect()
}

fn parts_list(parts: Vec<ContentPart>) -> JsonBuilder {
    let parts = parts.into_iter().map(|part| match part {
        ContentPart::Text(text) => object! { "type": "text", "text": text }.into(),
        ContentPart::Media(media) => media,
    });
    JsonBuilder::Array(parts.collect())
}

/// Returns OpenAI's name for an audio format. `None` if it is not supported.
fn bare_audio_format(media_type: &str) -> Option<&'static str> {
    match media_type {
        "audio/wav" | "audio/x-wav" | "audio/wave" | "audio/vnd.wave" => Some("wav"),
        "audio/mp3" | "audio/mpeg" => Some("mp3"),
        _ => None,
    }
}

/// Formats a PDF, which is always sent as base64.
fn pdf_part(attachment: &Attachment<'_>, source: &AttachmentSource<'_>) -> ObjectBuilder {
    let name = attachment.block.name.as_deref().filter(|name| !name.is_empty()).unwrap_or("document.pdf");
    let file = object! { "filename": name, "file_data": source.to_url(&attachment.media_type) };
    object! { "type": "file", "file": file }
}
