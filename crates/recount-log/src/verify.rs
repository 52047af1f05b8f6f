//! Whether what is stored of a session follows from its entries.

use recount_message::{Fold, Msg};

use crate::refold::{decode, fold_replies};
use crate::storage::{Limit, Show, View};
use crate::{Error, SessionKey};

const PAGE: Limit = Limit { count: 4_096, bytes: 4 << 20 };

/// Folds every reply of a session again and compares it with what is stored: everything that differs, in words.
///
/// Entries have to follow each other without a hole and be readable; every complete message has to be the fold of its
/// entries, byte for byte, and nothing else may be stored as one; open replies have to come to the same from their
/// checkpoints as from their start.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use recount_log::{Log, verify};
/// use recount_message::{CustomEvent, Event, Msg};
///
/// let log = Log::in_memory();
/// let session = log.create("chat".parse()?).await?;
/// session.append([&Event::new(CustomEvent::message(&Msg::user("Alice", "Hello")))]).await?;
/// let key = session.key().clone();
/// assert_eq!(log.look(move |view| verify::session(view, &key)).await?, [] as [String; 0]);
/// # Ok(()) }
/// ```
///
/// # Errors
///
/// When the session does not exist, or the storage cannot be read.
pub fn session(view: &dyn View, key: &SessionKey) -> Result<Vec<String>, Error> {
    let row = view.session(key)?.ok_or_else(|| Error::UnknownSession(key.clone()))?;
    let mut verifying = Verifying { view, key, fold: Fold::new(), faults: Vec::new(), complete: 0 };
    let mut after = 0;
    while after < row.head {
        let rows = view.entries(key, after, PAGE)?;
        let Some(last) = rows.last() else {
            verifying.fault(format!("there is no entry after {after}, and the head is {}", row.head));
            break;
        };
        let next = last.last;
        for entry in rows {
            if entry.first != after + 1 {
                verifying.fault(format!("the entry {} follows {after}", entry.first));
            }
            after = entry.last;
            match decode(key, entry.last, &entry.body) {
                Ok(event) => {
                    let _ = verifying.fold.apply(&event);
                }
                Err(error) => verifying.fault(error.to_string()),
            }
        }
        after = next;
        for message in verifying.fold.take_ended() {
            verifying.compare(&message)?;
        }
    }
    verifying.finish(row.head)
}

struct Verifying<'v> {
    view: &'v dyn View,
    key: &'v SessionKey,
    fold: Fold,
    faults: Vec<String>,
    complete: usize,
}

impl Verifying<'_> {
    fn fault(&mut self, text: String) {
        self.faults.push(text);
    }

    /// Compares a complete message with what is stored under its id.
    fn compare(&mut self, message: &Msg) -> Result<(), Error> {
        self.complete += 1;
        match self.view.message(self.key, message.id())? {
            None => self.fault(format!("the message {:?} is not stored", message.id())),
            Some(stored) if stored.body != message.to_json() => {
                self.fault(format!("the message {:?} is stored as something else", message.id()));
            }
            Some(_) => {}
        }
        Ok(())
    }

    fn finish(mut self, head: u64) -> Result<Vec<String>, Error> {
        let fold = std::mem::take(&mut self.fold);
        let open: Vec<&Msg> = fold.open_replies().map(recount_message::ReplyFold::message).collect();
        let is_open = |message: &Msg| open.iter().any(|open| open.id() == message.id());
        for message in fold.messages().filter(|message| !is_open(message)) {
            self.compare(message)?;
        }
        let stored = self.stored_messages()?;
        if stored > self.complete {
            self.fault(format!("{} messages are stored that no entry tells of", stored - self.complete));
        }
        let stored = fold_replies(self.view, self.key, self.view.open(self.key)?, head)?;
        let stored: Vec<&Msg> = stored.iter().map(|reply| reply.fold.message()).collect();
        if stored != open {
            self.fault("the open replies are not what their entries make of them".to_owned());
        }
        Ok(self.faults)
    }

    fn stored_messages(&self) -> Result<usize, Error> {
        let (mut count, mut before) = (0, u64::MAX);
        loop {
            let page = self.view.finished(self.key, before, Show::All, 256)?;
            let Some(oldest) = page.first() else { return Ok(count) };
            count += page.len();
            before = oldest.place;
        }
    }
}

/// Hands on every entry of a session, in order.
///
/// # Errors
///
/// What `entry` answers, or when the session does not exist or the storage cannot be read.
pub fn each_entry<E: From<Error>>(
    view: &dyn View,
    key: &SessionKey,
    mut entry: impl FnMut(&crate::storage::Row) -> Result<(), E>,
) -> Result<(), E> {
    let failed = |error: crate::StorageError| E::from(Error::from(error));
    if view.session(key).map_err(failed)?.is_none() {
        return Err(Error::UnknownSession(key.clone()).into());
    }
    let mut after = 0;
    loop {
        let rows = view.entries(key, after, PAGE).map_err(failed)?;
        let Some(last) = rows.last() else { return Ok(()) };
        after = last.last;
        for row in &rows {
            entry(row)?;
        }
    }
}
