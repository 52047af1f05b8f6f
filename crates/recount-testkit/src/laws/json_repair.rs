//! Laws of parsing an object with repairs.

use recount_message::Object;
use recount_model::repair::{self, Repair};

use super::{Verdict, ensure, ensure_same};

/// Valid JSON is not changed, repaired text is valid JSON, and the reported repairs are correct.
///
/// # Errors
///
/// If the law is violated.
pub fn repair_keeps_valid_json(text: &str) -> Verdict {
    let strict = Object::parse(text);
    match (strict, repair::parse_object(text)) {
        (Ok(object), read) => {
            let read = read.map_err(|error| super::Broken::new(format!("{text}: {error}")))?;
            ensure_same!(read.object, object, "an object that was JSON already");
            ensure!(read.repairs.is_empty(), "{text} is valid, but these repairs are reported: {:?}", read.repairs);
            as_fenced(text, &object)
        }
        (Err(_), Ok(read)) => {
            let blank = text.trim().is_empty();
            ensure!(blank || !read.repairs.is_empty(), "{text} was repaired, but no repair is reported");
            let again = Object::parse(&read.object.to_json()).ok();
            ensure_same!(again.as_ref(), Some(&read.object), "the repaired object, parsed again");
            Ok(())
        }
        (Err(_), Err(_)) => Ok(()),
    }
}

/// An object in a Markdown fence is parsed unchanged.
fn as_fenced(text: &str, object: &Object) -> Verdict {
    let fenced = format!("```json\n{text}\n```");
    let read = repair::parse_object(&fenced).map_err(|error| super::Broken::new(format!("{fenced}: {error}")))?;
    ensure_same!(&read.object, object, "an object in a fence");
    ensure_same!(read.repairs, [Repair::SurroundingText], "the repairs of an object in a fence");
    Ok(())
}

/// A JSON object that is truncated at any position can be parsed, and the result is a prefix of the object.
///
/// # Errors
///
/// If the law is violated.
pub fn repair_completes_truncated_json(text: &str) -> Verdict {
    let Ok(whole) = Object::parse(text) else { return Ok(()) };
    let start = text.len() - text.trim_start().len() + 1;
    let end = text.trim_end().len();
    for cut in (start..end).filter(|&at| text.is_char_boundary(at)) {
        let part = text.get(..cut).unwrap_or_default();
        let read = repair::parse_object(part).map_err(|error| super::Broken::new(format!("{part}: {error}")))?;
        ensure_same!(read.repairs, [Repair::Truncated], "the repairs of {part}");
        let complete = read.object.len().saturating_sub(1);
        ensure!(read.object.len() <= whole.len(), "{part} became {}", read.object);
        for (index, (read, was)) in read.object.iter().zip(whole.iter()).enumerate() {
            ensure_same!(read.0, was.0, "a key of {part}");
            ensure!(index >= complete || read.1 == was.1, "{part} became {}", read.1);
        }
    }
    Ok(())
}
