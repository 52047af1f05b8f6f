//! The envelopes in which Java 1 streams its messages.

use std::borrow::Cow;

use recount_message::wire::{Kind, Raw};
use recount_message::{AgentEvent, CustomEvent, DecodeError, DecodeErrorKind, Event, EventKind, Json, Msg, Object};

use crate::java::fields::{self, JavaFields};
use crate::java::{NATIVE, Version, message};
use crate::json::{self, ObjectWriter};
use crate::preserved;

/// The mark of a signal that was an envelope.
const ENVELOPE: &str = "envelope";

/// The signal name of an envelope without a type.
const UNTYPED: &str = "EVENT";

/// The key of the native event that an envelope carries.
pub(super) const EVENT: &str = "event";

/// The key of the field of that event whose value is in the message.
pub(super) const EXTRACTED: &str = "said";

/// The key that marks an envelope that is only for Java clients.
pub(super) const SKIP: &str = "skip";

/// The key of the event fields of a signal that was an envelope.
const HEAD: &str = "head";

/// The type of an envelope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EnvelopeType {
    Reasoning,
    ToolResult,
    Hint,
    AgentResult,
    Summary,
    /// Never streamed by Java, so clients ignore it.
    All,
}

impl EnvelopeType {
    const VARIANTS: [Self; 6] =
        [Self::Reasoning, Self::ToolResult, Self::Hint, Self::AgentResult, Self::Summary, Self::All];

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Reasoning => "REASONING",
            Self::ToolResult => "TOOL_RESULT",
            Self::Hint => "HINT",
            Self::AgentResult => "AGENT_RESULT",
            Self::Summary => "SUMMARY",
            Self::All => "ALL",
        }
    }

    fn read(raw: Raw<'_>) -> Result<Self, DecodeError> {
        let word = raw.to_str()?;
        Self::VARIANTS.into_iter().find(|envelope_type| envelope_type.as_str() == word).ok_or_else(|| {
            let expected = Self::VARIANTS.map(Self::as_str).join(", ");
            let what = format!("unknown envelope type {word:?}, expected one of {expected}");
            DecodeError::new(DecodeErrorKind::UnknownValue, what)
        })
    }
}

/// A parsed envelope.
#[derive(Debug)]
pub(super) struct Envelope {
    pub(super) envelope_type: Option<EnvelopeType>,
    /// The message. Java also accepts an envelope without one.
    pub(super) message: Option<Msg>,
    /// Whether the message replaces the chunks before it.
    pub(super) is_last: bool,
    /// The native data of the envelope.
    native: Object,
    /// All fields as received, without the native data.
    given: Object,
}

impl Envelope {
    pub(super) fn read(text: &str) -> Result<Self, DecodeError> {
        let mut fields = JavaFields::by_last(Raw::document(text)?)?;
        let envelope_type =
            fields.take("type").map(EnvelopeType::read).transpose().map_err(|error| error.within("type"))?;
        // 1.0.9 writes `last` and reads `isLast`. 2.0.0 only has `isLast`.
        let is_last = fields.take("isLast").map(read_flag).transpose().map_err(|error| error.within("isLast"))?;
        let is_last = is_last.or_else(|| fields.take("last").and_then(|raw| read_flag(raw).ok())).unwrap_or(false);
        let mut given = fields::object(Raw::document(text)?)?;
        let native = take_native(&mut given);
        let message = match given.get("message").filter(|message| !message.is_null()) {
            Some(message) => Some(
                Raw::document(message.as_raw())
                    .and_then(|raw| message::read_as(raw, Version::One))
                    .map_err(|error| error.within("message"))?,
            ),
            None => None,
        };
        Ok(Self { envelope_type, message, is_last, native, given })
    }

    /// Returns whether the envelope is only for Java clients.
    pub(super) fn is_java_only(&self) -> bool {
        self.native.contains_key(SKIP)
    }

    /// Returns the message as received.
    pub(super) fn raw_message(&self) -> Option<Object> {
        self.given.get("message").and_then(Json::to_object)
    }

    /// Returns the native event that the envelope carries.
    pub(super) fn carried_event(&self) -> Option<AgentEvent> {
        let mut carried = self.native.get(EVENT)?.to_object()?;
        match self.native.get(EXTRACTED).and_then(Json::as_str) {
            Some("delta") => carried.insert("delta", self.delta().unwrap_or_default()),
            Some("value") => carried.insert("value", CustomEvent::message(self.message.as_ref()?).value),
            _ => {}
        }
        Event::from_json(&carried.to_json()).ok().map(Event::into_owned)
    }

    /// Returns whether the envelope repeats an earlier signal, instead of being sent by an agent now.
    pub(super) fn is_replayed_signal(&self) -> bool {
        self.native.contains_key(HEAD)
    }

    /// Returns the text of the only block of the message.
    fn delta(&self) -> Option<String> {
        let message = self.given.get("message")?.to_object()?;
        let block = message.get("content")?.to_array()?.first()?.to_object()?;
        let text_of = |name: &str| block.get(name).and_then(Json::as_str).map(str::to_owned);
        let output = || {
            let item = block.get("output")?.to_array()?.first()?.to_object()?;
            item.get("text").and_then(Json::as_str).map(str::to_owned)
        };
        text_of("text").or_else(|| text_of("thinking")).or_else(|| text_of("content")).or_else(output)
    }

    /// Converts the envelope to the event that it carries, or to a signal.
    pub(super) fn into_event(self) -> AgentEvent {
        if let Some(event) = self.carried_event() {
            return event;
        }
        let mut value = self.given;
        let name = self.envelope_type.map(|envelope_type| {
            value.remove("type");
            envelope_type.as_str()
        });
        let head = self.native.get(HEAD).and_then(Json::to_object).unwrap_or_default();
        let text = |name: &str| head.get(name).and_then(Json::as_str).map(str::to_owned);
        let mut metadata = head.get("metadata").and_then(Json::to_object).unwrap_or_default();
        preserved::store(&mut metadata, Version::One.name(), Object::from([(ENVELOPE, true)]));
        let mut custom = CustomEvent::new(name.unwrap_or(UNTYPED)).with_value(value);
        custom.reply_id = text("reply_id").map(Cow::Owned);
        let (id, time) = (text("id").unwrap_or_default(), text("created_at").unwrap_or_default());
        let mut event = Event::stamped(id, time, custom).with_metadata(metadata);
        event.extra = head.get("extra").and_then(Json::to_object).unwrap_or_default();
        event
    }
}

/// Returns the envelope that a signal was converted from. Its event fields are added in a stream, or if the signal has
/// any.
pub(super) fn original_envelope(event: &Event<'_>, is_alone: bool) -> Option<String> {
    let EventKind::Custom(custom) = &event.kind else { return None };
    let mut metadata = event.metadata.clone();
    let mark = preserved::take(&mut metadata, Version::One.name());
    if mark != Object::from([(ENVELOPE, true)]) {
        return None;
    }
    let mut head = Object::new();
    for (name, text) in [("id", &event.id), ("created_at", &event.created_at)] {
        if !text.is_empty() {
            head.insert(name, &**text);
        }
    }
    if let Some(reply_id) = &custom.reply_id {
        head.insert("reply_id", &**reply_id);
    }
    for (name, object) in [("metadata", &metadata), ("extra", &event.extra)] {
        if !object.is_empty() {
            head.insert(name, object.clone());
        }
    }
    let mut fields = Object::new();
    if custom.name != UNTYPED {
        fields.insert("type", &*custom.name);
    }
    for (name, value) in custom.value.iter() {
        fields.insert(name, value.clone());
    }
    if !head.is_empty() || !is_alone {
        add_native(&mut fields, &Object::from([(HEAD, head)]));
    }
    let mut out = String::new();
    json::jackson_object(&mut out, &fields);
    // Fails if the signal was edited and is not a valid envelope any more.
    let read = Envelope::read(&out).ok()?.into_event();
    (read == *event).then_some(out)
}

/// Serializes an envelope. `native` holds the native data.
pub(super) fn write(envelope_type: EnvelopeType, message: &Object, is_last: bool, native: &Object) -> String {
    let id = message.get("id").cloned().unwrap_or_else(Json::null);
    let mut given = Object::from([("message", message.clone())]);
    add_native(&mut given, native);
    let mut out = String::new();
    let mut object = ObjectWriter::jackson(&mut out);
    object.text("type", envelope_type.as_str());
    given.iter().for_each(|(name, value)| object.json(name, value));
    for name in ["isLast", "last"] {
        object.raw(name, if is_last { "true" } else { "false" });
    }
    object.json("messageId", &id);
    object.end();
    out
}

/// Removes and returns the native data of an envelope. It is stored in the metadata of the message, or in the envelope if
/// there is no message. The native data of the message itself is not removed.
fn take_native(given: &mut Object) -> Object {
    let mut taken = Object::new();
    let mut take_from = |marked: &mut Object| {
        let mut stored = preserved::take(marked, NATIVE);
        for name in [EVENT, EXTRACTED, SKIP, HEAD] {
            if let Some(value) = stored.remove(name) {
                taken.insert(name, value);
            }
        }
        preserved::store(marked, NATIVE, stored);
        !taken.is_empty()
    };
    let message = given.get("message").and_then(Json::to_object);
    let metadata = message.as_ref().and_then(|message| message.get("metadata")?.to_object());
    if let (Some(mut message), Some(mut metadata)) = (message, metadata)
        && take_from(&mut metadata)
    {
        message.insert("metadata", metadata);
        given.insert("message", message);
        return taken;
    }
    take_from(given);
    taken
}

fn add_native(given: &mut Object, native: &Object) {
    let message = given.get("message").and_then(Json::to_object);
    let metadata = message.as_ref().and_then(|message| message.get("metadata")?.to_object());
    if let (Some(mut message), Some(mut metadata)) = (message, metadata) {
        let mut all = preserved::get(&metadata, NATIVE);
        native.iter().for_each(|(name, value)| all.insert(name, value.clone()));
        preserved::store(&mut metadata, NATIVE, all);
        message.insert("metadata", metadata);
        given.insert("message", message);
    } else {
        preserved::store(given, NATIVE, native.clone());
    }
}

fn read_flag(raw: Raw<'_>) -> Result<bool, DecodeError> {
    match (raw.kind, raw.text) {
        (Kind::Bool(value), _) => Ok(value),
        (Kind::Number, number) => Ok(number.parse::<f64>().is_ok_and(|number| number != 0.0)),
        (Kind::String { .. }, r#""true""#) => Ok(true),
        (Kind::String { .. }, r#""false""#) => Ok(false),
        _ => Err(raw.expected("a boolean")),
    }
}
