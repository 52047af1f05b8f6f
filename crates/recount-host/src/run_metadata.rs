//! What a host has to know of a session beside its entries, kept as a document in the same commits.

use std::collections::VecDeque;

use recount_log::storage::StateChange;
use recount_message::{AgentEvent, Event, ReplyStartEvent, Stamps};
use serde::{Deserialize, Serialize};

/// What the host's document is called.
pub(crate) const METADATA_DOCUMENT: &str = "host";

/// What the document is called that says how far a reply had come when its host stopped in good order: the cursor of the last
/// entry. When there are more entries somebody has gone on with it, and the document says nothing any more.
pub(crate) const DRAINED_DOCUMENT: &str = "host/left";

/// What a host has to know of a session beside its entries.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct RunMetadata {
    /// The reply that has not ended.
    pub(crate) reply: Option<OpenReply>,
    /// The number of the last input that the run has taken.
    pub(crate) read: u64,
    /// The messages that are answered next.
    pub(crate) queue: VecDeque<QueuedMessage>,
    /// Hints that were taken and not told yet.
    pub(crate) hints: Vec<Pending>,
    /// The conversation is to be summarised before the model is asked the next time.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) compress: bool,
    /// The agent that was said to have joined.
    pub(crate) joined: Option<String>,
}

/// A reply that has not ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OpenReply {
    pub(crate) id: String,
    /// The agent, by the name that sessions name.
    pub(crate) agent: String,
    /// The agent, as it calls itself.
    pub(crate) name: String,
}

/// A message that waits to be answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct QueuedMessage {
    pub(crate) message: String,
    pub(crate) reply: String,
}

/// A hint that waits to be told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Pending {
    /// Id of its event, under which it will be written.
    pub(crate) id: String,
    /// Id of its block.
    pub(crate) block: String,
    /// The event in native JSON.
    pub(crate) event: String,
}

impl RunMetadata {
    pub(crate) fn from_json(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// The notes as a document to be kept.
    pub(crate) fn change(&self) -> StateChange {
        // Strings and numbers can always be written.
        StateChange { name: METADATA_DOCUMENT.to_owned(), body: serde_json::to_string(self).ok() }
    }
}

/// What the document with an agent's state is called.
pub(crate) fn agent_document(agent: &str) -> String {
    format!("agent/{agent}")
}

/// The reply that answers a message. It follows from the message's id, so that a message that is posted again gets the first
/// answer however much later it comes.
pub(crate) fn reply_to(message_id: &str) -> String {
    format!("{message_id}.reply")
}

/// The start of a reply.
pub(crate) fn start_of(reply: &OpenReply, session_id: &str) -> AgentEvent {
    let mut stamps = Stamps::default();
    let start = ReplyStartEvent {
        session_id: session_id.to_owned().into(),
        reply_id: reply.id.clone().into(),
        name: reply.name.clone().into(),
        role: "assistant".into(),
    };
    Event::stamped(stamps.id(), stamps.time(), start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_survive_being_written_down() {
        let reply = OpenReply { id: "r".to_owned(), agent: "friday".to_owned(), name: "Friday".to_owned() };
        let queued = QueuedMessage { message: "m".to_owned(), reply: "m.reply".to_owned() };
        let pending = Pending { id: "e".to_owned(), block: "b".to_owned(), event: "{}".to_owned() };
        let notes = RunMetadata {
            reply: Some(reply),
            read: 7,
            queue: [queued].into(),
            hints: vec![pending],
            compress: true,
            joined: Some("Friday".to_owned()),
        };
        assert_eq!(RunMetadata::from_json(&notes.change().body.unwrap()).unwrap(), notes);
        assert_eq!(RunMetadata::from_json("{}").unwrap(), RunMetadata::default());
    }
}
