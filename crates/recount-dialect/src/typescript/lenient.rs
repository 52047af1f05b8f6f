//! Parsing of texts that the package accepts and the native parser rejects. The package validates nothing.

use recount_message::{ContentBlock, DecodeError, Event, Json, Msg, MsgParts, Object, Role};

use crate::json::parse_fields;

/// Parses a message, ignoring which blocks its role allows.
pub(super) fn message(text: &str) -> Result<Msg, DecodeError> {
    Msg::from_json(text).or_else(|error| any_message(text).ok_or(error))
}

fn any_message(text: &str) -> Option<Msg> {
    let mut fields = parse_fields(text)?;
    let role = Role::from_name(fields.get("role")?.as_str()?)?;
    fields.insert("role", Role::Assistant.as_str());
    let message = Msg::from_json(&lowered(&fields).to_json()).ok()?;
    Some(match role {
        Role::Assistant => message,
        role => Msg::from_parts_lenient(MsgParts { role, ..message.into_parts() }),
    })
}

/// Parses a block.
pub(super) fn block(text: &str) -> Result<ContentBlock, DecodeError> {
    let read = |text: &str| ContentBlock::from_json(text, "", "");
    read(text)
        .or_else(|error| parse_fields(text).and_then(|fields| read(&lowered(&fields).to_json()).ok()).ok_or(error))
}

/// Parses an event.
pub(super) fn event(text: &str) -> Result<Event<'_>, DecodeError> {
    Event::from_json(text).or_else(|error| any_event(text).ok_or(error))
}

fn any_event(text: &str) -> Option<Event<'static>> {
    let mut fields = lowered(&parse_fields(text)?);
    if fields.get("type")?.as_str()? == "TOOL_RESULT_DATA_DELTA" {
        let is_given = |name: &str| fields.get(name).is_some_and(|value| !value.is_null());
        match (is_given("data"), is_given("url")) {
            // With both fields the package uses the bytes, and with neither an empty URL.
            (true, true) => drop(fields.remove("url")),
            (false, false) => fields.insert("url", ""),
            (true, false) | (false, true) => {}
        }
    }
    Event::from_json(&fields.to_json()).map(Event::into_owned).ok()
}

/// Returns the fields with every state in lower case. The documentation shows states in upper case.
fn lowered(fields: &Object) -> Object {
    let lowered = |(name, value): (&str, &Json)| {
        let value = match (name, value.as_str().map(str::to_owned)) {
            ("state", Some(word)) => word.to_ascii_lowercase().into(),
            // Free-form values are left unchanged.
            ("metadata" | "value" | "structured_output", _) => value.clone(),
            _ => lowered_within(value),
        };
        (name.to_owned(), value)
    };
    fields.iter().map(lowered).collect()
}

fn lowered_within(value: &Json) -> Json {
    if let Some(object) = value.to_object() {
        return lowered(&object).into();
    }
    match value.to_array() {
        Some(items) => items.iter().map(lowered_within).collect::<Vec<_>>().into(),
        None => value.clone(),
    }
}
