//! What each provider's form is made of, and the steps that they share.

use std::borrow::Cow;

use recount_message::{ContentBlock, DataBlock, MediaBlock, Msg, Payload, Role};

use super::input_types::InputTypes;
use super::json_builder::{JsonBuilder, ObjectBuilder};
use super::media::{Attachment, AttachmentSource, FetchedBy, Media, MediaRef};
use super::multi_agent::HistoryStyle;
use super::request::RequestParts;
use super::turns::{CallResult, CallRules, PayloadPart, Turn};
use super::warning::{FormatWarning, FormatWarningKind};

/// How one provider wants its messages.
pub(crate) trait ProviderFormat {
    /// The media that it takes unless told otherwise.
    fn input_types(&self) -> &'static [&'static str];

    /// What it takes for the ids and names of calls.
    fn call_rules(&self) -> CallRules;

    /// Whether it has a form for media of a type in a message of a role, and who fetches it then.
    fn accepts_media(&self, media_type: &str, role: Role) -> Option<FetchedBy>;

    /// Whether data is more than it takes.
    fn is_too_large(&self, _: &Attachment<'_>, _base64: &str) -> bool {
        false
    }

    /// The form of media that can be sent.
    fn media(&self, attachment: &Attachment<'_>, sent: &AttachmentSource<'_>) -> JsonBuilder;

    /// The messages of a conversation between a user and one agent.
    fn chat(&self, turns: &[Turn<'_>], cx: &mut Context<'_>) -> Vec<ObjectBuilder>;

    /// The system prompt of a conversation of several agents.
    fn system(&self, text: String) -> ObjectBuilder;

    /// A user's message.
    fn user(&self, parts: Vec<ContentPart>) -> Option<ObjectBuilder>;

    /// A user's message that is one plain text.
    fn user_text(&self, text: String) -> Option<ObjectBuilder> {
        self.user(vec![ContentPart::Text(text)])
    }

    /// How it has a conversation of several agents told.
    fn history(&self) -> HistoryStyle;

    /// The body of a whole request.
    fn body(&self, request: RequestParts<'_>) -> ObjectBuilder;
}

/// A part of a message's content.
#[derive(Debug, Clone)]
pub(crate) enum ContentPart {
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
    pub(crate) fn part(&mut self, dialect: &dyn ProviderFormat, block: &DataBlock, role: Role) -> ContentPart {
        let attachment = Attachment::of(block);
        match self.sent(dialect, &attachment, role) {
            Ok(tree) => ContentPart::Media(tree),
            Err(text) => ContentPart::Text(text),
        }
    }

    /// Data in a message whose role may show nothing, though a user may: a text in its place says what `shown`, which
    /// goes into a user's message, holds.
    pub(crate) fn show(
        &mut self,
        dialect: &dyn ProviderFormat,
        block: &DataBlock,
        role: Role,
        parts: &mut Vec<ContentPart>,
        shown: &mut Vec<ContentPart>,
    ) {
        let attachment = Attachment::of(block);
        let only_users = dialect.accepts_media(&attachment.media_type, role).is_none()
            && self.takes(dialect, &attachment, Role::User).is_some();
        if !only_users {
            parts.push(self.part(dialect, block, role));
            return;
        }
        match self.sent(dialect, &attachment, Role::User) {
            Err(text) => parts.push(ContentPart::Text(text)),
            Ok(tree) => {
                let (id, kind) = (&block.id, attachment.main_type());
                let text = format!("A(n) {kind} file will be presented to you with the identifier [{id}].");
                parts.push(ContentPart::Text(reminder(&text).into_owned()));
                if shown.is_empty() {
                    shown.push(ContentPart::Text(LISTED.to_owned()));
                } else {
                    // The end of the list moves.
                    shown.pop();
                }
                shown.extend([
                    ContentPart::Text(format!("- {id} ({kind} file): ")),
                    ContentPart::Media(tree),
                    ContentPart::Text(LISTED_END.to_owned()),
                ]);
            }
        }
    }

    /// The parts of a hint.
    pub(crate) fn hint(&mut self, dialect: &dyn ProviderFormat, said: &[PayloadPart<'_>]) -> Vec<ContentPart> {
        said.iter()
            .map(|said| match said {
                PayloadPart::Text(text) => ContentPart::Text(text.clone().into_owned()),
                PayloadPart::Data(block) => self.part(dialect, block, Role::User),
            })
            .collect()
    }

    /// The form of data, or the text that says why it is missing.
    fn sent(
        &mut self,
        dialect: &dyn ProviderFormat,
        attachment: &Attachment<'_>,
        role: Role,
    ) -> Result<JsonBuilder, String> {
        let Some(fetch) = self.takes(dialect, attachment, role) else {
            self.note(
                attachment,
                FormatWarningKind::UnsupportedMedia { media_type: attachment.media_type.clone().into_owned() },
            );
            return Err(format!("[{} attached, not supported by this provider]", attachment.media_type));
        };
        let Some(sent) = attachment.send(fetch, self.media) else {
            self.note(
                attachment,
                FormatWarningKind::UnreadableMedia { url: attachment.url().unwrap_or_default().to_owned() },
            );
            return Err(format!("[{} attached, could not be read]", attachment.media_type));
        };
        if matches!(sent, AttachmentSource::Base64(base64) if dialect.is_too_large(attachment, base64)) {
            self.note(
                attachment,
                FormatWarningKind::MediaTooLarge { media_type: attachment.media_type.clone().into_owned() },
            );
            return Err(format!("[{} attached, too large for this provider]", attachment.media_type));
        }
        Ok(dialect.media(attachment, &sent))
    }

    fn takes(&self, dialect: &dyn ProviderFormat, attachment: &Attachment<'_>, role: Role) -> Option<FetchedBy> {
        let fetch = dialect.accepts_media(&attachment.media_type, role)?;
        self.input.allow(&attachment.media_type).then_some(fetch)
    }

    fn note(&mut self, attachment: &Attachment<'_>, loss: FormatWarningKind) {
        self.warnings.push(FormatWarning::new(&attachment.block.id, loss));
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
        instead: fn(&Attachment<'_>) -> String,
    ) -> Result<JsonBuilder, String> {
        let attachment = Attachment::of(block);
        self.sent(dialect, &attachment, Role::User).map_err(|_| instead(&attachment))
    }

    /// A tool's result as text, and the media that it speaks of, for a user's message: the provider has no place for it
    /// in the result.
    pub(crate) fn result_text(
        &mut self,
        dialect: &dyn ProviderFormat,
        result: &CallResult<'_>,
    ) -> (String, Vec<ContentPart>) {
        let mut lines: Vec<Cow<'_, str>> = Vec::new();
        let mut promoted = Vec::new();
        for said in &result.output {
            match said {
                PayloadPart::Text(text) => lines.push(Cow::Borrowed(text)),
                PayloadPart::Data(block) => {
                    let attachment = Attachment::of(block);
                    let (id, kind) = (&block.id, attachment.main_type());
                    match self.sent(dialect, &attachment, Role::User) {
                        Ok(tree) => {
                            lines.push(reminder(&format!(
                                "A(n) {kind} file is returned and will be presented to you with the identifier [{id}]."
                            )));
                            promoted.push(ContentPart::Text(format!("- {id} ({kind} file): ")));
                            promoted.push(ContentPart::Media(tree));
                        }
                        Err(_) => lines.push(media_placeholder(&attachment).into()),
                    }
                }
            }
        }
        if !promoted.is_empty() {
            promoted.insert(0, ContentPart::Text(LISTED.to_owned()));
            promoted.push(ContentPart::Text(LISTED_END.to_owned()));
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
pub(crate) fn media_placeholder(attachment: &Attachment<'_>) -> String {
    let kind = attachment.main_type();
    let text = match attachment.url() {
        Some(url) if !url.starts_with("data:") => {
            format!("A(n) {kind} file is returned and can be accessed at the URL: {url}.")
        }
        Some(_) | None => {
            format!("A(n) {kind} file of type {} is returned, which cannot be presented to you.", attachment.media_type)
        }
    };
    reminder(&text).into_owned()
}

/// Takes the system messages at the beginning out of a request, which has a place of its own for what stands under
/// their `key`.
pub(crate) fn take_system(messages: &mut Vec<ObjectBuilder>, key: &str) -> Vec<JsonBuilder> {
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
        let attachment = Attachment::of(block);
        let fetch = dialect.accepts_media(&attachment.media_type, role).filter(|_| input.allow(&attachment.media_type));
        let wanted = fetch.and_then(|fetch| attachment.needed(fetch));
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
