//! The metadata of a session's run. It is stored as documents in the same commits as the entries.

use std::collections::VecDeque;

use recount_log::storage::StateChange;
use recount_message::{AgentEvent, Event, ReplyStartEvent, Stamps};
use serde::{Deserialize, Serialize};

/// The name of the document with the [`RunMetadata`].
pub(crate) const METADATA_DOCUMENT: &str = "host";

/// The name of the document that a draining host writes when it stops during a reply. It holds the cursor of the last entry,
/// and is valid only while that entry is the head.
pub(crate) const DRAINED_DOCUMENT: &str = "host/left";

/// The state of a session's run that cannot be derived from the entries.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct RunMetadata {
    /// The open reply.
    pub(crate) reply: Option<CurrentReply>,
    /// The sequence number of the last input that the run has processed.
    #[serde(rename = "read")]
    pub(crate) last_input_seq: u64,
    /// The messages that are answered next.
    pub(crate) queue: VecDeque<QueuedMessage>,
    /// The hints that were accepted and not yet passed to the model.
    pub(crate) hints: Vec<PendingHint>,
    /// Whether the conversation must be summarised before the next model call.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) compress: bool,
    /// The name of the agent that was last announced in the log.
    #[serde(rename = "joined")]
    pub(crate) announced_agent: Option<String>,
}

/// The open reply of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CurrentReply {
    pub(crate) id: String,
    /// The name by which sessions select the agent.
    pub(crate) agent: String,
    /// The name of the agent in its messages.
    pub(crate) name: String,
}

/// A message that waits to be answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct QueuedMessage {
    #[serde(rename = "message")]
    pub(crate) message_id: String,
    #[serde(rename = "reply")]
    pub(crate) reply_id: String,
}

/// A hint that was not yet passed to the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PendingHint {
    /// The id of the event under which the hint will be appended.
    #[serde(rename = "id")]
    pub(crate) event_id: String,
    #[serde(rename = "block")]
    pub(crate) block_id: String,
    /// The event in native JSON.
    pub(crate) event: String,
}

impl RunMetadata {
    pub(crate) fn from_json(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// Returns the change that stores the metadata.
    pub(crate) fn to_state_change(&self) -> StateChange {
        // Serializing strings and numbers cannot fail.
        StateChange { name: METADATA_DOCUMENT.to_owned(), body: serde_json::to_string(self).ok() }
    }
}

/// The name of the document with an agent's state.
pub(crate) fn agent_state_document(agent: &str) -> String {
    format!("agent/{agent}")
}

/// Derives the id of a reply from the id of its message. Posting a message again therefore returns the same reply, regardless
/// of how much later.
pub(crate) fn reply_id_for(message_id: &str) -> String {
    format!("{message_id}.reply")
}

/// Creates the first event of a reply.
pub(crate) fn reply_start_event(reply: &CurrentReply, session_id: &str) -> AgentEvent {
    let mut stamps = Stamps::default();
    let start = ReplyStartEvent::new(session_id.to_owned(), reply.id.clone(), reply.name.clone());
    Event::stamped(stamps.id(), stamps.time(), start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_round_trips_through_json() {
        let reply = CurrentReply { id: "r".to_owned(), agent: "friday".to_owned(), name: "Friday".to_owned() };
        let queued = QueuedMessage { message_id: "m".to_owned(), reply_id: "m.reply".to_owned() };
        let hint = PendingHint { event_id: "e".to_owned(), block_id: "b".to_owned(), event: "{}".to_owned() };
        let metadata = RunMetadata {
            reply: Some(reply),
            last_input_seq: 7,
            queue: [queued].into(),
            hints: vec![hint],
            compress: true,
            announced_agent: Some("Friday".to_owned()),
        };
        let text = metadata.to_state_change().body.unwrap();
        assert_eq!(
            text,
            r#"{"reply":{"id":"r","agent":"friday","name":"Friday"},"read":7,"queue":[{"message":"m","reply":"m.reply"}],"hints":[{"id":"e","block":"b","event":"{}"}],"compress":true,"joined":"Friday"}"#
        );
        assert_eq!(RunMetadata::from_json(&text).unwrap(), metadata);
        assert_eq!(RunMetadata::from_json("{}").unwrap(), RunMetadata::default());
    }
}
