//! What every dialect promises about any text.

use recount_dialect::{Dialect, StreamReader};
use recount_message::check::{Checker, Severity};
use recount_message::{DecodeError, EventKind, Json, Object};

use super::{Verdict, ensure};

/// How many lines are read as a stream at most. Longer streams only take longer.
const MOST_LINES: usize = 40;

/// What can be read is the same after it was written and read again, whatever the order of its keys; and what a reader
/// makes of any lines of Java is a legal stream.
///
/// # Errors
///
/// When it is not.
pub fn translated(dialect: Dialect, bytes: &[u8]) -> Verdict {
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

/// What comes back says the same, and is written in the same way. How a text was spelled that only documents show need not
/// be remembered.
fn same(what: &str, again: Result<(String, String), DecodeError>, before: &str, written: &str) -> Verdict {
    match again {
        Ok((again, rewritten)) => {
            let is_same = sorted(&again, &["recount"]) == sorted(before, &["recount"]);
            ensure!(is_same, "another {what} came back by {written}:\n{before}\n{again}");
            ensure!(sorted(&rewritten, &[]) == sorted(written, &[]), "a {what} changes:\n{written}\n{rewritten}");
        }
        Err(error) => ensure!(false, "a {what} cannot be read again: {error}: {written}"),
    }
    Ok(())
}

/// The same JSON with its keys in order, without some. Of one that comes twice the last value counts.
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

/// The readers of Java's streams mend what they read.
fn put_in_order(dialect: Dialect, text: &str) -> Verdict {
    if !matches!(dialect, Dialect::Java | Dialect::Java1) {
        return Ok(());
    }
    let mut reader = StreamReader::new(dialect);
    let mut events = Vec::new();
    for line in text.lines().take(MOST_LINES) {
        // What Recount wrote itself is passed on as it is, mended or not.
        if !line.contains("recount") {
            events.extend(reader.push(line).unwrap_or_default());
        }
    }
    events.extend(reader.finish());
    let mut checker = Checker::new();
    for event in &events {
        if let Some(finding) = checker.event(event).into_iter().find(|finding| finding.severity == Severity::Error) {
            // Whole messages and signals may say anything, and base64 that is none stays what it is.
            let is_free = matches!(event.kind, EventKind::Custom(_)) || finding.code == "bad_data";
            ensure!(is_free, "{}: {}: {}", finding.code, finding.message, event.to_json());
        }
    }
    Ok(())
}
