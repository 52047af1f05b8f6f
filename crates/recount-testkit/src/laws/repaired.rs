//! What is true of a text that is read as an object, with repairs.

use recount_message::Object;
use recount_model::repair::{self, Repair};

use super::{Verdict, ensure, ensure_same};

/// Any text: JSON is left as it is, what is mended is JSON, and what was said of it is true.
///
/// # Errors
///
/// When it is not so.
pub fn repaired(text: &str) -> Verdict {
    let strict = Object::parse(text);
    match (strict, repair::parse_object(text)) {
        (Ok(object), read) => {
            let read = read.map_err(|error| super::Broken::new(format!("{text}: {error}")))?;
            ensure_same!(read.object, object, "an object that was JSON already");
            ensure!(read.repairs.is_empty(), "{text} needed no repair, but {:?} is told", read.repairs);
            as_fenced(text, &object)
        }
        (Err(_), Ok(read)) => {
            let blank = text.trim().is_empty();
            ensure!(blank || !read.repairs.is_empty(), "{text} was repaired, and nothing is told");
            let again = Object::parse(&read.object.to_json()).ok();
            ensure_same!(again.as_ref(), Some(&read.object), "what was repaired, once more");
            Ok(())
        }
        (Err(_), Err(_)) => Ok(()),
    }
}

/// JSON that goes through the reader that repairs, because something stands around it, comes out as it went in.
fn as_fenced(text: &str, object: &Object) -> Verdict {
    let fenced = format!("```json\n{text}\n```");
    let read = repair::parse_object(&fenced).map_err(|error| super::Broken::new(format!("{fenced}: {error}")))?;
    ensure_same!(&read.object, object, "an object in a fence");
    ensure_same!(read.repairs, [Repair::SurroundingText], "the repairs of an object in a fence");
    Ok(())
}

/// A JSON object that breaks off anywhere can be read, and what is read is a beginning of it.
///
/// # Errors
///
/// When it is not so.
pub fn completed(text: &str) -> Verdict {
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
