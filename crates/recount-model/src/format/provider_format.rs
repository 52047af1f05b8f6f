//! The interface of the provider-specific request formats, and the steps they share.

use std::borrow::Cow;

use recount_message::{ContentBlock, DataBlock, MediaBlock, Msg, Payload, Role};

use super::input_types::InputTypes;
use super::json_builder::{JsonBuilder, ObjectBuilder};
use super::media::{Attachment, AttachmentSource, FetchedBy, Media, MediaRef};
use super::multi_agent::HistoryStyle;
use super::request::RequestParts;
use super::turns::{CallResult, CallRules, PayloadPart, Turn};
use super::warning::{FormatWarning, FormatWarningKind};

/// The request format of a provider.
pub(crate) trait ProviderFormat {
    /// Returns the media types accepted by default.
    fn input_types(&self) -> &'static [&'static str];

    /// Returns the restrictions on ids and names of calls.
    fn call_rules(&self) -> CallRules;

    /// Returns who fetches media of a type in a message of a role. `None` if the provider does not accept it there.
    fn accepts_media(&self, media_type: &str, role: Role) -> Option<FetchedBy>;

    /// Whether media exceeds the provider's size limit.
    fn is_too_large(&self, _: &Attachment<'_>, _base64: &str) -> bool {
        false
    }

    /// Formats accepted media.
    fn media(&self, attachment: &Attachment<'_>, source: &AttachmentSource<'_>) -> JsonBuilder;

    /// Formats a conversation between a user and one agent.
    fn chat(&self, turns: &[Turn<'_>], cx: &mut Context<'_>) -> Vec<ObjectBuilder>;

    /// Formats the system prompt of a conversation with several agents.
    fn system(&self, text: String) -> ObjectBuilder;

    /// Formats a user message. `None` if it has no content.
    fn user(&self, parts: Vec<ContentPart>) -> Option<ObjectBuilder>;

    /// Formats a user message with only text.
    fn user_text(&self, text: String) -> Option<ObjectBuilder> {
        self.user(vec![ContentPart::Text(text)])
    }

    /// Returns the layout of the history of several agents.
    fn history(&self) -> HistoryStyle;

    /// Builds the body of a request.
    fn body(&self, request: RequestParts<'_>) -> ObjectBuilder;
}

/// A part of the content of a message.
#[derive(Debug, Clone)]
pub(crate) enum ContentPart {
    Text(String),
    Media(JsonBuilder),
}

/// The inputs and outputs shared by all steps of formatting.
pub(crate) struct Context<'a> {
    pub(crate) media: &'a Media,
    pub(crate) input: &'a InputTypes,
    pub(crate) warnings: &'a mut Vec<FormatWarning>,
}

impl Context<'_> {
    /// Formats media, or the text that replaces it.
    pub(crate) fn part(&mut self, format: &dyn ProviderFormat, block: &DataBlock, role: Role) -> ContentPart {
        let attachment = Attachment::of(block);
        match self.format_media(format, &attachment, role) {
            Ok(media) => ContentPart::Media(media),
            Err(text) => ContentPart::Text(text),
        }
    }

    /// Formats media in a message of a role that cannot contain it. If user messages can, the media goes to `moved`,
    /// for a later user message, and a text in `parts` refers to it.
    pub(crate) fn media_or_move(
        &mut self,
        format: &dyn ProviderFormat,
        block: &DataBlock,
        role: Role,
        parts: &mut Vec<ContentPart>,
        moved: &mut Vec<ContentPart>,
    ) {
        let attachment = Attachment::of(block);
        let only_users = format.accepts_media(&attachment.media_type, role).is_none()
            && self.acceptance(format, &attachment, Role::User).is_some();
        if !only_users {
            parts.push(self.part(format, block, role));
            return;
        }
        match self.format_media(format, &attachment, Role::User) {
            Err(text) => parts.push(ContentPart::Text(text)),
            Ok(media) => {
                let (id, kind) = (&block.id, attachment.main_type());
                let text = format!("A(n) {kind} file will be presented to you with the identifier [{id}].");
                parts.push(ContentPart::Text(reminder(&text).into_owned()));
                if moved.is_empty() {
                    moved.push(ContentPart::Text(LISTED.to_owned()));
                } else {
                    // Move the end of the list behind the new entry.
                    moved.pop();
                }
                moved.extend([
                    ContentPart::Text(format!("- {id} ({kind} file): ")),
                    ContentPart::Media(media),
                    ContentPart::Text(LISTED_END.to_owned()),
                ]);
            }
        }
    }

    /// Formats the parts of a hint.
    pub(crate) fn hint(&mut self, format: &dyn ProviderFormat, hint: &[PayloadPart<'_>]) -> Vec<ContentPart> {
        hint.iter()
            .map(|part| match part {
                PayloadPart::Text(text) => ContentPart::Text(text.clone().into_owned()),
                PayloadPart::Data(block) => self.part(format, block, Role::User),
            })
            .collect()
    }

    /// Formats media. The error is the text that replaces it.
    fn format_media(
        &mut self,
        format: &dyn ProviderFormat,
        attachment: &Attachment<'_>,
        role: Role,
    ) -> Result<JsonBuilder, String> {
        let Some(fetched_by) = self.acceptance(format, attachment, role) else {
            self.warn(
                attachment,
                FormatWarningKind::UnsupportedMedia { media_type: attachment.media_type.clone().into_owned() },
            );
            return Err(format!("[{} attached, not supported by this provider]", attachment.media_type));
        };
        let Some(source) = attachment.source(fetched_by, self.media) else {
            self.warn(
                attachment,
                FormatWarningKind::UnreadableMedia { url: attachment.url().unwrap_or_default().to_owned() },
            );
            return Err(format!("[{} attached, could not be read]", attachment.media_type));
        };
        if matches!(source, AttachmentSource::Base64(base64) if format.is_too_large(attachment, base64)) {
            self.warn(
                attachment,
                FormatWarningKind::MediaTooLarge { media_type: attachment.media_type.clone().into_owned() },
            );
            return Err(format!("[{} attached, too large for this provider]", attachment.media_type));
        }
        Ok(format.media(attachment, &source))
    }

    fn acceptance(&self, format: &dyn ProviderFormat, attachment: &Attachment<'_>, role: Role) -> Option<FetchedBy> {
        let fetched_by = format.accepts_media(&attachment.media_type, role)?;
        self.input.allows(&attachment.media_type).then_some(fetched_by)
    }

    fn warn(&mut self, attachment: &Attachment<'_>, kind: FormatWarningKind) {
        self.warnings.push(FormatWarning::new(&attachment.block.id, kind));
    }

    /// Formats media inside a tool result.
    ///
    /// # Errors
    ///
    /// The text that replaces the media.
    pub(crate) fn media_in_result(
        &mut self,
        format: &dyn ProviderFormat,
        block: &DataBlock,
        placeholder: fn(&Attachment<'_>) -> String,
    ) -> Result<JsonBuilder, String> {
        let attachment = Attachment::of(block);
        self.format_media(format, &attachment, Role::User).map_err(|_| placeholder(&attachment))
    }

    /// Formats a tool result as text, for providers without media in results. Returns the media for a user message, to
    /// which the text refers.
    pub(crate) fn result_text(
        &mut self,
        format: &dyn ProviderFormat,
        result: &CallResult<'_>,
    ) -> (String, Vec<ContentPart>) {
        let mut lines: Vec<Cow<'_, str>> = Vec::new();
        let mut promoted = Vec::new();
        for part in &result.output {
            match part {
                PayloadPart::Text(text) => lines.push(Cow::Borrowed(text)),
                PayloadPart::Data(block) => {
                    let attachment = Attachment::of(block);
                    let (id, kind) = (&block.id, attachment.main_type());
                    match self.format_media(format, &attachment, Role::User) {
                        Ok(media) => {
                            lines.push(reminder(&format!(
                                "A(n) {kind} file is returned and will be presented to you with the identifier [{id}]."
                            )));
                            promoted.push(ContentPart::Text(format!("- {id} ({kind} file): ")));
                            promoted.push(ContentPart::Media(media));
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

/// Returns the text that replaces media in a tool result.
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

/// Removes the leading system messages, for providers with a separate system field. Returns the values of their `key`.
pub(crate) fn take_system(messages: &mut Vec<ObjectBuilder>, key: &str) -> Vec<JsonBuilder> {
    let count = messages.iter().take_while(|message| message.text("role") == Some("system")).count();
    let contents = messages.drain(..count).filter_map(|mut message| message.remove(key));
    let parts = contents.flat_map(|content| match content {
        JsonBuilder::Array(parts) => parts,
        other => vec![other],
    });
    parts.collect()
}

/// Returns the files and URLs that the client must fetch, without duplicates.
pub(crate) fn required_media(format: &dyn ProviderFormat, input: &InputTypes, messages: &[Msg]) -> Vec<MediaRef> {
    let mut needed: Vec<MediaRef> = Vec::new();
    let mut add = |block: &DataBlock, role: Role| {
        let attachment = Attachment::of(block);
        let fetch = format.accepts_media(&attachment.media_type, role).filter(|_| input.allows(&attachment.media_type));
        let wanted = fetch.and_then(|fetch| attachment.required_fetch(fetch));
        needed.extend(wanted.filter(|wanted| !needed.iter().any(|known| known.url == wanted.url)));
    };
    for message in messages {
        for block in message.content() {
            let payload = match block {
                ContentBlock::Data(block) => {
                    add(block, message.role());
                    continue;
                }
                ContentBlock::Hint(block) => &block.hint,
                ContentBlock::ToolResult(block) => &block.output,
                _ => continue,
            };
            let Payload::Blocks(blocks) = payload else { continue };
            for block in blocks {
                if let MediaBlock::Data(block) = block {
                    add(block, Role::User);
                }
            }
        }
    }
    needed
}
