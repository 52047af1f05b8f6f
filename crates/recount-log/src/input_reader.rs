//! A reader that receives only the inputs of a session.

use std::collections::VecDeque;
use std::fmt;

use recount_message::AgentEvent;

use crate::hub::InputSubscriber;
use crate::input_tail::RawInput;
use crate::inputs::InputKind;
use crate::log::Log;
use crate::rebuild::decode;
use crate::storage::{PageLimit, View};
use crate::{Cursor, Error, GapReason, SessionKey};

/// How much is read from the storage at once.
const PAGE: PageLimit = PageLimit { count: 4_096, bytes: 4 << 20 };

/// An entry that is an input.
#[derive(Debug, Clone, PartialEq)]
pub struct InputEntry {
    /// The position after the entry.
    pub cursor: Cursor,
    /// The kind of input.
    pub kind: InputKind,
    /// The event.
    pub event: AgentEvent,
}

/// Receives the inputs of a session: confirmations, external results, interrupts, and lease take-overs.
///
/// Commits without inputs do not wake the reader, so a run can wait for answers while its own agent streams deltas.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use recount_log::{InputKind, Log};
/// use recount_message::{Event, UserInterruptEvent};
///
/// let session = Log::in_memory().create("chat".parse()?).await?;
/// let start = Event::from_json(r#"{"type":"REPLY_START","session_id":"chat","reply_id":"r1","name":"Friday"}"#)?;
/// let head = session.append([&start]).await?.cursor;
/// let mut inputs = session.subscribe_inputs(head)?;
///
/// session.append([&Event::new(UserInterruptEvent::new("r1"))]).await?;
/// let input = inputs.next().await?;
/// assert_eq!((input.kind, input.event.reply_id()), (InputKind::Interrupt, Some("r1")));
/// # Ok(()) }
/// ```
pub struct InputReader {
    log: Log,
    key: SessionKey,
    subscriber: InputSubscriber,
    /// All inputs up to here were returned or are in `ready`.
    at: Cursor,
    ready: VecDeque<InputEntry>,
}

impl InputReader {
    pub(crate) fn new(log: Log, key: SessionKey, subscriber: InputSubscriber, after: Cursor) -> Self {
        Self { log, key, subscriber, at: after, ready: VecDeque::new() }
    }

    /// Waits for the next input. Dropping the future loses nothing.
    ///
    /// # Errors
    ///
    /// [`Error::Gap`] if the session no longer continues from the cursor; otherwise if the session does not exist, the
    /// storage cannot be read, or the log is closed.
    pub async fn next(&mut self) -> Result<InputEntry, Error> {
        loop {
            if let Some(input) = self.ready.pop_front() {
                return Ok(input);
            }
            // Checked before the entries are read, so that nothing committed before the end is missed.
            let is_closed = self.subscriber.is_closed();
            let (inputs, at) = match self.subscriber.inputs_after(self.at) {
                Some((raw, at)) => (decode_all(&self.key, raw)?, at),
                None => self.read_storage().await?,
            };
            self.at = at;
            self.ready.extend(inputs);
            if self.ready.is_empty() {
                if is_closed {
                    return Err(Error::Closed);
                }
                self.subscriber.changed().await;
            }
        }
    }

    async fn read_storage(&self) -> Result<(Vec<InputEntry>, Cursor), Error> {
        let (key, at) = (self.key.clone(), self.at);
        self.log.read(move |view| inputs_after(view, &key, at)).await
    }
}

impl fmt::Debug for InputReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InputReader").field("key", &self.key).field("at", &self.at).finish_non_exhaustive()
    }
}

fn decode_all(key: &SessionKey, inputs: Vec<RawInput>) -> Result<Vec<InputEntry>, Error> {
    let inputs = inputs.into_iter().map(|RawInput { cursor, event }| {
        let event = decode(key, cursor.seq, &event)?;
        Ok(InputKind::of(&event).map(|kind| InputEntry { cursor, kind, event: event.into_owned() }))
    });
    inputs.filter_map(Result::transpose).collect()
}

/// Reads the stored inputs after a cursor. Returns them with the head of the session.
fn inputs_after(view: &dyn View, key: &SessionKey, at: Cursor) -> Result<(Vec<InputEntry>, Cursor), Error> {
    let row = view.session(key)?.ok_or_else(|| Error::UnknownSession(key.clone()))?;
    let gap = |reason| Error::Gap { session: key.clone(), reason };
    if at.epoch != row.epoch {
        return Err(gap(GapReason::Epoch));
    }
    if at.seq > row.head {
        return Err(gap(GapReason::Future));
    }
    let mut inputs = Vec::new();
    let mut after = at.seq;
    while after < row.head {
        let entries = view.entries(key, after, PAGE)?;
        let Some(last) = entries.last() else { break };
        if entries.first().is_some_and(|first| first.first <= after) {
            return Err(gap(GapReason::Compacted));
        }
        after = last.last;
        for entry in &entries {
            let event = decode(key, entry.last, &entry.body)?;
            if let Some(kind) = InputKind::of(&event) {
                let cursor = Cursor { epoch: row.epoch, seq: entry.last };
                inputs.push(InputEntry { cursor, kind, event: event.into_owned() });
            }
        }
    }
    Ok((inputs, Cursor { epoch: row.epoch, seq: row.head }))
}
