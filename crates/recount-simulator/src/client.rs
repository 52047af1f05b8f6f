//! A reader far away: it knows only the frames that it got.

use recount_log::{Cursor, Frame};
use recount_message::{Event, Fold, Msg};
use recount_testkit::laws::Broken;

use crate::model::ModelSession;

/// What a reader has made of its frames.
#[derive(Debug, Clone, Default)]
pub struct Client {
    /// Where it is.
    pub cursor: Option<Cursor>,
    fold: Fold,
    expects_snapshot: bool,
}

impl Client {
    /// A client that has nothing, and is about to be given what comes after a place.
    pub fn at(cursor: Cursor) -> Self {
        Self { cursor: Some(cursor), ..Self::default() }
    }

    /// Forgets what was announced and has not come.
    pub fn reconnect(&mut self) {
        self.expects_snapshot = false;
    }

    /// Takes a frame.
    ///
    /// # Errors
    ///
    /// When it may not come here.
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

    /// Whether the client, which has everything, has what the model has.
    ///
    /// # Errors
    ///
    /// When it does not.
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
        // Those that it has are in their order, however many it was not shown.
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
