//! Conversations of several agents: what they said to each other becomes something that is told to the model.
//!
//! Messages with calls or results stay as they are, since the provider has to see them as its own.

use recount_message::Role;

use super::json_builder::ObjectBuilder;
use super::provider_format::{Context, Part, ProviderFormat};
use super::turns::{Item, Turn};

/// How the words of several agents are told to a model, which knows only itself and a user.
///
/// ```
/// use recount_message::Msg;
/// use recount_model::Provider;
/// use recount_model::format::{Formatter, Media, MultiAgent};
///
/// let talk = [Msg::assistant("AgentA", "View A"), Msg::assistant("AgentB", "View B")];
/// let formatter = Formatter::new(Provider::DashScope).multi_agent(MultiAgent::Brackets);
/// let told: Vec<String> = formatter.format(&talk, &Media::new()).messages.iter().map(ToString::to_string).collect();
/// assert_eq!(told, [
///     r#"{"role":"user","content":"[AgentA]: View A"}"#,
///     r#"{"role":"user","content":"[AgentB]: View B"}"#,
/// ]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum MultiAgent {
    /// All that was said between two uses of tools is one user's message, within `<history>` tags.
    History,
    /// Each message is a user's message of its own that begins with `[name]: `.
    Brackets,
}

/// How a provider has the history told.
#[derive(Debug, Clone, Copy)]
pub(crate) struct History {
    pub(crate) line: Line,
    pub(crate) media: MediaPlace,
}

/// What one message looks like in the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Line {
    /// `name: text`, for each block of text.
    PerBlock,
    /// `name: text text`, for each message.
    PerMessage {
        /// Whether a message without text is still a line with its name.
        bare_names: bool,
    },
    /// `name:` and then each block of text on lines of its own.
    Stacked,
}

/// Where media stands in the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MediaPlace {
    /// After the history.
    Last {
        /// Whether a history without words still has its tags.
        tags_without_text: bool,
    },
    /// Where it was said.
    InPlace,
    /// Where it was said, after the name of who showed it.
    AfterName,
}

pub(crate) const HISTORY_PROMPT: &str =
    "# Conversation History\nThe content between <history></history> tags contains your conversation history\n";

const OPEN: &str = "<history>\n";
const CLOSE: &str = "</history>";

/// The messages of a conversation of several agents.
pub(crate) fn format(
    dialect: &dyn ProviderFormat,
    form: MultiAgent,
    prompt: &str,
    turns: &[Turn<'_>],
    cx: &mut Context<'_>,
) -> Vec<ObjectBuilder> {
    let mut teller = Teller { dialect, form, prompt, is_first: true, messages: Vec::new() };
    let rest = match turns.split_first() {
        Some((system, rest)) if system.role == Role::System => {
            teller.messages.extend(system_text(system).map(|text| dialect.system(text)));
            rest
        }
        _ => turns,
    };
    for group in rest.chunk_by(|left, right| left.has_tools == right.has_tools) {
        if group.first().is_some_and(|turn| turn.has_tools) {
            teller.messages.extend(dialect.chat(group, cx));
        } else {
            teller.tell(group, cx);
        }
    }
    teller.messages
}

/// The text of a system message; nothing where it has none, which no provider takes.
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

struct Teller<'a> {
    dialect: &'a dyn ProviderFormat,
    form: MultiAgent,
    prompt: &'a str,
    is_first: bool,
    messages: Vec<ObjectBuilder>,
}

/// What one agent said or showed.
struct Uttered<'a> {
    /// Counts the messages, so that the words of one can be put together.
    turn: usize,
    name: &'a str,
    /// Nothing for a message that is only a name so far.
    part: Option<Part>,
}

impl Teller<'_> {
    fn tell(&mut self, group: &[Turn<'_>], cx: &mut Context<'_>) {
        let mut uttered = Vec::new();
        for (number, turn) in group.iter().enumerate() {
            uttered.push(Uttered { turn: number, name: turn.name, part: None });
            for item in &turn.items {
                let part = match item {
                    Item::Text(text, _) => Part::Text(text.clone().into_owned()),
                    Item::Data(block) => cx.part(self.dialect, block, Role::User),
                    Item::Hint(said) => {
                        // Said to the agent and by none of them: a user's message between two parts of the history.
                        let parts = cx.hint(self.dialect, said);
                        let says_nothing = |part: &Part| matches!(part, Part::Text(text) if text.is_empty());
                        if !parts.iter().all(says_nothing) {
                            self.flush(&mut uttered);
                            self.messages.extend(self.dialect.user(parts));
                        }
                        continue;
                    }
                    // A group without tools has no calls and results.
                    Item::Thinking(_) | Item::Call(_) | Item::Result(_) => continue,
                };
                uttered.push(Uttered { turn: number, name: turn.name, part: Some(part) });
            }
            if self.form == MultiAgent::Brackets {
                self.flush(&mut uttered);
            }
        }
        self.flush(&mut uttered);
    }

    fn flush(&mut self, uttered: &mut Vec<Uttered<'_>>) {
        let uttered = std::mem::take(uttered);
        match self.form {
            MultiAgent::Brackets => self.messages.extend(self.in_brackets(uttered)),
            MultiAgent::History => {
                let prompt = if self.is_first { self.prompt } else { "" };
                let parts = self.history(uttered, prompt);
                if let Some(message) = self.dialect.user(parts) {
                    self.is_first = false;
                    self.messages.push(message);
                }
            }
        }
    }

    fn in_brackets(&self, uttered: Vec<Uttered<'_>>) -> Option<ObjectBuilder> {
        let name = uttered.first().map_or("", |first| first.name);
        let mut texts = Vec::new();
        let mut media = Vec::new();
        for part in uttered.into_iter().filter_map(|uttered| uttered.part) {
            match part {
                Part::Text(text) => texts.push(text),
                Part::Media(_) => media.push(part),
            }
        }
        if texts.is_empty() && media.is_empty() {
            return None;
        }
        let text = texts.join("\n");
        let text = if name.is_empty() { text } else { format!("[{name}]: {text}") };
        if media.is_empty() {
            return self.dialect.user_text(text);
        }
        media.insert(0, Part::Text(text));
        self.dialect.user(media)
    }

    fn history(&self, uttered: Vec<Uttered<'_>>, prompt: &str) -> Vec<Part> {
        let History { line, media } = self.dialect.history();
        match media {
            MediaPlace::Last { tags_without_text } => media_last(uttered, line, tags_without_text, prompt),
            MediaPlace::InPlace => media_in_place(uttered, line, prompt),
            MediaPlace::AfterName => media_after_name(uttered, prompt),
        }
    }
}

fn media_last(uttered: Vec<Uttered<'_>>, line: Line, tags_without_text: bool, prompt: &str) -> Vec<Part> {
    let (shown, said): (Vec<_>, Vec<_>) =
        uttered.into_iter().partition(|uttered| matches!(uttered.part, Some(Part::Media(_))));
    let lines = lines(&said, line);
    let mut parts: Vec<Part> = shown.into_iter().filter_map(|shown| shown.part).collect();
    if !lines.is_empty() || (tags_without_text && !parts.is_empty()) {
        parts.insert(0, Part::Text(format!("{prompt}{OPEN}{}\n{CLOSE}", lines.join("\n"))));
    }
    parts
}

fn media_in_place(uttered: Vec<Uttered<'_>>, line: Line, prompt: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut said = Vec::new();
    for mut one in uttered {
        match one.part.take() {
            Some(media @ Part::Media(_)) => {
                push_lines(&mut parts, &mut said, line);
                parts.push(media);
            }
            part => said.push(Uttered { part, ..one }),
        }
    }
    push_lines(&mut parts, &mut said, line);
    if parts.is_empty() {
        return parts;
    }
    match parts.first_mut() {
        Some(Part::Text(text)) => text.insert_str(0, &format!("{prompt}{OPEN}")),
        _ => parts.insert(0, Part::Text(format!("{prompt}{OPEN}"))),
    }
    match parts.last_mut() {
        Some(Part::Text(text)) => *text = format!("{text}\n{CLOSE}"),
        _ => parts.push(Part::Text(CLOSE.to_owned())),
    }
    parts
}

fn push_lines(parts: &mut Vec<Part>, said: &mut Vec<Uttered<'_>>, line: Line) {
    let lines = lines(said, line);
    said.clear();
    if !lines.is_empty() {
        parts.push(Part::Text(lines.join("\n")));
    }
}

fn media_after_name(uttered: Vec<Uttered<'_>>, prompt: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut text = format!("{prompt}{OPEN}");
    let mut is_empty = true;
    for Uttered { name, part, .. } in uttered {
        let Some(part) = part else { continue };
        is_empty = false;
        match part {
            Part::Text(said) => text.push_str(&format!("{name}: {said}\n")),
            media @ Part::Media(_) => {
                text.push_str(&format!("{name}: "));
                parts.push(Part::Text(std::mem::replace(&mut text, "\n".to_owned())));
                parts.push(media);
            }
        }
    }
    if is_empty {
        return Vec::new();
    }
    parts.push(Part::Text(text + CLOSE));
    parts
}

/// The lines of what was said, media left aside.
fn lines(uttered: &[Uttered<'_>], line: Line) -> Vec<String> {
    let text = |uttered: &Uttered<'_>| match &uttered.part {
        Some(Part::Text(text)) => Some(text.clone()),
        Some(Part::Media(_)) | None => None,
    };
    if line == Line::PerBlock {
        let said = uttered.iter().filter_map(|one| Some((one.name, text(one)?)));
        return said.map(|(name, text)| format!("{name}: {text}")).collect();
    }
    let mut lines = Vec::new();
    for message in uttered.chunk_by(|left, right| left.turn == right.turn) {
        let texts: Vec<String> = message.iter().filter_map(text).collect();
        let name = message.first().map_or("", |first| first.name);
        match line {
            Line::PerBlock => {}
            Line::PerMessage { bare_names: false } if texts.is_empty() => {}
            Line::PerMessage { bare_names: false } => {
                let name = if name.is_empty() { "Agent" } else { name };
                lines.push(format!("{name}: {}", texts.join(" ")));
            }
            Line::PerMessage { bare_names: true } => lines.extend(named(name, texts, " ")),
            Line::Stacked => lines.extend(named(name, texts, "\n")),
        }
    }
    lines
}

/// `name:` and the texts after it; nothing where there is neither.
fn named(name: &str, texts: Vec<String>, separator: &str) -> Option<String> {
    let name = (!name.is_empty()).then(|| format!("{name}:"));
    let words: Vec<String> = name.into_iter().chain(texts).collect();
    (!words.is_empty()).then(|| words.join(separator))
}
