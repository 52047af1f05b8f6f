//! The native JSON encoding of messages.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use super::{Msg, NativeRole, Role};
use crate::extensions;
use crate::json::fields::Fields;
use crate::json::hash::Fnv1a;
use crate::json::scan::{Kind, MAX_DOCUMENT_DEPTH, Raw};
use crate::json::value::serialize_text;
use crate::json::wire::{DecodeContext, Wire};
use crate::json::write;
use crate::{DecodeError, DecodeErrorKind, Json, Object};

impl Msg {
    /// Parses a message in native JSON.
    ///
    /// Missing ids and times are derived from the content of the message, so that parsing the same text again returns the
    /// same message.
    ///
    /// ```
    /// use recount_message::Msg;
    ///
    /// let text = r#"{"name": "Alice", "role": "user", "content": [{"type": "text", "text": "Hello"}]}"#;
    /// let message = Msg::from_json(text)?;
    /// assert_eq!(message, Msg::from_json(text)?);
    /// assert_eq!(message.content()[0].id(), format!("{}.0", message.id()));
    /// # Ok::<(), recount_message::DecodeError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Fails if the text is not JSON, if a field is missing or invalid, or if the role does not allow one of the blocks. The
    /// error names the field.
    pub fn from_json(text: &str) -> Result<Self, DecodeError> {
        Self::from_raw(Raw::document(text)?)
    }

    /// Encodes the message as native JSON on one line.
    ///
    /// ```
    /// use recount_message::Msg;
    ///
    /// let message = Msg::user("Alice", "Two\nlines");
    /// let line = message.to_json();
    /// assert!(!line.contains('\n'));
    /// assert_eq!(Msg::from_json(&line)?, message);
    /// # Ok::<(), recount_message::DecodeError>(())
    /// ```
    pub fn to_json(&self) -> String {
        let mut out = String::new();
        self.write_json(&mut out);
        out
    }

    /// Appends the message as native JSON to `out`.
    ///
    /// ```
    /// use recount_message::Msg;
    ///
    /// let mut lines = String::new();
    /// for message in [Msg::user("Alice", "Hello"), Msg::assistant("Friday", "Hello, Alice")] {
    ///     message.write_json(&mut lines);
    ///     lines.push('\n');
    /// }
    /// assert_eq!(lines.lines().count(), 2);
    /// ```
    pub fn write_json(&self, out: &mut String) {
        self.encode(out);
    }

    pub(crate) fn from_raw(raw: Raw<'_>) -> Result<Self, DecodeError> {
        let fields = Fields::of(raw)?;
        let mut message = match Completed::of(&fields, raw)? {
            None => Self::from_fields(fields, DecodeContext::default())?,
            Some(completed) => Self::from_fields(Fields::of(completed.raw())?, DecodeContext::default())?,
        };
        let marked = marked_role(&message.metadata).filter(|_| message.role() == Role::Assistant);
        if let Some(role) = marked {
            message.role = role.into();
        } else if message.role() != Role::Tool {
            message.role().check(&message.content).map_err(|error| {
                DecodeError::new(
                    DecodeErrorKind::Rule,
                    format!("a {} message may not hold a {} block", error.role, error.block),
                )
                .at_index(error.index)
                .within("content")
            })?;
        }
        message.mark_role();
        Ok(message)
    }

    /// Stores the role in the metadata if the native role cannot express it: for tool messages, and for messages with blocks
    /// that their role does not allow. Other implementations have such messages; `check` reports them.
    pub(crate) fn mark_role(&mut self) {
        let role = self.role();
        let marked = role == Role::Tool || role.check(&self.content).is_err();
        self.role = NativeRole { role, marked };
        if marked {
            extensions::set(&mut self.metadata, "role", role.as_str());
        } else if marked_role(&self.metadata).is_some() {
            extensions::remove(&mut self.metadata, "role");
        }
    }
}

fn marked_role(metadata: &Object) -> Option<Role> {
    let word = extensions::get(metadata, "role")?;
    Role::from_name(word.as_str()?).filter(|role| *role != Role::Assistant)
}

/// The text of a message without id or time, completed with derived ones.
struct Completed(Json);

impl Completed {
    fn of(fields: &Fields<'_>, raw: Raw<'_>) -> Result<Option<Self>, DecodeError> {
        let given = |name| fields.peek(name).filter(|value| value.kind != Kind::Null);
        let (id, time) = (given("id"), given("created_at"));
        if id.is_some() && time.is_some() {
            return Ok(None);
        }
        let mut text = Json::from_raw(raw, MAX_DOCUMENT_DEPTH)?.as_raw().to_owned();
        let derived_id = format!("{:016x}", Fnv1a::of(&text).value());
        text.pop();
        if id.is_none() {
            write::key(&mut text, "id");
            write::string(&mut text, &derived_id);
        }
        if time.is_none() {
            write::key(&mut text, "created_at");
            write::string(&mut text, &derived_time(fields));
        }
        text.push('}');
        Ok(Some(Self(Json::from_canonical(text))))
    }

    fn raw(&self) -> Raw<'_> {
        self.0.raw()
    }
}

/// Derives the start time of a message without `created_at` from its other times; empty if it has none.
fn derived_time(fields: &Fields<'_>) -> String {
    let text = |raw: Raw<'_>| raw.to_str().ok().map(String::from);
    if let Some(finished) = fields.peek("finished_at").and_then(text) {
        return finished;
    }
    let first_block = fields.peek("content").and_then(|content| content.elements().ok()?.next());
    first_block
        .and_then(|block| Fields::of(block).ok())
        .and_then(|block| block.peek("created_at").and_then(text))
        .unwrap_or_default()
}

impl Serialize for Msg {
    /// Writes native JSON. The format must be `serde_json`.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize_text(self.to_json(), serializer)
    }
}

impl<'de> Deserialize<'de> for Msg {
    /// Parses native JSON. The format must be `serde_json`.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Box::<RawValue>::deserialize(deserializer)?;
        Self::from_json(text.get()).map_err(serde::de::Error::custom)
    }
}
