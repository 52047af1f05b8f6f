//! Laws of the dialects for arbitrary text.

use recount_dialect::{Dialect, StreamReader};
use recount_message::check::{Checker, Severity};
use recount_message::{DecodeError, EventKind, Json, Object};

use super::{Verdict, ensure};

/// The maximum number of lines that are read as a stream.
const MAX_LINES: usize = 40;

/// A decoded value is unchanged after encoding and decoding it again, regardless of the order of its keys. The stream reader
/// for Java returns a legal stream for any lines.
///
/// # Errors
///
/// If the law is violated.
pub fn dialect_round_trip(dialect: Dialect, bytes: &[u8]) -> Verdict {
    let Ok(text) = std::str::from_utf8(bytes) else { return Ok(()) };
    if let Ok(message) = dialect.read_message(text) {
        let written = dialect.write_message(&message);
        let again = dialect.read_message(&written).map(|again| (again.to_json(), dialect.write_message(&again)));
        same("message", again, &message.to_json(), &written)?;
    }
    if let Ok(block) = dialect.read_block(text) {
        let written = dialect.write_block(&block);
        let again = dialect.read_block(&written).map(|again| (again.to_json(), dialect.write_block(&again)));
        same("block", again, &block.to_json(), &written)?;
    }
    if let Ok(event) = dialect.read_event(text) {
        let written = dialect.write_event(&event);
        let again = dialect.read_event(&written).map(|again| (again.to_json(), dialect.write_event(&again)));
        same("event", again, &event.to_json(), &written)?;
    }
    put_in_order(dialect, text)
}

/// Compares a value with its re-decoded copy, and the encodings of both. Metadata about the original formatting is ignored.
fn same(what: &str, again: Result<(String, String), DecodeError>, before: &str, written: &str) -> Verdict {
    match again {
        Ok((again, rewritten)) => {
            let is_same = sorted(&again, &["recount"]) == sorted(before, &["recount"]);
            ensure!(is_same, "the {what} changed in {written}:\n{before}\n{again}");
            ensure!(
                sorted(&rewritten, &[]) == sorted(written, &[]),
                "the encoding of a {what} changed:\n{written}\n{rewritten}"
            );
        }
        Err(error) => ensure!(false, "a {what} cannot be decoded again: {error}: {written}"),
    }
    Ok(())
}

/// Returns JSON with sorted keys, without some of them. For a repeated key, the last value counts.
fn sorted(json: &str, without: &[&str]) -> String {
    Json::parse(json).map_or_else(|_| json.to_owned(), |json| sorted_value(&json, without).to_string())
}

fn sorted_value(json: &Json, without: &[&str]) -> Json {
    if let Some(object) = json.to_object() {
        let fields = object.iter().filter(|(name, _)| !without.contains(name));
        let mut fields: Vec<(String, Json)> =
            fields.map(|(name, value)| (name.to_owned(), sorted_value(value, without))).collect();
        fields.reverse();
        fields.sort_by(|one, other| one.0.cmp(&other.0));
        fields.dedup_by(|one, other| one.0 == other.0);
        return fields.into_iter().collect::<Object>().into();
    }
    match json.to_array() {
        Some(list) => list.iter().map(|item| sorted_value(item, without)).collect::<Vec<_>>().into(),
        None => json.clone(),
    }
}

/// Checks that the stream reader for Java returns a legal stream.
fn put_in_order(dialect: Dialect, text: &str) -> Verdict {
    if !matches!(dialect, Dialect::Java | Dialect::Java1) {
        return Ok(());
    }
    let mut reader = StreamReader::new(dialect);
    let mut events = Vec::new();
    for line in text.lines().take(MAX_LINES) {
        // Lines that Recount wrote are passed through unchanged.
        if !line.contains("recount") {
            events.extend(reader.push(line).unwrap_or_default());
        }
    }
    events.extend(reader.finish());
    let mut checker = Checker::new();
    for event in &events {
        if let Some(finding) = checker.event(event).into_iter().find(|finding| finding.severity == Severity::Error) {
            // Complete messages and signals may have any content, and invalid base64 is passed through.
            let is_free = matches!(event.kind, EventKind::Custom(_)) || finding.code == "bad_data";
            ensure!(is_free, "{}: {}: {}", finding.code, finding.message, event.to_json());
        }
    }
    Ok(())
}
