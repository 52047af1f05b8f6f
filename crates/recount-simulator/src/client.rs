//! A remote reader, which knows only the frames that it received.

use recount_log::{Cursor, Frame};
use recount_message::{Event, Fold, Msg};
use recount_testkit::laws::Broken;

use crate::model::ModelSession;

/// The state that a reader derives from its frames.
#[derive(Debug, Clone, Default)]
pub struct Client {
    /// The current position.
    pub cursor: Option<Cursor>,
    fold: Fold,
    expects_snapshot: bool,
}

impl Client {
    /// Creates a client without messages, which starts after a position.
    pub fn at(cursor: Cursor) -> Self {
        Self { cursor: Some(cursor), ..Self::default() }
    }

    /// Resets the expectation of a snapshot, because the connection was lost.
    pub fn reconnect(&mut self) {
        self.expects_snapshot = false;
    }

    /// Applies a frame.
    ///
    /// # Errors
    ///
    /// If the frame is not allowed at this point.
    pub fn take(&mut self, frame: &Frame) -> Result<(), Broken> {
        if self.expects_snapshot && !matches!(frame, Frame::Snapshot(_)) {
            return Err(Broken::new(format!("after a gap came {frame:?}")));
        }
        match frame {
            Frame::Gap(_) => self.expects_snapshot = true,
            Frame::Snapshot(snapshot) => {
                self.expects_snapshot = false;
                self.fold = snapshot.to_fold().map_err(|error| Broken::new(format!("in a snapshot: {error}")))?;
                self.cursor = Some(snapshot.cursor);
            }
            Frame::Entry(entry) => {
                if let Some(cursor) = self.cursor
                    && (cursor.epoch != entry.cursor.epoch || cursor.seq >= entry.cursor.seq)
                {
                    return Err(Broken::new(format!("after {cursor} came {}", entry.cursor)));
                }
                let event = Event::from_slice(&entry.event).map_err(|error| Broken::new(error.to_string()))?;
                let _ = self.fold.apply_at(entry.cursor.seq, &event);
                self.cursor = Some(entry.cursor);
            }
            other => return Err(Broken::new(format!("an unknown frame {other:?}"))),
        }
        Ok(())
    }

    /// Checks that a client that has received everything matches the model.
    ///
    /// # Errors
    ///
    /// If it does not match.
    pub fn agrees(&self, model: &ModelSession, is_whole: bool) -> Result<(), Broken> {
        for message in self.fold.messages() {
            let expected = model.fold.message(message.id());
            if expected.map(Msg::to_json) != Some(message.to_json()) {
                return Err(Broken::new(format!(
                    "at {:?} a reader has {}\nand the log {:?}",
                    self.cursor,
                    message.to_json(),
                    expected.map(Msg::to_json)
                )));
            }
        }
        // The messages that it has are in order, even if older ones were not part of a snapshot.
        let mut order = model.fold.messages().map(Msg::id);
        if let Some(message) = self.fold.messages().find(|message| order.all(|id| id != message.id())) {
            return Err(Broken::new(format!("at {:?} a reader has {} in another place", self.cursor, message.id())));
        }
        for reply in model.fold.open_replies() {
            if self.fold.message(reply.message().id()).is_none() {
                return Err(Broken::new(format!("a reader lacks the open reply {}", reply.message().id())));
            }
        }
        if is_whole && !self.fold.messages().eq(model.fold.messages()) {
            return Err(Broken::new("a reader from the beginning has other messages"));
        }
        Ok(())
    }
}
