//! A fold, written down.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::json::fields::Fields;
use crate::json::scan::{Kind, Raw};
use crate::json::value::serialize_text;
use crate::json::wire::{DecodeContext, Wire};
use crate::json::write;
use crate::msg::Msg;
use crate::{DecodeError, DecodeErrorKind};

const VERSION: u64 = 1;

/// The state of a [`Fold`](crate::Fold), from which it can be resumed.
///
/// The JSON is `{"version": 1, "cursor": "12", "replies": [{"message": …, "call_floor": 3}]}`. All other state is derived from
/// the messages.
///
/// ```
/// use recount_message::{Checkpoint, Fold};
///
/// let checkpoint = Checkpoint { cursor: 12, replies: vec![], taken: vec!["m1".to_owned()] };
/// assert_eq!(Fold::resume(checkpoint).cursor(), 12);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// The cursor of the last event.
    pub cursor: u64,
    /// The messages in the order in which they started.
    pub replies: Vec<CheckpointReply>,
    /// The ids of messages that have been taken, in alphabetical order.
    pub taken: Vec<String>,
}

/// A message in a [`Checkpoint`].
///
/// ```
/// use recount_message::{Event, Fold};
///
/// let start = Event::from_json(r#"{"type":"REPLY_START","session_id":"s","reply_id":"r","name":"Friday"}"#)?;
/// let fold: Fold = [start].iter().collect();
/// let reply = &fold.checkpoint().replies[0];
/// assert_eq!((reply.message.id(), reply.call_floor), ("r", Some(0)));
/// # Ok::<(), recount_message::DecodeError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckpointReply {
    /// The message.
    pub message: Msg,
    /// Number of blocks at the last model call; `None` for a message that was not streamed.
    pub call_floor: Option<usize>,
}

impl Checkpoint {
    /// Encodes the checkpoint as JSON on one line.
    ///
    /// ```
    /// use recount_message::Fold;
    ///
    /// assert_eq!(Fold::new().checkpoint().to_json(), r#"{"version":1,"cursor":"0","replies":[]}"#);
    /// ```
    pub fn to_json(&self) -> String {
        let mut out = String::from("{");
        write::key(&mut out, "version");
        VERSION.encode(&mut out);
        write::key(&mut out, "cursor");
        self.cursor.to_string().encode(&mut out);
        write::key(&mut out, "replies");
        self.replies.encode(&mut out);
        if !self.taken.is_empty() {
            write::key(&mut out, "taken");
            self.taken.encode(&mut out);
        }
        out.push('}');
        out
    }

    /// Parses a checkpoint.
    ///
    /// ```
    /// use recount_message::Checkpoint;
    ///
    /// let checkpoint = Checkpoint::from_json(r#"{"version":1,"cursor":"12","replies":[]}"#)?;
    /// assert_eq!(checkpoint.cursor, 12);
    /// let newer = Checkpoint::from_json(r#"{"version":2}"#).unwrap_err();
    /// assert_eq!(newer.path(), "version");
    /// # Ok::<(), recount_message::DecodeError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Fails if the text is not a checkpoint, or has an unsupported version.
    pub fn from_json(text: &str) -> Result<Self, DecodeError> {
        let context = DecodeContext::default();
        let mut fields = Fields::document(text)?;
        let version: u64 = fields.require("version", context)?;
        if version != VERSION {
            let what = format!("version {version} is not known, expected {VERSION}");
            return Err(DecodeError::new(DecodeErrorKind::UnknownValue, what).within("version"));
        }
        let cursor: String = fields.require("cursor", context)?;
        let cursor = cursor.parse().map_err(|_| {
            DecodeError::new(DecodeErrorKind::WrongType, format!("expected a number in a string, found {cursor:?}"))
                .within("cursor")
        })?;
        let replies = fields.require("replies", context)?;
        let taken = fields.read("taken", context)?.unwrap_or_default();
        Ok(Self { cursor, replies, taken })
    }
}

impl Serialize for Checkpoint {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize_text(self.to_json(), serializer)
    }
}

impl<'de> Deserialize<'de> for Checkpoint {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Box::<RawValue>::deserialize(deserializer)?;
        Self::from_json(text.get()).map_err(serde::de::Error::custom)
    }
}

impl Wire<'_> for CheckpointReply {
    fn shape() -> crate::Shape {
        crate::Shape::Record("CheckpointReply")
    }

    fn decode(raw: Raw<'_>, context: DecodeContext<'_>) -> Result<Self, DecodeError> {
        let mut fields = Fields::of(raw)?;
        let message = fields.take("message").ok_or_else(|| DecodeError::missing("message"))?;
        let message = Msg::from_raw(message).map_err(|error| error.within("message"))?;
        let floor = fields.take("call_floor").filter(|raw| raw.kind != Kind::Null);
        let floor =
            floor.map(|raw| u64::decode(raw, context).map_err(|error| error.within("call_floor"))).transpose()?;
        // A floor above the number of blocks is equivalent to that number.
        let blocks = message.content().len();
        let call_floor = floor.map(|floor| usize::try_from(floor).map_or(blocks, |floor| floor.min(blocks)));
        Ok(Self { message, call_floor })
    }

    fn encode(&self, out: &mut String) {
        out.push('{');
        write::key(out, "message");
        self.message.encode(out);
        write::key(out, "call_floor");
        self.call_floor.map(|floor| floor as u64).encode(out);
        out.push('}');
    }
}
