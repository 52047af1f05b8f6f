//! Merging of two pieces of base64.

use recount_message::Base64Source;

use crate::base64_data::base64;

/// Merges two consecutive pieces. Returns `None` if no single piece is equivalent.
///
/// `text` is the base64 before them. Complete pieces are merged as bytes. Others are concatenated, unless padding ends the
/// text before or between them.
pub(super) fn merged(text: &str, first: &str, second: &str) -> Option<String> {
    if let (Some(mut bytes), Some(more)) = (complete(first), complete(second))
        && text.len().is_multiple_of(4)
    {
        bytes.extend(more);
        return Some(base64(&bytes));
    }
    let between = format!("{text}{first}");
    (!is_padded(text) && !is_padded(&between)).then(|| format!("{first}{second}"))
}

/// Returns the bytes of a piece that is valid base64 by itself.
fn complete(piece: &str) -> Option<Vec<u8>> {
    Base64Source::from_base64(piece, "").bytes().ok()
}

fn is_padded(text: &str) -> bool {
    text.ends_with('=') && text.len().is_multiple_of(4)
}
