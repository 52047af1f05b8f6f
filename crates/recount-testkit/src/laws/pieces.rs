//! When two pieces of base64 can be made one.

use recount_message::Base64Source;

use crate::data::base64;

/// The piece that does what two pieces do one after the other, where there is one.
///
/// `text` is what was there before them. Pieces that are complete are joined as bytes. Others are pieces of one text,
/// and can be joined as such unless a padding ends the text before them or between them.
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

/// The bytes of a piece that needs no other.
fn complete(piece: &str) -> Option<Vec<u8>> {
    Base64Source::from_base64(piece, "").bytes().ok()
}

fn is_padded(text: &str) -> bool {
    text.ends_with('=') && text.len().is_multiple_of(4)
}
