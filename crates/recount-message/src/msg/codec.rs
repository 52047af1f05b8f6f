//! The native JSON of a message.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use super::{Msg, NativeRole, Role};
use crate::json::fields::Fields;
use crate::json::hash::Fnv1a;
use crate::json::scan::{Kind, MAX_DOCUMENT_DEPTH, Raw};
use crate::json::value::serialize_text;
use crate::json::wire::{Place, Wire};
use crate::json::write;
use crate::marks;
use crate::{DecodeError, DecodeErrorKind, Json, Object};

impl Msg {
    /// Reads a message in native JSON.
    ///
    /// Ids and times that are missing are derived from where and what the message is, so that reading it again gives
    /// the same message.
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
    /// When the text is not JSON, a field is missing or wrong, or a block may not stand in a message of this role; the
    /// error names the field.
    pub fn from_json(text: &str) -> Result<Self, DecodeError> {
        Self::from_raw(Raw::document(text)?)
    }

    /// Writes the message in native JSON, on one line.
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

    /// Appends the message in native JSON to a text.
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
            None => Self::from_fields(fields, Place::default())?,
            Some(completed) => Self::from_fields(Fields::of(completed.raw())?, Place::default())?,
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

    /// Keeps in the metadata what the native role cannot say: that the message is a tool's, or that it holds what its
    /// role may not hold. Other sides have such messages; `check` reports them.
    pub(crate) fn mark_role(&mut self) {
        let role = self.role();
        let marked = role == Role::Tool || role.check(&self.content).is_err();
        self.role = NativeRole { role, marked };
        if marked {
            marks::set(&mut self.metadata, "role", role.as_str());
        } else if marked_role(&self.metadata).is_some() {
            marks::remove(&mut self.metadata, "role");
        }
    }
}

fn marked_role(metadata: &Object) -> Option<Role> {
    let word = marks::get(metadata, "role")?;
    Role::from_word(word.as_str()?).filter(|role| *role != Role::Assistant)
}

/// The text of a message that came without id or time, with both.
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

/// When a message without a time began, as far as it says anything about it.
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
    /// Writes native JSON. Only `serde_json` can be the format.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize_text(self.to_json(), serializer)
    }
}

impl<'de> Deserialize<'de> for Msg {
    /// Reads native JSON. Only `serde_json` can be the format.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Box::<RawValue>::deserialize(deserializer)?;
        Self::from_json(text.get()).map_err(serde::de::Error::custom)
    }
}
