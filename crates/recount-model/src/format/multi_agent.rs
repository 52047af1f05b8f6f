//! Conversations with several agents, which become user messages for the model.
//!
//! Messages with calls or results keep their format, because the provider requires calls in assistant messages.

use recount_message::Role;

use super::json_builder::ObjectBuilder;
use super::provider_format::{ContentPart, Context, ProviderFormat};
use super::turns::{Item, Turn};

/// The format of a conversation with several agents, for models that know only themselves and a user.
///
/// ```
/// use recount_message::Msg;
/// use recount_model::Provider;
/// use recount_model::format::{Formatter, Media, MultiAgent};
///
/// let talk = [Msg::assistant("AgentA", "View A"), Msg::assistant("AgentB", "View B")];
/// let formatter = Formatter::new(Provider::DashScope).multi_agent(MultiAgent::Brackets);
/// let formatted: Vec<String> = formatter.format(&talk, &Media::new()).messages.iter().map(ToString::to_string).collect();
/// assert_eq!(formatted, [
///     r#"{"role":"user","content":"[AgentA]: View A"}"#,
///     r#"{"role":"user","content":"[AgentB]: View B"}"#,
/// ]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum MultiAgent {
    /// All messages between two uses of tools become one user message, inside `<history>` tags.
    History,
    /// Each message becomes a user message that starts with `[name]: `.
    Brackets,
}

/// The layout of the history for a provider.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HistoryStyle {
    pub(crate) line: HistoryLine,
    pub(crate) media: MediaPosition,
}

/// The layout of a message in the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HistoryLine {
    /// `name: text`, for each text block.
    PerBlock,
    /// `name: text text`, for each message.
    PerMessage {
        /// Whether a message without text adds a line with its name.
        bare_names: bool,
    },
    /// `name:`, then each text block on its own line.
    Stacked,
}

/// The position of media in the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MediaPosition {
    /// After the history.
    Last {
        /// Whether the tags are written if there is media but no text.
        tags_without_text: bool,
    },
    /// Where it occurs.
    InPlace,
    /// Where it occurs, after the name of the sender.
    AfterName,
}

pub(crate) const HISTORY_PROMPT: &str =
    "# Conversation History\nThe content between <history></history> tags contains your conversation history\n";

const OPEN: &str = "<history>\n";
const CLOSE: &str = "</history>";

/// Formats a conversation with several agents.
pub(crate) fn format(
    format: &dyn ProviderFormat,
    form: MultiAgent,
    prompt: &str,
    turns: &[Turn<'_>],
    cx: &mut Context<'_>,
) -> Vec<ObjectBuilder> {
    let mut writer = HistoryWriter { format, form, prompt, is_first: true, messages: Vec::new() };
    let rest = match turns.split_first() {
        Some((system, rest)) if system.role == Role::System => {
            writer.messages.extend(system_text(system).map(|text| format.system(text)));
            rest
        }
        _ => turns,
    };
    for group in rest.chunk_by(|left, right| left.has_tools == right.has_tools) {
        if group.first().is_some_and(|turn| turn.has_tools) {
            writer.messages.extend(format.chat(group, cx));
        } else {
            writer.write_group(group, cx);
        }
    }
    writer.messages
}

/// Returns the text of a system message. `None` if it has none, because no provider accepts an empty one.
fn system_text(turn: &Turn<'_>) -> Option<String> {
    let texts: Vec<&str> = turn
        .items
        .iter()
        .filter_map(|item| match item {
            Item::Text(text, _) => Some(&**text),
            _ => None,
        })
        .collect();
    Some(texts.join("\n")).filter(|text| !text.is_empty())
}

struct HistoryWriter<'a> {
    format: &'a dyn ProviderFormat,
    form: MultiAgent,
    prompt: &'a str,
    is_first: bool,
    messages: Vec<ObjectBuilder>,
}

/// A part of a message, with its sender.
struct Utterance<'a> {
    /// The index of the message, which groups its parts.
    turn: usize,
    name: &'a str,
    /// `None` marks the start of a message.
    part: Option<ContentPart>,
}

impl HistoryWriter<'_> {
    fn write_group(&mut self, group: &[Turn<'_>], cx: &mut Context<'_>) {
        let mut utterances = Vec::new();
        for (number, turn) in group.iter().enumerate() {
            utterances.push(Utterance { turn: number, name: turn.name, part: None });
            for item in &turn.items {
                let part = match item {
                    Item::Text(text, _) => ContentPart::Text(text.clone().into_owned()),
                    Item::Data(block) => cx.part(self.format, block, Role::User),
                    Item::Hint(hint) => {
                        // A hint has no sender. It becomes a user message between two parts of the history.
                        let parts = cx.hint(self.format, hint);
                        let is_empty = |part: &ContentPart| matches!(part, ContentPart::Text(text) if text.is_empty());
                        if !parts.iter().all(is_empty) {
                            self.flush(&mut utterances);
                            self.messages.extend(self.format.user(parts));
                        }
                        continue;
                    }
                    // A group without tools has no calls or results.
                    Item::Thinking(_) | Item::Call(_) | Item::Result(_) => continue,
                };
                utterances.push(Utterance { turn: number, name: turn.name, part: Some(part) });
            }
            if self.form == MultiAgent::Brackets {
                self.flush(&mut utterances);
            }
        }
        self.flush(&mut utterances);
    }

    fn flush(&mut self, utterances: &mut Vec<Utterance<'_>>) {
        let utterances = std::mem::take(utterances);
        match self.form {
            MultiAgent::Brackets => self.messages.extend(self.in_brackets(utterances)),
            MultiAgent::History => {
                let prompt = if self.is_first { self.prompt } else { "" };
                let parts = self.history(utterances, prompt);
                if let Some(message) = self.format.user(parts) {
                    self.is_first = false;
                    self.messages.push(message);
                }
            }
        }
    }

    fn in_brackets(&self, utterances: Vec<Utterance<'_>>) -> Option<ObjectBuilder> {
        let name = utterances.first().map_or("", |first| first.name);
        let mut texts = Vec::new();
        let mut media = Vec::new();
        for part in utterances.into_iter().filter_map(|utterance| utterance.part) {
            match part {
                ContentPart::Text(text) => texts.push(text),
                ContentPart::Media(_) => media.push(part),
            }
        }
        if texts.is_empty() && media.is_empty() {
            return None;
        }
        let text = texts.join("\n");
        let text = if name.is_empty() { text } else { format!("[{name}]: {text}") };
        if media.is_empty() {
            return self.format.user_text(text);
        }
        media.insert(0, ContentPart::Text(text));
        self.format.user(media)
    }

    fn history(&self, utterances: Vec<Utterance<'_>>, prompt: &str) -> Vec<ContentPart> {
        let HistoryStyle { line, media } = self.format.history();
        match media {
            MediaPosition::Last { tags_without_text } => media_last(utterances, line, tags_without_text, prompt),
            MediaPosition::InPlace => media_in_place(utterances, line, prompt),
            MediaPosition::AfterName => media_after_name(utterances, prompt),
        }
    }
}

fn media_last(
    utterances: Vec<Utterance<'_>>,
    line: HistoryLine,
    tags_without_text: bool,
    prompt: &str,
) -> Vec<ContentPart> {
    let (media, texts): (Vec<_>, Vec<_>) =
        utterances.into_iter().partition(|utterance| matches!(utterance.part, Some(ContentPart::Media(_))));
    let lines = lines(&texts, line);
    let mut parts: Vec<ContentPart> = media.into_iter().filter_map(|media| media.part).collect();
    if !lines.is_empty() || (tags_without_text && !parts.is_empty()) {
        parts.insert(0, ContentPart::Text(format!("{prompt}{OPEN}{}\n{CLOSE}", lines.join("\n"))));
    }
    parts
}

fn media_in_place(utterances: Vec<Utterance<'_>>, line: HistoryLine, prompt: &str) -> Vec<ContentPart> {
    let mut parts = Vec::new();
    let mut texts = Vec::new();
    for mut one in utterances {
        match one.part.take() {
            Some(media @ ContentPart::Media(_)) => {
                push_lines(&mut parts, &mut texts, line);
                parts.push(media);
            }
            part => texts.push(Utterance { part, ..one }),
        }
    }
    push_lines(&mut parts, &mut texts, line);
    if parts.is_empty() {
        return parts;
    }
    match parts.first_mut() {
        Some(ContentPart::Text(text)) => text.insert_str(0, &format!("{prompt}{OPEN}")),
        _ => parts.insert(0, ContentPart::Text(format!("{prompt}{OPEN}"))),
    }
    match parts.last_mut() {
        Some(ContentPart::Text(text)) => *text = format!("{text}\n{CLOSE}"),
        _ => parts.push(ContentPart::Text(CLOSE.to_owned())),
    }
    parts
}

fn push_lines(parts: &mut Vec<ContentPart>, texts: &mut Vec<Utterance<'_>>, line: HistoryLine) {
    let lines = lines(texts, line);
    texts.clear();
    if !lines.is_empty() {
        parts.push(ContentPart::Text(lines.join("\n")));
    }
}

fn media_after_name(utterances: Vec<Utterance<'_>>, prompt: &str) -> Vec<ContentPart> {
    let mut parts = Vec::new();
    let mut text = format!("{prompt}{OPEN}");
    let mut is_empty = true;
    for Utterance { name, part, .. } in utterances {
        let Some(part) = part else { continue };
        is_empty = false;
        match part {
            ContentPart::Text(part) => text.push_str(&format!("{name}: {part}\n")),
            media @ ContentPart::Media(_) => {
                text.push_str(&format!("{name}: "));
                parts.push(ContentPart::Text(std::mem::replace(&mut text, "\n".to_owned())));
                parts.push(media);
            }
        }
    }
    if is_empty {
        return Vec::new();
    }
    parts.push(ContentPart::Text(text + CLOSE));
    parts
}

/// Returns the lines of the history, without media.
fn lines(utterances: &[Utterance<'_>], line: HistoryLine) -> Vec<String> {
    let text = |utterances: &Utterance<'_>| match &utterances.part {
        Some(ContentPart::Text(text)) => Some(text.clone()),
        Some(ContentPart::Media(_)) | None => None,
    };
    if line == HistoryLine::PerBlock {
        let named = utterances.iter().filter_map(|one| Some((one.name, text(one)?)));
        return named.map(|(name, text)| format!("{name}: {text}")).collect();
    }
    let mut lines = Vec::new();
    for message in utterances.chunk_by(|left, right| left.turn == right.turn) {
        let texts: Vec<String> = message.iter().filter_map(text).collect();
        let name = message.first().map_or("", |first| first.name);
        match line {
            HistoryLine::PerBlock => {}
            HistoryLine::PerMessage { bare_names: false } if texts.is_empty() => {}
            HistoryLine::PerMessage { bare_names: false } => {
                let name = if name.is_empty() { "Agent" } else { name };
                lines.push(format!("{name}: {}", texts.join(" ")));
            }
            HistoryLine::PerMessage { bare_names: true } => lines.extend(named(name, texts, " ")),
            HistoryLine::Stacked => lines.extend(named(name, texts, "\n")),
        }
    }
    lines
}

/// Returns `name:` and the texts. `None` if both are empty.
fn named(name: &str, texts: Vec<String>, separator: &str) -> Option<String> {
    let name = (!name.is_empty()).then(|| format!("{name}:"));
    let words: Vec<String> = name.into_iter().chain(texts).collect();
    (!words.is_empty()).then(|| words.join(separator))
}
