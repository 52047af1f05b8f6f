//! The envelope that Java 1 streams its messages in.

use std::borrow::Cow;

use recount_message::wire::{Kind, Raw};
use recount_message::{AgentEvent, CustomEvent, DecodeError, DecodeErrorKind, Event, EventKind, Json, Msg, Object};

use crate::java::fields::{self, JavaFields};
use crate::java::{NATIVE, Version, message};
use crate::json::{self, ObjectWriter};
use crate::preserved;

/// The mark of a signal that was an envelope.
const ENVELOPE: &str = "envelope";

/// What an envelope without a step is called.
const UNTYPED: &str = "EVENT";

/// The name under which an envelope carries a native event.
pub(super) const EVENT: &str = "event";

/// The name under which an envelope says which field of that event the message says.
pub(super) const EXTRACTED: &str = "said";

/// The name under which an envelope says that it is for Java only.
pub(super) const SKIP: &str = "skip";

/// The name under which an envelope has what Java cannot say about a signal that was an envelope before.
const HEAD: &str = "head";

/// What a message belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Reasoning,
    ToolResult,
    Hint,
    AgentResult,
    Summary,
    /// Nothing that Java streams, and so what readers pass over.
    All,
}

impl Step {
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
        let word = raw.to_text()?;
        Self::VARIANTS.into_iter().find(|step| step.as_str() == word).ok_or_else(|| {
            let expected = Self::VARIANTS.map(Self::as_str).join(", ");
            let what = format!("unknown step {word:?}, expected one of {expected}");
            DecodeError::new(DecodeErrorKind::UnknownValue, what)
        })
    }
}

/// An envelope.
#[derive(Debug)]
pub(super) struct Envelope {
    pub(super) step: Option<Step>,
    /// The message; Java reads an envelope without one.
    pub(super) message: Option<Msg>,
    /// Whether the message replaces the pieces before it.
    pub(super) is_last: bool,
    /// What the envelope has for the native side.
    native: Object,
    /// All fields as they came, but for what is for the native side.
    given: Object,
}

impl Envelope {
    pub(super) fn read(text: &str) -> Result<Self, DecodeError> {
        let mut fields = JavaFields::by_last(Raw::document(text)?)?;
        let step = fields.take("type").map(Step::read).transpose().map_err(|error| error.within("type"))?;
        // 1.0.9 writes `last` and reads `isLast`, 2.0.0 has `isLast` only.
        let is_last = fields.take("isLast").map(read_flag).transpose().map_err(|error| error.within("isLast"))?;
        let is_last = is_last.or_else(|| fields.take("last").and_then(|raw| read_flag(raw).ok())).unwrap_or(false);
        let mut given = fields::object(Raw::document(text)?)?;
        let native = take_native(&mut given);
        let message = match given.get("message").filter(|message| !message.is_null()) {
            Some(message) => Some(
                Raw::document(message.as_str())
                    .and_then(|raw| message::read_as(raw, Version::One))
                    .map_err(|error| error.within("message"))?,
            ),
            None => None,
        };
        Ok(Self { step, message, is_last, native, given })
    }

    /// Whether the envelope is for Java only.
    pub(super) fn is_java_only(&self) -> bool {
        self.native.contains_key(SKIP)
    }

    /// The message as it came.
    pub(super) fn raw_message(&self) -> Option<Object> {
        self.given.get("message").and_then(Json::to_object)
    }

    /// The native event that the envelope carries.
    pub(super) fn carried_event(&self) -> Option<AgentEvent> {
        let mut carried = self.native.get(EVENT)?.to_object()?;
        match self.native.get(EXTRACTED).and_then(Json::to_text).as_deref() {
            Some("delta") => carried.insert("delta", self.delta().unwrap_or_default()),
            Some("value") => carried.insert("value", CustomEvent::message(self.message.as_ref()?).value),
            _ => {}
        }
        Event::from_json(&carried.to_json()).ok().map(Event::into_owned)
    }

    /// Whether the envelope is what a signal was before, and not what an agent streams now.
    pub(super) fn is_replayed_signal(&self) -> bool {
        self.native.contains_key(HEAD)
    }

    /// What the one block of the message says.
    fn delta(&self) -> Option<String> {
        let message = self.given.get("message")?.to_object()?;
        let block = message.get("content")?.to_list()?.first()?.to_object()?;
        let said = |name: &str| block.get(name).and_then(Json::to_text);
        let output = || {
            let item = block.get("output")?.to_list()?.first()?.to_object()?;
            item.get("text").and_then(Json::to_text)
        };
        said("text").or_else(|| said("thinking")).or_else(|| said("content")).or_else(output)
    }

    /// The native event that the envelope stands for.
    pub(super) fn into_event(self) -> AgentEvent {
        if let Some(event) = self.carried_event() {
            return event;
        }
        let mut value = self.given;
        let name = self.step.map(|step| {
            value.remove("type");
            step.as_str()
        });
        let head = self.native.get(HEAD).and_then(Json::to_object).unwrap_or_default();
        let text = |name: &str| head.get(name).and_then(Json::to_text);
        let mut metadata = head.get("metadata").and_then(Json::to_object).unwrap_or_default();
        preserved::store(&mut metadata, Version::One.name(), Object::from([(ENVELOPE, true)]));
        Event {
            id: text("id").unwrap_or_default().into(),
            created_at: text("created_at").unwrap_or_default().into(),
            metadata,
            kind: EventKind::Custom(CustomEvent {
                reply_id: text("reply_id").map(Cow::Owned),
                name: Cow::Borrowed(name.unwrap_or(UNTYPED)),
                value,
            }),
            extra: head.get("extra").and_then(Json::to_object).unwrap_or_default(),
        }
    }
}

/// The envelope that a signal was. Alone it is as it came, unless there is more to say about the signal; in a stream it says
/// that it is told again.
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
    // Somebody may have changed it into what is none.
    let read = Envelope::read(&out).ok()?.into_event();
    (read == *event).then_some(out)
}

/// Writes an envelope. `message` is the message, and `native` what it has for the native side.
pub(super) fn write(step: Step, message: &Object, is_last: bool, native: &Object) -> String {
    let id = message.get("id").cloned().unwrap_or_else(Json::null);
    let mut given = Object::from([("message", message.clone())]);
    add_native(&mut given, native);
    let mut out = String::new();
    let mut object = ObjectWriter::jackson(&mut out);
    object.text("type", step.as_str());
    given.iter().for_each(|(name, value)| object.json(name, value));
    for name in ["isLast", "last"] {
        object.raw(name, if is_last { "true" } else { "false" });
    }
    object.json("messageId", &id);
    object.end();
    out
}

/// Takes what an envelope has for the native side: of the message's metadata, or of the envelope where there is no message.
/// What the message says about itself stays.
fn take_native(given: &mut Object) -> Object {
    let mut taken = Object::new();
    let mut take_from = |marked: &mut Object| {
        let mut kept = preserved::take(marked, NATIVE);
        for name in [EVENT, EXTRACTED, SKIP, HEAD] {
            if let Some(value) = kept.remove(name) {
                taken.insert(name, value);
            }
        }
        preserved::store(marked, NATIVE, kept);
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
        (Kind::Text { .. }, r#""true""#) => Ok(true),
        (Kind::Text { .. }, r#""false""#) => Ok(false),
        _ => Err(raw.expected("a boolean")),
    }
}
