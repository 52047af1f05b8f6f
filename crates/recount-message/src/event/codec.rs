//! The native JSON encoding of events.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use super::{Event, EventKind};
use crate::json::fields::Fields;
use crate::json::scan::Scanner;
use crate::json::value::serialize_text;
use crate::json::wire::{DecodeContext, Wire};
use crate::json::write;
use crate::{DecodeError, DecodeErrorKind, Object};

impl<'a> Event<'a> {
    /// Parses an event in native JSON. Strings without escapes are borrowed from the text.
    ///
    /// ```
    /// use recount_message::Event;
    ///
    /// let error = Event::from_json(r#"{"type":"TOOL_RESULT_END","reply_id":"r","tool_call_id":"c","state":"done"}"#);
    /// assert_eq!(
    ///     error.unwrap_err().to_string(),
    ///     "`state`: unknown tool result state \"done\", expected one of success, error, interrupted, denied, running",
    /// );
    /// ```
    ///
    /// # Errors
    ///
    /// Fails if the text is not JSON, or if a field is missing or invalid. The error names the field. An unknown type is not
    /// an error: see [`EventKind::Unknown`].
    #[inline]
    pub fn from_json(text: &'a str) -> Result<Self, DecodeError> {
        match Self::from_canonical(text) {
            Some(event) => Ok(event),
            None => Self::from_any_order(text),
        }
    }

    /// Parses an event whose fields are in the native order, which all known producers use. Returns `None` for any other or
    /// invalid event; [`from_any_order`](Self::from_any_order) then returns the error.
    #[inline]
    fn from_canonical(text: &'a str) -> Option<Self> {
        let scanner = &mut Scanner::new(text);
        scanner.skip_space();
        if !scanner.skip_key("{\"id\":") {
            return None;
        }
        let id = scanner.text().ok()?;
        if !scanner.skip_key(",\"created_at\":") {
            return None;
        }
        let created_at = scanner.text().ok()?;
        // TypeScript omits empty metadata.
        let metadata = match scanner.skip_key(",\"metadata\":") {
            true => Object::next(scanner, DecodeContext::default()).ok()?,
            false => Object::new(),
        };
        if !scanner.skip_key(",\"type\":") {
            return None;
        }
        let type_name = scanner.text().ok()?;
        let head = Head { id, created_at, metadata };
        match &*type_name {
            // Missing ids in the hint are derived from a field that follows later.
            "HINT_BLOCK" => None,
            "DATA_BLOCK_DELTA" | "TOOL_RESULT_DATA_DELTA" => EventKind::from_canonical(&type_name, head, scanner)
                .filter(|event| check_one_source(&event.kind).is_ok()),
            _ => EventKind::from_canonical(&type_name, head, scanner),
        }
    }

    /// Parses an event with its fields in any order, and with unknown fields between them.
    fn from_any_order(text: &'a str) -> Result<Self, DecodeError> {
        let mut fields = Fields::default();
        fields.scan_document(text)?;
        let context = DecodeContext::default();
        let id = fields.read("id", context)?.unwrap_or_default();
        let created_at: Cow<'a, str> = fields.read("created_at", context)?.unwrap_or_default();
        let metadata = fields.read("metadata", context)?.unwrap_or_default();
        let type_name: Cow<'a, str> = fields.require("type", context)?;
        let hint_id = match &*type_name {
            "HINT_BLOCK" => fields.peek("block_id").and_then(|raw| raw.to_str().ok()).unwrap_or_default(),
            _ => Cow::Borrowed(""),
        };
        let context = DecodeContext {
            owner: &hint_id,
            time: &created_at,
            holds_message: type_name == "CUSTOM",
            ..DecodeContext::default()
        };
        let kind = EventKind::from_fields(type_name, &mut fields, context)?;
        check_one_source(&kind)?;
        Ok(Self { id, created_at, metadata, kind, extra: fields.rest()? })
    }

    /// Parses an event from UTF-8 bytes.
    ///
    /// ```
    /// use recount_message::{DecodeErrorKind, Event};
    ///
    /// let event = Event::from_slice(br#"{"type":"USER_INTERRUPT","reply_id":"r1"}"#)?;
    /// assert_eq!(event.reply_id(), Some("r1"));
    /// assert_eq!(Event::from_slice(b"\xff").unwrap_err().kind(), DecodeErrorKind::Encoding);
    /// # Ok::<(), recount_message::DecodeError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Fails like [`from_json`](Self::from_json), and if the bytes are not UTF-8.
    pub fn from_slice(bytes: &'a [u8]) -> Result<Self, DecodeError> {
        let text = std::str::from_utf8(bytes)
            .map_err(|error| DecodeError::new(DecodeErrorKind::Encoding, format!("not UTF-8: {error}")))?;
        Self::from_json(text)
    }

    /// Encodes the event as native JSON on one line.
    ///
    /// ```
    /// use recount_message::{Event, UserInterruptEvent};
    ///
    /// let event = Event::stamped("e1", "2026-01-01T00:00:00Z", UserInterruptEvent::new("r1"));
    /// assert_eq!(
    ///     event.to_json(),
    ///     r#"{"id":"e1","created_at":"2026-01-01T00:00:00Z","metadata":{},"type":"USER_INTERRUPT","reply_id":"r1"}"#,
    /// );
    /// ```
    pub fn to_json(&self) -> String {
        let mut out = String::with_capacity(256);
        self.write_json(&mut out);
        out
    }

    /// Appends the event as native JSON to `out`.
    ///
    /// ```
    /// use recount_message::{Event, UserInterruptEvent};
    ///
    /// // One server-sent event.
    /// let mut frame = String::from("data: ");
    /// Event::new(UserInterruptEvent::new("r1")).write_json(&mut frame);
    /// frame.push_str("\n\n");
    /// assert!(frame.starts_with("data: {\"id\":"));
    /// ```
    pub fn write_json(&self, out: &mut String) {
        out.push_str("{\"id\":");
        write::string(out, &self.id);
        out.push_str(",\"created_at\":");
        write::string(out, &self.created_at);
        out.push_str(",\"metadata\":");
        self.metadata.encode(out);
        out.push_str(",\"type\":");
        write::string(out, self.type_name());
        self.kind.write(out);
        self.extra.write_extra(out, |key| {
            matches!(key, "id" | "created_at" | "metadata" | "type") || self.kind.declares(key)
        });
        out.push('}');
    }
}

/// The fields that every event starts with.
pub(super) struct Head<'a> {
    pub(super) id: Cow<'a, str>,
    pub(super) created_at: Cow<'a, str>,
    pub(super) metadata: Object,
}

impl Head<'_> {
    #[inline]
    pub(super) fn context(&self, type_name: &str) -> DecodeContext<'_> {
        DecodeContext { time: &self.created_at, holds_message: type_name == "CUSTOM", ..DecodeContext::default() }
    }
}

/// Checks that data deltas have either bytes or a URL.
#[inline]
fn check_one_source(kind: &EventKind<'_>) -> Result<(), DecodeError> {
    let (data, url) = match kind {
        EventKind::DataBlockDelta(kind) => (&kind.data, &kind.url),
        EventKind::ToolResultDataDelta(kind) => (&kind.data, &kind.url),
        _ => return Ok(()),
    };
    if data.is_some() != url.is_some() {
        return Ok(());
    }
    let found = if data.is_some() { "both" } else { "neither" };
    Err(DecodeError::new(
        DecodeErrorKind::Rule,
        format!("exactly one of `data` and `url` must be given, found {found}"),
    ))
}

impl Serialize for Event<'_> {
    /// Writes native JSON. The format must be `serde_json`.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize_text(self.to_json(), serializer)
    }
}

impl<'de> Deserialize<'de> for Event<'static> {
    /// Parses native JSON. The format must be `serde_json`.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Box::<RawValue>::deserialize(deserializer)?;
        Event::from_json(text.get()).map(Event::into_owned).map_err(serde::de::Error::custom)
    }
}
