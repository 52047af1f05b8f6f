//! The message that replaces the left-out part of the conversation.

use recount_message::Msg;

use crate::state::Compressed;

/// Returns the message. It has the role `user`, because some providers require the first message to be the user's.
pub(super) fn message(compressed: &Compressed) -> Msg {
    let mut text = "<system-reminder>The conversation is too long to be shown in full.".to_owned();
    if compressed.is_truncated {
        text.push_str(" Older messages were left out without a summary.");
    }
    if let Some(summary) = &compressed.summary {
        text.push_str(" This is a summary of its beginning:\n");
        text.push_str(summary.trim());
    }
    if !compressed.transcript_files.is_empty() {
        let files: Vec<String> = compressed.transcript_files.iter().map(|path| format!("`{path}`")).collect();
        text.push_str(&format!(
            "\nThe full text is in {}: use `grep` or `read` there before you ask again.",
            files.join(", ")
        ));
    }
    text.push_str("</system-reminder>");
    Msg::user("user", text)
}
