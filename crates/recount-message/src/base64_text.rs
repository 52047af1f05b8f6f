//! Appending to base64 without decoding the existing text.

use base64::Engine;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD};

/// Accepts padded base64 with nonzero unused bits in the last character, as most decoders do.
const LENIENT: GeneralPurpose =
    GeneralPurpose::new(&base64::alphabet::STANDARD, GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true));

/// The error if the existing text, which need not come from [`append`], is not base64.
const NOT_BASE64: &str = "the existing data is not base64";

/// Appends a piece of base64 to a text.
///
/// A text that ends with complete padding is complete, so the piece is a separate base64 text, and both are concatenated as
/// bytes. Any other text is continued at any character. In both cases only the piece and the last four characters are decoded.
///
/// # Errors
///
/// Fails if the piece cannot be decoded. The text is unchanged then.
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

/// Concatenates a complete piece and a text that ends with padding, as bytes.
fn append_bytes(text: &mut String, piece: &str) -> Result<(), String> {
    let group = text.len().saturating_sub(4);
    let mut bytes = decode(text.get(group..).ok_or(NOT_BASE64)?)?;
    bytes.extend(decode(piece)?);
    text.truncate(group);
    STANDARD.encode_string(bytes, text);
    Ok(())
}

/// Completes a text that was split between its two padding characters.
fn append_padding(text: &mut String, piece: &str) -> Result<(), String> {
    if piece != "=" {
        return Err("the padding before it is not complete".to_owned());
    }
    append_last_group(text, piece)
}

/// Continues a text that was split at any character.
fn append_text(text: &mut String, piece: &str) -> Result<(), String> {
    let digits = piece.trim_end_matches('=');
    let padding = piece.len() - digits.len();
    // No branches, so that the compiler vectorises the loop.
    let clean = digits
        .bytes()
        .fold(true, |clean, byte| clean & (byte.is_ascii_alphanumeric() | (byte == b'+') | (byte == b'/')));
    if !clean {
        let bad = digits.chars().find(|&character| !is_digit(character)).unwrap_or('=');
        return Err(format!("{bad:?} is not a base64 character"));
    }
    match (padding, (text.len() + piece.len()) % 4) {
        (1 | 2, 0) => append_last_group(text, piece),
        // A piece without padding can be continued. After one of two padding characters, the second follows.
        (0, _) | (1, 3) => {
            text.push_str(piece);
            Ok(())
        }
        _ => Err("the padding does not end a group of four characters".to_owned()),
    }
}

/// Appends a piece that completes a group with padding. The group is encoded again, to clear unused bits in the character
/// before the padding.
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

/// Checks that a text is complete base64.
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
    fn append_concatenates_padded_pieces_as_bytes() {
        check(&["AAECAw==", "BAU="], "AAECAwQF");
        check(&["QQ==", "QQ==", "QQ=="], "QUFB");
        check(&["QUI=", "QQ==", "QUJD"], "QUJBQUJD");
    }

    #[test]
    fn append_continues_pieces_split_at_any_character() {
        for cut in 0..=8 {
            let (before, after) = "AAECAw==".split_at(cut);
            check(&[before, after], "AAECAw==");
        }
        check(&["A", "A", "E", "C"], "AAEC");
    }

    #[test]
    fn append_clears_unused_bits() {
        check(&["QR=="], "QQ==");
        check(&["QR==", "QQ=="], "QUE=");
    }

    #[test]
    fn append_rejects_invalid_pieces_without_effect() {
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
