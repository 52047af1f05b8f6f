//! Base64 that grows: pieces are joined to a text without decoding what is there already.

use base64::Engine;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD};

/// Takes padded base64 whose last character has bits that say nothing, as every other decoder does.
const LENIENT: GeneralPurpose =
    GeneralPurpose::new(&base64::alphabet::STANDARD, GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true));

/// What a message that somebody made by hand may hold.
const NOT_BASE64: &str = "what is there already is not base64";

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
    let mut bytes = decode(text.get(group..).ok_or(NOT_BASE64)?)?;
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
    append_last_group(text, piece)
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
    match (padding, (text.len() + piece.len()) % 4) {
        (1 | 2, 0) => append_last_group(text, piece),
        // Without padding the text goes on; after one character of two the second is still to come.
        (0, _) | (1, 3) => {
            text.push_str(piece);
            Ok(())
        }
        _ => Err("the padding does not end a group of four characters".to_owned()),
    }
}

/// Appends a piece that completes a group with padding. The group is written anew, because the character before the
/// padding may have bits that say nothing.
fn append_last_group(text: &mut String, piece: &str) -> Result<(), String> {
    let joined = [text.get(text.len().saturating_sub(3)..).unwrap_or_default(), piece].concat();
    let group = joined.len().checked_sub(4).and_then(|start| joined.get(start..)).ok_or(NOT_BASE64)?;
    let bytes = decode(group)?;
    let start = (text.len() + piece.len()).saturating_sub(group.len());
    text.push_str(piece);
    text.truncate(start);
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
            ("A==", "="),
            ("aaaéaa=", "QUJD"),
            ("aaaé", "a=="),
            ("é=", "QUJD"),
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
