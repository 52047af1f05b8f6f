//! What stands in the place of what was left out.

use recount_message::Msg;

use crate::state::Compressed;

/// The message that a request has instead. It is the user's, since every provider takes those first.
pub(super) fn message(compressed: &Compressed) -> Msg {
    let mut text = "<system-reminder>The conversation is too long to be shown whole.".to_owned();
    if compressed.is_truncated {
        text.push_str(" Older messages were left out, and nobody has summarised them.");
    }
    if let Some(summary) = &compressed.summary {
        text.push_str(" This is what its beginning came to:\n");
        text.push_str(summary.trim());
    }
    if !compressed.transcript_files.is_empty() {
        let files: Vec<String> = compressed.transcript_files.iter().map(|path| format!("`{path}`")).collect();
        text.push_str(&format!(
            "\nWhat was said word by word is in {}: use `grep` or `read` there before you ask again.",
            files.join(", ")
        ));
    }
    text.push_str("</system-reminder>");
    Msg::user("user", text)
}
