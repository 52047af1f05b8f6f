//! Round-trip data: fields that the other format cannot express.
//!
//! They are stored under the key `recount`, by the name of the format that needs them, and restored when the message, block
//! or event is converted back.

use recount_message::{ContentBlock, Event, EventKind, Json, Object};

/// The key that holds all of Recount's own data.
pub(crate) const KEY: &str = "recount";

/// Returns the data stored for `dialect` in `holder`: the metadata of a message or event, or the extra fields of a block.
pub(crate) fn get(holder: &Object, dialect: &str) -> Object {
    marks(holder).get(dialect).and_then(Json::to_object).unwrap_or_default()
}

/// Removes the data stored for `dialect` and returns it.
pub(crate) fn take(holder: &mut Object, dialect: &str) -> Object {
    let mut marks = marks(holder);
    let stored = marks.remove(dialect);
    if stored.is_some() {
        set_marks(holder, marks);
    }
    stored.and_then(|stored| stored.to_object()).unwrap_or_default()
}

/// Stores data for `dialect`. Empty data is not stored.
pub(crate) fn store(holder: &mut Object, dialect: &str, data: Object) {
    if !data.is_empty() {
        let mut marks = marks(holder);
        marks.insert(dialect, data);
        set_marks(holder, marks);
    }
}

/// Returns everything under [`KEY`].
pub(crate) fn marks(holder: &Object) -> Object {
    holder.get(KEY).and_then(Json::to_object).unwrap_or_default()
}

/// Replaces everything under [`KEY`]. Removes the key if `marks` is empty.
pub(crate) fn set_marks(holder: &mut Object, marks: Object) {
    if marks.is_empty() {
        holder.remove(KEY);
    } else {
        holder.insert(KEY, marks);
    }
}

/// Returns whether a field that is required natively was absent in the source.
pub(crate) fn is_absent(holder: &Object, field: &str) -> bool {
    absent(&marks(holder)).iter().any(|name| name == field)
}

/// Records that a field was absent in the source.
pub(crate) fn mark_absent(holder: &mut Object, field: &str) {
    let mut marks = marks(holder);
    let mut fields = absent(&marks);
    if !fields.iter().any(|name| name == field) {
        fields.push(field.to_owned());
    }
    marks.insert("absent", fields);
    set_marks(holder, marks);
}

/// Removes the record that a field was absent.
pub(crate) fn unmark_absent(holder: &mut Object, field: &str) {
    let mut marks = marks(holder);
    let mut fields = absent(&marks);
    fields.retain(|name| name != field);
    if fields.is_empty() {
        marks.remove("absent");
    } else {
        marks.insert("absent", fields);
    }
    set_marks(holder, marks);
}

fn absent(marks: &Object) -> Vec<String> {
    let names = marks.get("absent").and_then(Json::to_array).unwrap_or_default();
    names.iter().filter_map(Json::as_str).map(str::to_owned).collect()
}

/// Returns the object of an event that holds its round-trip data: the metadata, or the extra fields of a TOOL_RESULT_END,
/// whose metadata belongs to the tool.
pub(crate) fn event_holder<'e>(event: &'e Event<'_>) -> &'e Object {
    match event.kind {
        EventKind::ToolResultEnd(_) => &event.extra,
        _ => &event.metadata,
    }
}

/// The mutable variant of [`event_holder`].
pub(crate) fn event_holder_mut<'e>(event: &'e mut Event<'_>) -> &'e mut Object {
    match event.kind {
        EventKind::ToolResultEnd(_) => &mut event.extra,
        _ => &mut event.metadata,
    }
}

/// Returns the undeclared fields of a block, which hold its round-trip data. `None` for a block of an unknown type, whose
/// fields are all undeclared.
pub(crate) fn block_holder_mut(block: &mut ContentBlock) -> Option<&mut Object> {
    Some(match block {
        ContentBlock::Text(block) => &mut block.extra,
        ContentBlock::Thinking(block) => &mut block.extra,
        ContentBlock::Data(block) => &mut block.extra,
        ContentBlock::Hint(block) => &mut block.extra,
        ContentBlock::ToolCall(block) => &mut block.extra,
        ContentBlock::ToolResult(block) => &mut block.extra,
        _ => return None,
    })
}
