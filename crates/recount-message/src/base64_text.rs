//! Base64 that grows: pieces are joined to a text without decoding what is there already.

use base64::Engine;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD};

/// Takes padded base64 whose last character has bits that say nothing, as every other decoder does.
const LENIENT: GeneralPurpose =
    GeneralPurpose::new(&base64::alphabet::STANDARD, GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true));

/// Appends a piece to a text.
///
/// A text that ends in whole padding is complete, so the piece is another base64 text and both are joined as bytes. Any other
/// text goes on, wherever it was cut. Either way only the piece and the last four characters are looked at.
///
/// # Errors
///
/// When the piece cannot be decoded. The text is left as it was.
pub(crate) fn append(text: &mut String, piece: &str) -> Result<(), String> {
    if piece.is_empty() {
        return Ok(());
    }
    match (text.ends_with('='), text.len().is_multiple_of(4)) {
        (true, true) => append_bytes(text, piece),
        (true, false) => append_padding(text, piece),
        (false, _) => append_text(text, piece),
    }
}

/// Joins a piece that is complete by itself to a text that ends in padding.
fn append_bytes(text: &mut String, piece: &str) -> Result<(), String> {
    let group = text.len().saturating_sub(4);
    let mut bytes = decode(text.get(group..).unwrap_or_default())?;
    bytes.extend(decode(piece)?);
    text.truncate(group);
    STANDARD.encode_string(bytes, text);
    Ok(())
}

/// Completes a text that was cut between its two padding characters.
fn append_padding(text: &mut String, piece: &str) -> Result<(), String> {
    if piece != "=" {
        return Err("the padding before it is not complete".to_owned());
    }
    text.push('=');
    rewrite_last_group(text)
}

/// Carries a text on that was cut anywhere.
fn append_text(text: &mut String, piece: &str) -> Result<(), String> {
    let digits = piece.trim_end_matches('=');
    let padding = piece.len() - digits.len();
    // Without branches, so that the compiler looks at many bytes at once.
    let clean = digits
        .bytes()
        .fold(true, |clean, byte| clean & (byte.is_ascii_alphanumeric() | (byte == b'+') | (byte == b'/')));
    if !clean {
        let bad = digits.chars().find(|&character| !is_digit(character)).unwrap_or('=');
        return Err(format!("{bad:?} is not a base64 character"));
    }
    if padding == 0 {
        text.push_str(piece);
        return Ok(());
    }
    let beyond_group = (text.len() + piece.len()) % 4;
    match (padding, beyond_group) {
        (1 | 2, 0) => {}
        // The second padding character is still to come.
        (1, 3) => {
            text.push_str(piece);
            return Ok(());
        }
        _ => return Err("the padding does not end a group of four characters".to_owned()),
    }
    let before = text.len();
    text.push_str(piece);
    let rewritten = rewrite_last_group(text);
    if rewritten.is_err() {
        text.truncate(before);
    }
    rewritten
}

/// Writes the last group anew, because the character before the padding may have bits that say nothing.
fn rewrite_last_group(text: &mut String) -> Result<(), String> {
    let group = text.len().saturating_sub(4);
    let bytes = decode(text.get(group..).unwrap_or_default())?;
    text.truncate(group);
    STANDARD.encode_string(bytes, text);
    Ok(())
}

/// Says what keeps a text from being whole base64, if anything does.
pub(crate) fn check_whole(text: &str) -> Result<(), String> {
    decode(text).map(|_| ())
}

fn is_digit(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '+' | '/')
}

fn decode(text: &str) -> Result<Vec<u8>, String> {
    LENIENT.decode(text).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pieces: &[&str], expected: &str) {
        let mut text = String::new();
        for piece in pieces {
            append(&mut text, piece).unwrap();
        }
        assert_eq!(text, expected);
    }

    #[test]
    fn padded_pieces_are_joined_as_bytes() {
        check(&["AAECAw==", "BAU="], "AAECAwQF");
        check(&["QQ==", "QQ==", "QQ=="], "QUFB");
        check(&["QUI=", "QQ==", "QUJD"], "QUJBQUJD");
    }

    #[test]
    fn pieces_cut_anywhere_go_on() {
        for cut in 0..=8 {
            let (before, after) = "AAECAw==".split_at(cut);
            check(&[before, after], "AAECAw==");
        }
        check(&["A", "A", "E", "C"], "AAEC");
    }

    #[test]
    fn bits_that_say_nothing_are_cleared() {
        check(&["QR=="], "QQ==");
        check(&["QR==", "QQ=="], "QUE=");
    }

    #[test]
    fn what_cannot_be_decoded_changes_nothing() {
        for (start, piece) in [
            ("AAEC", "AA\nA"),
            ("AAEC", "-_"),
            ("AAEC", "A==="),
            ("AAEC", "A="),
            ("AAE", "==="),
            ("AA=", "A"),
            ("AA=", "=A"),
            ("AAE", "A="),
            ("QQ==", "QU"),
            ("QQ==", "="),
            ("AAEC", "é"),
            ("AAEC", "AA==AA=="),
        ] {
            let mut text = start.to_owned();
            assert!(append(&mut text, piece).is_err(), "{start} + {piece}");
            assert_eq!(text, start);
        }
    }
}
