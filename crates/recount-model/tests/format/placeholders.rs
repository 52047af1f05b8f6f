//! Texts that replace media in both implementations. Without them, the results must be equal.

use serde_json::Value;

/// The texts removed from a result.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Taken {
    /// Texts about media that could not be sent.
    pub(crate) stand_ins: bool,
    /// Texts about files that were written.
    pub(crate) files: bool,
}

/// Removes the texts that replace media in messages, and unifies those in tool results.
pub(crate) fn plain(answer: &Value, taken: &mut Taken) -> Value {
    let messages = answer.as_array().into_iter().flatten();
    messages.filter_map(|message| plain_message(message, taken)).collect()
}

/// Returns the message, or `None` if nothing is left of it.
fn plain_message(message: &Value, taken: &mut Taken) -> Option<Value> {
    let mut own = Taken::default();
    let mut message = plain_value(message, &mut own);
    taken.stand_ins |= own.stand_ins;
    taken.files |= own.files;
    if !own.stand_ins {
        return Some(message);
    }
    let object = message.as_object_mut()?;
    let is_call = object.contains_key("tool_calls") || object.contains_key("call_id") || object.contains_key("images");
    let is_thought = object.get("reasoning_content").is_some_and(|thought| thought != "");
    let is_tool = object.get("role").is_some_and(|role| role == "tool");
    for key in ["content", "parts"] {
        if let Some(content) = object.get_mut(key).filter(|_| !is_tool) {
            let is_empty = match content {
                Value::Array(list) => list.is_empty(),
                Value::String(text) => text.is_empty(),
                Value::Null => true,
                _ => false,
            };
            // A message with only calls has no content, in either notation.
            if is_empty && is_call {
                *content = Value::Null;
            } else if is_empty && !is_thought {
                return None;
            }
        }
    }
    Some(message)
}

fn plain_value(value: &Value, taken: &mut Taken) -> Value {
    match value {
        Value::String(text) => plain_text(text, taken).into(),
        Value::Array(list) => list
            .iter()
            .map(|element| (element, plain_value(element, taken)))
            .filter(|(before, after)| before == &after || !is_empty_text(after))
            .map(|(_, after)| after)
            .collect(),
        Value::Object(object) => object
            .iter()
            .map(|(key, value)| (key.clone(), plain_value(value, taken)))
            .collect::<serde_json::Map<_, _>>()
            .into(),
        other => other.clone(),
    }
}

fn is_empty_text(part: &Value) -> bool {
    part["text"] == "" && part.as_object().is_some_and(|part| part.len() <= 2)
}

fn plain_text(text: &str, taken: &mut Taken) -> String {
    let mut lines = Vec::new();
    for line in text.split('\n') {
        match without_stand_ins(line) {
            None => lines.push(plain_file(line, taken)),
            Some(rest) => {
                taken.stand_ins = true;
                // A name without text is not a line.
                lines.extend(Some(rest).filter(|rest| !rest.is_empty() && !rest.ends_with(':')));
            }
        }
    }
    let text = lines.join("\n");
    // Drop an empty history.
    let is_history = text.ends_with("<history>\n</history>") || text.ends_with("<history>\nBob:\n</history>");
    if is_history && taken.stand_ins { String::new() } else { text }
}

/// Removes the text about media from a line. `None` if the line has no such text.
fn without_stand_ins(line: &str) -> Option<String> {
    let (before, after) = line.split_once(" attached, not supported by this provider]")?;
    let (before, _) = before.rsplit_once('[')?;
    let rest = format!("{}{after}", before.strip_suffix(' ').unwrap_or(before));
    Some(without_stand_ins(&rest).unwrap_or(rest))
}

/// Unifies the texts for a written file and for one that could not be sent.
fn plain_file(line: &str, taken: &mut Taken) -> String {
    let Some((start, rest)) = line.split_once(" file ") else { return line.to_owned() };
    let is_file = rest.starts_with("is returned and saved locally at: ")
        || (rest.starts_with("of type ") && rest.contains(" is returned, which cannot be presented to you."));
    if !(is_file && start.starts_with("<system-reminder>A(n) ")) {
        return line.to_owned();
    }
    taken.files = true;
    format!("{start} file")
}
