//! Messages and open replies in native JSON, decoded on request.
//!
//! The storage holds messages as JSON, and most readers pass that JSON on unchanged. These types keep the text and decode
//! it only for callers that need the value.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

use recount_message::wire::ObjectWriter;
use recount_message::{Checkpoint, CheckpointReply, DecodeError, Fold, Json, Msg, Object, ReplyFold};

/// A message in native JSON. The text is validated by [`decode`](Self::decode), not when it is created.
///
/// ```
/// use recount_log::EncodedMessage;
/// use recount_message::Msg;
///
/// let hello = Msg::user("Alice", "Hello");
/// let encoded = EncodedMessage::from(&hello);
/// assert_eq!(encoded.as_str(), hello.to_json());
/// assert_eq!(encoded.decode()?, hello);
/// # Ok::<(), recount_message::DecodeError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct EncodedMessage(String);

impl EncodedMessage {
    /// Wraps the JSON of a message.
    pub fn new(json: impl Into<String>) -> Self {
        Self(json.into())
    }

    /// Returns the JSON.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the JSON, owned.
    pub fn into_string(self) -> String {
        self.0
    }

    /// Decodes the message.
    ///
    /// # Errors
    ///
    /// If the text is not a message in native JSON.
    pub fn decode(&self) -> Result<Msg, DecodeError> {
        Msg::from_json(&self.0)
    }
}

impl From<&Msg> for EncodedMessage {
    fn from(message: &Msg) -> Self {
        Self(message.to_json())
    }
}

impl AsRef<str> for EncodedMessage {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

/// Allows `messages.join(",")`.
impl Borrow<str> for EncodedMessage {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for EncodedMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for EncodedMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The fold of an open reply as JSON: `{message, call_floor}`, an item of a checkpoint's `replies`.
///
/// Clones share the text, because a long reply is as large as all its entries together.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use recount_log::Log;
/// use recount_message::Event;
///
/// let session = Log::in_memory().create("chat".parse()?).await?;
/// let start = Event::from_json(r#"{"type":"REPLY_START","session_id":"chat","reply_id":"r1","name":"Friday"}"#)?;
/// session.append([&start]).await?;
///
/// let open = session.open_replies().await?;
/// assert_eq!(open[0].fold.decode()?.message().name(), "Friday");
/// # Ok(()) }
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct EncodedReply(Arc<str>);

impl EncodedReply {
    /// Wraps the JSON of a reply's fold.
    pub fn new(json: impl Into<Arc<str>>) -> Self {
        Self(json.into())
    }

    /// Returns the JSON.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Decodes the fold, which can apply further events of the reply.
    ///
    /// # Errors
    ///
    /// If the text is not the fold of a reply.
    pub fn decode(&self) -> Result<ReplyFold, DecodeError> {
        let reply = self.checkpoint_reply()?;
        let id = reply.message.id().to_owned();
        let message = reply.message.clone();
        let fold = Fold::resume(Checkpoint { cursor: 0, replies: vec![reply], taken: Vec::new() });
        Ok(fold.reply(&id).cloned().unwrap_or_else(|| ReplyFold::from_message(message)))
    }

    /// Returns the message of the reply as it is now, without decoding it. `None` if the text is not the fold of a reply.
    pub fn message(&self) -> Option<EncodedMessage> {
        Object::parse(&self.0).ok()?.get("message").map(|message| EncodedMessage::new(message.as_raw()))
    }

    pub(crate) fn checkpoint_reply(&self) -> Result<CheckpointReply, DecodeError> {
        let reply = Object::parse(&self.0)?;
        let message = Msg::from_json(reply.get("message").map_or("null", Json::as_raw))?;
        let blocks = message.content().len();
        let call_floor = reply.get("call_floor").and_then(|floor| floor.as_raw().parse::<usize>().ok());
        Ok(CheckpointReply { message, call_floor: call_floor.map(|floor| floor.min(blocks)) })
    }
}

impl From<&ReplyFold> for EncodedReply {
    fn from(fold: &ReplyFold) -> Self {
        let writer = ObjectWriter::new().raw_with("message", |text| fold.message().write_json(text));
        Self::new(writer.raw("call_floor", fold.call_floor()).finish())
    }
}

impl AsRef<str> for EncodedReply {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for EncodedReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for EncodedReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
