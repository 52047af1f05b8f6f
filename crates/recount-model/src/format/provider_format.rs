//! What each provider's form is made of, and the steps that they share.

use std::borrow::Cow;

use recount_message::{ContentBlock, DataBlock, MediaBlock, Msg, Payload, Role};

use super::input_types::InputTypes;
use super::json_builder::{JsonBuilder, ObjectBuilder};
use super::media::{Datum, Fetch, Media, MediaRef, Sent};
use super::multi_agent::History;
use super::request::RequestDraft;
use super::turns::{CallResult, CallRules, Said, Turn};
use super::warning::{FormatWarning, FormatWarningKind};

/// How one provider wants its messages.
pub(crate) trait ProviderFormat {
    /// The media that it takes unless told otherwise.
    fn input_types(&self) -> &'static [&'static str];

    /// What it takes for the ids and names of calls.
    fn call_rules(&self) -> CallRules;

    /// Whether it has a form for media of a type in a message of a role, and who fetches it then.
    fn fetch(&self, media_type: &str, role: Role) -> Option<Fetch>;

    /// Whether data is more than it takes.
    fn is_too_large(&self, _: &Datum<'_>, _base64: &str) -> bool {
        false
    }

    /// The form of media that can be sent.
    fn media(&self, datum: &Datum<'_>, sent: &Sent<'_>) -> JsonBuilder;

    /// The messages of a conversation between a user and one agent.
    fn chat(&self, turns: &[Turn<'_>], cx: &mut Context<'_>) -> Vec<ObjectBuilder>;

    /// The system prompt of a conversation of several agents.
    fn system(&self, text: String) -> ObjectBuilder;

    /// A user's message.
    fn user(&self, parts: Vec<Part>) -> Option<ObjectBuilder>;

    /// A user's message that is one plain text.
    fn user_text(&self, text: String) -> Option<ObjectBuilder> {
        self.user(vec![Part::Text(text)])
    }

    /// How it has a conversation of several agents told.
    fn history(&self) -> History;

    /// The body of a whole request.
    fn body(&self, draft: RequestDraft<'_>) -> ObjectBuilder;
}

/// A part of a message's content.
#[derive(Debug, Clone)]
pub(crate) enum Part {
    Text(String),
    Media(JsonBuilder),
}

/// What a formatter has at hand while it works.
pub(crate) struct Context<'a> {
    pub(crate) media: &'a Media,
    pub(crate) input: &'a InputTypes,
    pub(crate) warnings: &'a mut Vec<FormatWarning>,
}

impl Context<'_> {
    /// Data in a message, or the text that stands in its place.
    pub(crate) fn part(&mut self, dialect: &dyn ProviderFormat, block: &DataBlock, role: Role) -> Part {
        let datum = Datum::of(block);
        match self.sent(dialect, &datum, role) {
            Ok(tree) => Part::Media(tree),
            Err(text) => Part::Text(text),
        }
    }

    /// Data in a message whose role may show nothing, though a user may: a text in its place says what `shown`, which
    /// goes into a user's message, holds.
    pub(crate) fn show(
        &mut self,
        dialect: &dyn ProviderFormat,
        block: &DataBlock,
        role: Role,
        parts: &mut Vec<Part>,
        shown: &mut Vec<Part>,
    ) {
        let datum = Datum::of(block);
        let only_users =
            dialect.fetch(&datum.media_type, role).is_none() && self.takes(dialect, &datum, Role::User).is_some();
        if !only_users {
            parts.push(self.part(dialect, block, role));
            return;
        }
        match self.sent(dialect, &datum, Role::User) {
            Err(text) => parts.push(Part::Text(text)),
            Ok(tree) => {
                let (id, kind) = (&block.id, datum.main_type());
                let text = format!("A(n) {kind} file will be presented to you with the identifier [{id}].");
                parts.push(Part::Text(reminder(&text).into_owned()));
                if shown.is_empty() {
                    shown.push(Part::Text(LISTED.to_owned()));
                } else {
                    // The end of the list moves.
                    shown.pop();
                }
                shown.extend([
                    Part::Text(format!("- {id} ({kind} file): ")),
                    Part::Media(tree),
                    Part::Text(LISTED_END.to_owned()),
                ]);
            }
        }
    }

    /// The parts of a hint.
    pub(crate) fn hint(&mut self, dialect: &dyn ProviderFormat, said: &[Said<'_>]) -> Vec<Part> {
        said.iter()
            .map(|said| match said {
                Said::Text(text) => Part::Text(text.clone().into_owned()),
                Said::Data(block) => self.part(dialect, block, Role::User),
            })
            .collect()
    }

    /// The form of data, or the text that says why it is missing.
    fn sent(&mut self, dialect: &dyn ProviderFormat, datum: &Datum<'_>, role: Role) -> Result<JsonBuilder, String> {
        let Some(fetch) = self.takes(dialect, datum, role) else {
            self.note(datum, FormatWarningKind::UnsupportedMedia { media_type: datum.media_type.clone().into_owned() });
            return Err(format!("[{} attached, not supported by this provider]", datum.media_type));
        };
        let Some(sent) = datum.send(fetch, self.media) else {
            self.note(datum, FormatWarningKind::UnreadableMedia { url: datum.url().unwrap_or_default().to_owned() });
            return Err(format!("[{} attached, could not be read]", datum.media_type));
        };
        if matches!(sent, Sent::Base64(base64) if dialect.is_too_large(datum, base64)) {
            self.note(datum, FormatWarningKind::MediaTooLarge { media_type: datum.media_type.clone().into_owned() });
            return Err(format!("[{} attached, too large for this provider]", datum.media_type));
        }
        Ok(dialect.media(datum, &sent))
    }

    fn takes(&self, dialect: &dyn ProviderFormat, datum: &Datum<'_>, role: Role) -> Option<Fetch> {
        let fetch = dialect.fetch(&datum.media_type, role)?;
        self.input.allow(&datum.media_type).then_some(fetch)
    }

    fn note(&mut self, datum: &Datum<'_>, loss: FormatWarningKind) {
        self.warnings.push(FormatWarning::new(&datum.block.id, loss));
    }

    /// Data in a tool's result, where the provider takes it there.
    ///
    /// # Errors
    ///
    /// The text that stands in its place.
    pub(crate) fn nested(
        &mut self,
        dialect: &dyn ProviderFormat,
        block: &DataBlock,
        instead: fn(&Datum<'_>) -> String,
    ) -> Result<JsonBuilder, String> {
        let datum = Datum::of(block);
        self.sent(dialect, &datum, Role::User).map_err(|_| instead(&datum))
    }

    /// A tool's result as text, and the media that it speaks of, for a user's message: the provider has no place for it
    /// in the result.
    pub(crate) fn result_text(&mut self, dialect: &dyn ProviderFormat, result: &CallResult<'_>) -> (String, Vec<Part>) {
        let mut lines: Vec<Cow<'_, str>> = Vec::new();
        let mut promoted = Vec::new();
        for said in &result.output {
            match said {
                Said::Text(text) => lines.push(Cow::Borrowed(text)),
                Said::Data(block) => {
                    let datum = Datum::of(block);
                    let (id, kind) = (&block.id, datum.main_type());
                    match self.sent(dialect, &datum, Role::User) {
                        Ok(tree) => {
                            lines.push(reminder(&format!(
                                "A(n) {kind} file is returned and will be presented to you with the identifier [{id}]."
                            )));
                            promoted.push(Part::Text(format!("- {id} ({kind} file): ")));
                            promoted.push(Part::Media(tree));
                        }
                        Err(_) => lines.push(unshown(&datum).into()),
                    }
                }
            }
        }
        if !promoted.is_empty() {
            promoted.insert(0, Part::Text(LISTED.to_owned()));
            promoted.push(Part::Text(LISTED_END.to_owned()));
        }
        (lines.join("\n"), promoted)
    }
}

const LISTED: &str = "<system-reminder>The multimodal data and their identifiers are listed as follows:";
const LISTED_END: &str = "</system-reminder>";

fn reminder(text: &str) -> Cow<'static, str> {
    Cow::Owned(format!("<system-reminder>{text}</system-reminder>"))
}

/// Says of data in a tool's result that it cannot be shown.
pub(crate) fn unshown(datum: &Datum<'_>) -> String {
    let kind = datum.main_type();
    let text = match datum.url() {
        Some(url) if !url.starts_with("data:") => {
            format!("A(n) {kind} file is returned and can be accessed at the URL: {url}.")
        }
        Some(_) | None => {
            format!("A(n) {kind} file of type {} is returned, which cannot be presented to you.", datum.media_type)
        }
    };
    reminder(&text).into_owned()
}

/// Takes the system messages at the beginning out of a request, which has a place of its own for what stands under
/// their `key`.
pub(crate) fn lift_system(messages: &mut Vec<ObjectBuilder>, key: &str) -> Vec<JsonBuilder> {
    let count = messages.iter().take_while(|message| message.text("role") == Some("system")).count();
    let contents = messages.drain(..count).filter_map(|mut message| message.remove(key));
    let parts = contents.flat_map(|content| match content {
        JsonBuilder::Array(parts) => parts,
        other => vec![other],
    });
    parts.collect()
}

/// The files and URLs that a dialect wants as bytes, each once.
pub(crate) fn required_media(dialect: &dyn ProviderFormat, input: &InputTypes, messages: &[Msg]) -> Vec<MediaRef> {
    let mut needed: Vec<MediaRef> = Vec::new();
    let mut look = |block: &DataBlock, role: Role| {
        let datum = Datum::of(block);
        let fetch = dialect.fetch(&datum.media_type, role).filter(|_| input.allow(&datum.media_type));
        let wanted = fetch.and_then(|fetch| datum.needed(fetch));
        needed.extend(wanted.filter(|wanted| !needed.iter().any(|known| known.url == wanted.url)));
    };
    for message in messages {
        for block in message.content() {
            let payload = match block {
                ContentBlock::Data(block) => {
                    look(block, message.role());
                    continue;
                }
                ContentBlock::Hint(block) => &block.hint,
                ContentBlock::ToolResult(block) => &block.output,
                _ => continue,
            };
            let Payload::Blocks(blocks) = payload else { continue };
            for block in blocks {
                if let MediaBlock::Data(block) = block {
                    look(block, Role::User);
                }
            }
        }
    }
    needed
}
