//! The JSON scanner and `serde_json` accept the same texts.

use recount_message::{DecodeErrorKind, Json, MAX_DEPTH, Object};
use serde_json::Value;
use serde_json::value::RawValue;

use super::{Broken, Verdict, ensure, ensure_same};

/// The scanner accepts the texts that `serde_json` accepts, except for two limits that have errors of their own, and keeps
/// the value.
///
/// # Errors
///
/// If the law is violated.
pub fn scanner_agrees_with_serde_json(text: &str) -> Verdict {
    // Like the scanner, `RawValue` checks the grammar only, and neither the range of numbers nor surrogates.
    let grammar = serde_json::from_str::<&RawValue>(text);
    let value = serde_json::from_str::<Value>(text);
    match Json::parse(text) {
        Ok(json) => {
            ensure!(grammar.is_ok(), "the scanner accepts what serde_json rejects: {text:?}");
            ensure!(nesting(text) <= MAX_DEPTH, "the scanner accepts a text that is nested too deeply: {text:?}");
            if let Err(error) = &value {
                let known = ["number out of range", "recursion limit"];
                let problem = error.to_string();
                ensure!(known.iter().any(|known| problem.starts_with(known)), "serde_json: {problem}: {text:?}");
            }
            value_round_trip(text, &json)?;
        }
        Err(error) => match error.kind() {
            DecodeErrorKind::Syntax => {
                ensure!(grammar.is_err(), "the scanner rejects what serde_json accepts: {error}: {text:?}");
            }
            DecodeErrorKind::TooDeep => {
                ensure!(nesting(text) > MAX_DEPTH, "the scanner reports that {text:?} is nested too deeply");
            }
            DecodeErrorKind::LoneSurrogate => {
                ensure!(value.is_err(), "the scanner reports a lone surrogate, serde_json does not: {text:?}");
            }
            other => return Err(Broken::new(format!("{other:?} is not an error of the scanner: {error}: {text:?}"))),
        },
    }
    objects_agree(text)
}

/// The canonical text of a value decodes to the same value, and is its own canonical text.
///
/// # Errors
///
/// If the law is violated.
pub fn value_round_trip(text: &str, json: &Json) -> Verdict {
    let canonical = json.as_raw();
    ensure!(!canonical.contains(['\n', '\r', '\t']), "white space in {canonical:?}");
    ensure_same!(Json::parse(canonical).ok().as_ref(), Some(json), "the canonical text of {text:?}, read again");
    if let Ok(value) = serde_json::from_str::<Value>(text) {
        let again = serde_json::from_str::<Value>(canonical).ok();
        ensure_same!(again, Some(value), "the value of {text:?}");
    }
    ensure_same!(serde_json::to_string(json).ok().as_deref(), Some(canonical), "the text that serde_json writes");
    Ok(())
}

/// `Object` and `serde` accept the same texts as `Json`.
fn objects_agree(text: &str) -> Verdict {
    let json = Json::parse(text).ok();
    let object = json.as_ref().and_then(Json::to_object).map(|object| object.to_json());
    ensure_same!(Object::parse(text).ok().map(|object| object.to_json()), object, "Object and Json of {text:?}");
    ensure_same!(serde_json::from_str::<Json>(text).ok(), json, "Json through serde of {text:?}");
    let elements = json.as_ref().and_then(Json::to_array).map(Json::from);
    if let Some(elements) = elements {
        ensure_same!(Some(elements), json, "the elements of {text:?}");
    }
    Ok(())
}

/// Returns the nesting depth of a JSON text.
fn nesting(text: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    let mut in_string = false;
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => in_string = !in_string,
            b'\\' if in_string => {
                bytes.next();
            }
            b'[' | b'{' if !in_string => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}
