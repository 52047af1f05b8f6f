//! Verifies that the stored messages and open replies of a session match its entries.

use hashbrown::HashMap;
use recount_message::{CustomName, Event, EventKind, Fold, Msg, Outcome};

use crate::rebuild::{decode, rebuild_replies};
use crate::storage::{EntryRow, MessageRow, OpenReplyInfo, PageLimit, View, Visibility};
use crate::{Error, SessionKey};

const PAGE: PageLimit = PageLimit { count: 4_096, bytes: 4 << 20 };

/// FoldCache every reply of a session again and compares it with what is stored: everything that differs, in words.
///
/// Entries have to follow each other without a hole and be readable; every complete message has to be the fold of its
/// entries, byte for byte, and to stand where they are, and nothing else may be stored as one; open replies have to come to
/// the same from their checkpoints as from their start.
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
/// assert_eq!(log.read(move |view| verify::session(view, &key)).await?, [] as [String; 0]);
/// # Ok(()) }
/// ```
///
/// # Errors
///
/// If the session does not exist, or the storage cannot be read.
pub fn session(view: &dyn View, key: &SessionKey) -> Result<Vec<String>, Error> {
    let row = view.session(key)?.ok_or_else(|| Error::UnknownSession(key.clone()))?;
    let mut verifying =
        Verifying { view, key, fold: Fold::new(), spans: HashMap::new(), faults: Vec::new(), complete: 0 };
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
                Ok(event) => verifying.apply(&event, &entry),
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
    /// The entries of the messages that are not compared yet.
    spans: HashMap<String, Span>,
    faults: Vec<String>,
    complete: usize,
}

/// The range of a message's entries, and its properties.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Span {
    place: u64,
    /// `None` while the message is open.
    last: Option<u64>,
    is_reply: bool,
    nested: bool,
}

impl Verifying<'_> {
    fn fault(&mut self, text: String) {
        self.faults.push(text);
    }

    fn apply(&mut self, event: &Event<'_>, entry: &EntryRow) {
        let outcome = self.fold.apply(event);
        match &event.kind {
            EventKind::ReplyStart(start) if outcome == Outcome::Applied => {
                let nested = event.extension("parent").is_some();
                let span = Span { place: entry.first, last: None, is_reply: true, nested };
                self.spans.entry_ref(&*start.reply_id).or_insert(span);
            }
            EventKind::Custom(custom) if custom.recount_name() == Some(CustomName::Message) => {
                let mut alone = Fold::new();
                let _ = alone.apply(event);
                let Some(message) = alone.into_messages().next().filter(|_| outcome == Outcome::Applied) else {
                    return;
                };
                let span = Span { place: entry.first, last: Some(entry.last), is_reply: false, nested: false };
                self.spans.insert(message.id().to_owned(), span);
            }
            EventKind::ReplyEnd(end) if self.fold.open_reply(&end.reply_id).is_none() => {
                if let Some(span) = self.spans.get_mut(&*end.reply_id) {
                    span.last.get_or_insert(entry.last);
                }
            }
            _ => {}
        }
    }

    /// Compares a complete message with the stored one.
    fn compare(&mut self, message: &Msg) -> Result<(), Error> {
        self.complete += 1;
        let (id, span) = (message.id(), self.spans.remove(message.id()));
        let Some(stored) = self.view.message(self.key, id)? else {
            self.fault(format!("the message {id:?} is not stored"));
            return Ok(());
        };
        if stored.body.as_str() != message.to_json() {
            self.fault(format!("the message {id:?} is stored as something else"));
        }
        let MessageRow { start_seq: place, end_seq: last, is_reply, nested, .. } = stored;
        if span.is_some_and(|span| span != Span { place, last: Some(last), is_reply, nested }) {
            self.fault(format!("the message {id:?} is stored in another place"));
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
        let rows = self.view.open_replies(self.key)?;
        let is_elsewhere = |OpenReplyInfo { id, start_seq: place, nested, .. }: &OpenReplyInfo| {
            let stored = Span { place: *place, last: None, is_reply: true, nested: *nested };
            self.spans.get(id) != Some(&stored)
        };
        let is_misplaced = rows.iter().any(|row| is_elsewhere(&row.info));
        let stored = rebuild_replies(self.view, self.key, rows, head)?;
        let stored: Vec<&Msg> = stored.iter().map(|reply| reply.fold.message()).collect();
        if is_misplaced || stored != open {
            self.fault("the open replies are not what their entries make of them".to_owned());
        }
        Ok(self.faults)
    }

    fn stored_messages(&self) -> Result<usize, Error> {
        let (mut count, mut before) = (0, u64::MAX);
        loop {
            let page = self.view.messages_before(self.key, before, Visibility::All, 256)?;
            let Some(oldest) = page.first() else { return Ok(count) };
            count += page.len();
            before = oldest.start_seq;
        }
    }
}

/// Calls a function with every entry of a session, in order.
///
/// # Errors
///
/// The error of the function, or if the session does not exist or the storage cannot be read.
pub fn each_entry<E: From<Error>>(
    view: &dyn View,
    key: &SessionKey,
    mut entry: impl FnMut(&EntryRow) -> Result<(), E>,
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
