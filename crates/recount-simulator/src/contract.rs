//! The contract of a storage, as a test suite for any implementation.
//!
//! ```
//! use recount_log::MemoryStorage;
//!
//! recount_simulator::contract::check(|| Ok(MemoryStorage::default()))?;
//! # Ok::<(), recount_testkit::laws::Broken>(())
//! ```

use bytes::Bytes;
use recount_log::storage::{
    Append, EntryRow, MessageRow, MessageStatus, OpenReplyInfo, PageLimit, ReplyCheckpoint, SessionRow, StateChange,
    Storage, Upload, View, Visibility, Write,
};
use recount_log::{Cursor, Digest, EncodedMessage, EncodedReply, Epoch, SessionKey, StorageError};
use recount_testkit::laws::Broken;

type Verdict = Result<(), Broken>;

/// One check of the contract.
type Check = (&'static str, fn(&mut dyn Storage) -> Verdict);

const CHECKS: &[Check] = &[
    ("a session is what it was made as", sessions),
    ("sessions are listed in order, page by page", listing),
    ("entries are returned in order and unchanged", entries),
    ("pages hold at least one entry and respect their limits", pages),
    ("a commit is atomic", atomic),
    ("an append checks the expected head", expected_place),
    ("messages are found by position, by id and by span", messages),
    ("open replies are stored until they end", open_replies),
    ("documents are replaced and removed", states),
    ("compacted entries replace those that they cover", compaction),
    ("uploads belong to a tenant and stay while they are referenced", uploads),
    ("a deleted session leaves no data", deletion),
    ("a staged session is hidden until it is published in one step", drafts),
    ("a view shows the committed data of one moment", readers),
];

/// Runs all checks, each with a new storage.
///
/// # Errors
///
/// If a check fails. The error contains its name.
pub fn check<S: Storage>(mut new: impl FnMut() -> Result<S, StorageError>) -> Verdict {
    for (name, check) in CHECKS {
        let broken = |what: &dyn std::fmt::Display| Broken::new(format!("{name}: {what}"));
        let mut storage = new().map_err(|error| broken(&error))?;
        check(&mut storage).map_err(|error| broken(&error))?;
    }
    Ok(())
}

macro_rules! ensure_eq {
    ($found:expr, $expected:expr, $what:expr) => {{
        let (found, expected) = (&$found, &$expected);
        if found != expected {
            return Err(Broken::new(format!("{}: found {found:?}, expected {expected:?}", $what)));
        }
    }};
}

fn failed(error: impl std::fmt::Display) -> Broken {
    Broken::new(error.to_string())
}

fn key(name: &str) -> Result<SessionKey, Broken> {
    name.parse().map_err(failed)
}

fn row(name: &str, epoch: u64) -> Result<SessionRow, Broken> {
    Ok(SessionRow {
        key: key(name)?,
        epoch: Epoch::from_random(epoch),
        head: 0,
        created_at: "2026-01-01T00:00:00.000000+00:00".to_owned(),
        properties: "{\"title\":\"é\"}".to_owned(),
    })
}

fn body(text: &str) -> Bytes {
    Bytes::from(format!("{{\"id\":\"{text}\",\"type\":\"NOTE\"}}"))
}

fn append(name: &str, after: u64, texts: &[&str]) -> Result<Append, Broken> {
    let mut append = Append::after(key(name)?, Epoch::from_random(7), after, 1_000);
    append.entries = texts.iter().map(|text| body(text)).collect();
    Ok(append)
}

fn message(id: &str, place: u64, last: u64) -> MessageRow {
    let body = EncodedMessage::new(format!("{{\"id\":\"{id}\"}}"));
    MessageRow { id: id.to_owned(), start_seq: place, end_seq: last, is_reply: true, nested: false, body }
}

fn commit(storage: &mut dyn Storage, writes: &[Write]) -> Verdict {
    storage.commit(writes).map_err(failed)
}

/// Creates a session with some entries.
fn with_entries(storage: &mut dyn Storage, texts: &[&str]) -> Verdict {
    commit(storage, &[Write::Create(row("chat", 7)?), Write::Append(append("chat", 0, texts)?)])
}

fn view(storage: &dyn Storage) -> Result<Box<dyn View + '_>, Broken> {
    storage.view().map_err(failed)
}

fn all(view: &dyn View, name: &str, after: u64) -> Result<Vec<EntryRow>, Broken> {
    view.entries(&key(name)?, after, PageLimit { count: 10_000, bytes: usize::MAX }).map_err(failed)
}

fn single(seq: u64, text: &str) -> EntryRow {
    EntryRow { first: seq, last: seq, body: body(text) }
}

fn sessions(storage: &mut dyn Storage) -> Verdict {
    let first = row("chat", 7)?;
    commit(storage, &[Write::Create(first.clone())])?;
    ensure_eq!(view(storage)?.session(&first.key).map_err(failed)?, Some(first.clone()), "the session");
    ensure_eq!(view(storage)?.session(&key("other")?).map_err(failed)?, None, "another one");
    let properties = "{\"title\":\"another\"}".to_owned();
    commit(storage, &[Write::SetProperties { key: first.key.clone(), properties: properties.clone() }])?;
    commit(storage, &[Write::Append(append("chat", 0, &["a", "b"])?)])?;
    let expected = SessionRow { properties, head: 2, ..first.clone() };
    ensure_eq!(view(storage)?.session(&first.key).map_err(failed)?, Some(expected), "after an append");
    let again = storage.commit(&[Write::Create(first.clone())]);
    ensure_eq!(again, Err(StorageError::Moved(first.key)), "a second one with its name");
    Ok(())
}

fn listing(storage: &mut dyn Storage) -> Verdict {
    let names = ["b", "a", "acme/a", "acme/Z", "zeta/b"];
    let rows = names.iter().map(|name| row(name, 7)).collect::<Result<Vec<_>, _>>()?;
    commit(storage, &rows.into_iter().map(Write::Create).collect::<Vec<_>>())?;
    let view = view(storage)?;
    let list = |tenant, after: Option<&str>, count| -> Result<Vec<String>, Broken> {
        let after = after.map(key).transpose()?;
        let rows = view.sessions(tenant, after.as_ref(), count).map_err(failed)?;
        Ok(rows.into_iter().map(|row| row.key.to_string()).collect())
    };
    ensure_eq!(list(None, None, 9)?, ["a", "b", "acme/Z", "acme/a", "zeta/b"], "all");
    ensure_eq!(list(None, Some("b"), 2)?, ["acme/Z", "acme/a"], "a page");
    ensure_eq!(list(Some("acme"), None, 9)?, ["acme/Z", "acme/a"], "those of a tenant");
    ensure_eq!(list(Some(""), None, 9)?, ["a", "b"], "those of nobody");
    Ok(())
}

fn entries(storage: &mut dyn Storage) -> Verdict {
    let large = "é\"\u{1f30d}".repeat(30_000);
    with_entries(storage, &["a", &large])?;
    commit(storage, &[Write::Append(append("chat", 2, &["c"])?), Write::Append(append("chat", 3, &["d", "e"])?)])?;
    let expected = [single(1, "a"), single(2, &large), single(3, "c"), single(4, "d"), single(5, "e")];
    let view = view(storage)?;
    ensure_eq!(all(&*view, "chat", 0)?, expected, "all of them");
    ensure_eq!(all(&*view, "chat", 3)?, expected[3..], "those after the third");
    ensure_eq!(all(&*view, "chat", 5)?, [], "those after the last");
    ensure_eq!(all(&*view, "other", 0)?, [], "those of no session");
    Ok(())
}

fn pages(storage: &mut dyn Storage) -> Verdict {
    with_entries(storage, &["a", "b", "c", "d"])?;
    let view = view(storage)?;
    let chat = key("chat")?;
    let count = |count, bytes| -> Result<usize, Broken> {
        Ok(view.entries(&chat, 0, PageLimit { count, bytes }).map_err(failed)?.len())
    };
    let size = body("a").len();
    ensure_eq!(count(3, usize::MAX)?, 3, "by number");
    ensure_eq!(count(9, 2 * size)?, 2, "by size");
    ensure_eq!(count(9, 2 * size + 1)?, 2, "by a size that ends in an entry");
    ensure_eq!(count(9, 0)?, 1, "with no room at all");
    ensure_eq!(count(0, 0)?, 1, "with nothing asked for");
    Ok(())
}

fn atomic(storage: &mut dyn Storage) -> Verdict {
    with_entries(storage, &["a"])?;
    let mut good = append("chat", 1, &["b"])?;
    good.opened.push(OpenReplyInfo { id: "r".to_owned(), start_seq: 2, hosted: false, nested: false });
    good.finished.push(message("m", 2, 2));
    good.states.push(StateChange { name: "agent".to_owned(), body: Some("{}".to_owned()) });
    let writes = [
        Write::Create(row("new", 7)?),
        Write::Append(good.clone()),
        Write::SetProperties { key: key("chat")?, properties: "{}".to_owned() },
        Write::Append(append("nobody", 0, &["x"])?),
    ];
    ensure_eq!(storage.commit(&writes), Err(StorageError::Moved(key("nobody")?)), "with one that cannot be");
    let chat = key("chat")?;
    {
        let view = view(storage)?;
        ensure_eq!(all(&*view, "chat", 0)?, [single(1, "a")], "the entries");
        ensure_eq!(view.session(&key("new")?).map_err(failed)?, None, "the new session");
        ensure_eq!(
            view.session(&chat).map_err(failed)?.map(|row| row.properties),
            Some(row("chat", 7)?.properties),
            "the words"
        );
        ensure_eq!(view.open_replies(&chat).map_err(failed)?, [], "the open replies");
        ensure_eq!(view.message_status(&chat, "m").map_err(failed)?, None, "the messages");
        ensure_eq!(view.states(&chat).map_err(failed)?, [], "the documents");
    }
    commit(storage, &[Write::Append(good)])
}

fn expected_place(storage: &mut dyn Storage) -> Verdict {
    with_entries(storage, &["a", "b"])?;
    let moved = Err(StorageError::Moved(key("chat")?));
    for after in [0, 1, 3] {
        ensure_eq!(storage.commit(&[Write::Append(append("chat", after, &["c"])?)]), moved, format!("after {after}"));
    }
    let mut other = append("chat", 2, &["c"])?;
    other.epoch = Epoch::from_random(8);
    ensure_eq!(storage.commit(&[Write::Append(other)]), moved, "in another epoch");
    commit(storage, &[Write::Append(append("chat", 2, &["c"])?)])
}

fn messages(storage: &mut dyn Storage) -> Verdict {
    let mut write = append("chat", 0, &["1", "2", "3", "4", "5", "6"])?;
    let nested = MessageRow { nested: true, ..message("sub", 2, 4) };
    let whole = MessageRow { is_reply: false, ..message("m3", 6, 6) };
    write.finished = vec![message("m1", 1, 3), nested.clone(), message("m2", 3, 5), whole.clone()];
    commit(storage, &[Write::Create(row("chat", 7)?), Write::Append(write)])?;
    let (view, chat) = (view(storage)?, key("chat")?);
    let ids = |messages: Vec<MessageRow>| messages.into_iter().map(|message| message.id).collect::<Vec<_>>();
    let finished = |before, show, count| view.messages_before(&chat, before, show, count).map(ids).map_err(failed);
    ensure_eq!(finished(u64::MAX, Visibility::All, 9)?, ["m1", "sub", "m2", "m3"], "all");
    ensure_eq!(finished(u64::MAX, Visibility::TopLevel, 2)?, ["m2", "m3"], "the newest of the top level");
    ensure_eq!(finished(3, Visibility::TopLevel, 9)?, ["m1"], "those before a place");
    ensure_eq!(view.message(&chat, "sub").map_err(failed)?, Some(nested), "one by its id");
    ensure_eq!(view.message_status(&chat, "m1").map_err(failed)?, Some(MessageStatus::EndedReply), "a reply");
    ensure_eq!(
        view.message_status(&chat, "m3").map_err(failed)?,
        Some(MessageStatus::Message),
        "a message that came whole"
    );
    ensure_eq!(view.message_status(&chat, "m4").map_err(failed)?, None, "nobody's id");
    let end = |id| view.reply_end_seq(&chat, id).map_err(failed);
    ensure_eq!((end("m2")?, end("m3")?, end("m4")?), (Some(5), None, None), "where replies end");
    ensure_eq!(ids(view.messages_spanning(&chat, 3).map_err(failed)?), ["sub", "m2"], "those open at a place");
    ensure_eq!(ids(view.messages_spanning(&chat, 6).map_err(failed)?), [] as [&str; 0], "those open at the head");
    ensure_eq!(view.last_settled(&chat, 1_001).map_err(failed)?, 6, "what is older");
    ensure_eq!(view.last_settled(&chat, 1_000).map_err(failed)?, 0, "what is not");
    ensure_eq!(view.last_finished_at(&chat).map_err(failed)?, Some(1_000), "when the last one was complete");
    ensure_eq!(view.last_finished_at(&key("acme/chat")?).map_err(failed)?, None, "nobody's");
    Ok(())
}

fn open_replies(storage: &mut dyn Storage) -> Verdict {
    let mut write = append("chat", 0, &["1", "2"])?;
    let opened =
        |id: &str, place, hosted| OpenReplyInfo { id: id.to_owned(), start_seq: place, hosted, nested: !hosted };
    write.opened = vec![opened("z", 1, true), opened("a", 2, false)];
    commit(storage, &[Write::Create(row("chat", 7)?), Write::Create(row("acme/chat", 7)?), Write::Append(write)])?;
    let chat = key("chat")?;
    let mut next = append("chat", 2, &["3"])?;
    let (fold, inputs) = (EncodedReply::new("{\"message\":{}}"), "{}".to_owned());
    let checkpoint = ReplyCheckpoint { id: "a".to_owned(), seq: 3, fold, inputs };
    next.checkpoints = vec![checkpoint.clone()];
    commit(storage, &[Write::Append(next)])?;
    let open = view(storage)?.open_replies(&chat).map_err(failed)?;
    let found: Vec<_> = open.iter().map(|row| (&row.info, row.checkpoint.as_ref())).collect();
    ensure_eq!(found, [(&opened("z", 1, true), None), (&opened("a", 2, false), Some(&checkpoint))], "those open");
    ensure_eq!(view(storage)?.hosted_sessions().map_err(failed)?, vec![chat.clone()], "the sessions of this service");
    let mut end = append("chat", 3, &["4"])?;
    end.finished = vec![message("z", 1, 4)];
    commit(storage, &[Write::Append(end)])?;
    let open = view(storage)?.open_replies(&chat).map_err(failed)?;
    ensure_eq!(open.iter().map(|row| row.info.id.as_str()).collect::<Vec<_>>(), ["a"], "after an end");
    ensure_eq!(view(storage)?.hosted_sessions().map_err(failed)?, [], "the sessions of this service, after the end");
    Ok(())
}

fn states(storage: &mut dyn Storage) -> Verdict {
    with_entries(storage, &[])?;
    let chat = key("chat")?;
    let change = |name: &str, body: Option<&str>| StateChange { name: name.to_owned(), body: body.map(str::to_owned) };
    let mut write = append("chat", 0, &["a"])?;
    write.states = vec![change("b", Some("1")), change("a", Some("2")), change("b", Some("3"))];
    commit(storage, &[Write::Append(write)])?;
    let pair = |name: &str, body: &str| (name.to_owned(), body.to_owned());
    ensure_eq!(view(storage)?.states(&chat).map_err(failed)?, [pair("a", "2"), pair("b", "3")], "both");
    let mut write = append("chat", 1, &[])?;
    write.states = vec![change("a", None), change("c", None)];
    commit(storage, &[Write::Append(write)])?;
    ensure_eq!(view(storage)?.states(&chat).map_err(failed)?, [pair("b", "3")], "what is left");
    ensure_eq!(view(storage)?.state(&chat, "b").map_err(failed)?, Some("3".to_owned()), "one");
    Ok(())
}

fn compaction(storage: &mut dyn Storage) -> Verdict {
    with_entries(storage, &["1", "2", "3", "4", "5", "6"])?;
    let joined = |first, last, text: &str| EntryRow { first, last, body: body(text) };
    let (chat, epoch) = (key("chat")?, Epoch::from_random(7));
    let compact = |rows: &[EntryRow]| Write::Compact { key: chat.clone(), epoch, rows: rows.to_vec() };
    let rows = [joined(1, 2, "1+2"), joined(4, 6, "4+5+6")];
    let foreign = Write::Compact { key: chat.clone(), epoch: Epoch::from_random(8), rows: rows.to_vec() };
    ensure_eq!(storage.commit(&[foreign]), Err(StorageError::Moved(chat.clone())), "in another epoch");
    commit(storage, &[compact(&rows)])?;
    let expected = [rows[0].clone(), single(3, "3"), rows[1].clone()];
    ensure_eq!(all(&*view(storage)?, "chat", 0)?, expected, "all of them");
    ensure_eq!(all(&*view(storage)?, "chat", 4)?, expected[2..], "from the inside of one");
    ensure_eq!(view(storage)?.session(&key("chat")?).map_err(failed)?.map(|row| row.head), Some(6), "the head");
    commit(storage, &[Write::Append(append("chat", 6, &["7"])?)])?;
    for (first, last) in [(1, 1), (2, 3), (3, 5), (5, 7), (5, 5)] {
        let torn = storage.commit(&[compact(&[joined(first, last, "torn")])]);
        let what = format!("{first} to {last}, a part of what was joined before");
        ensure_eq!(torn, Err(StorageError::Moved(chat.clone())), what);
    }
    let again = joined(1, 6, "all");
    commit(storage, &[compact(std::slice::from_ref(&again))])?;
    ensure_eq!(all(&*view(storage)?, "chat", 0)?, [again, single(7, "7")], "joined once more");
    Ok(())
}

fn uploads(storage: &mut dyn Storage) -> Verdict {
    with_entries(storage, &["a"])?;
    let upload = |tenant: &str, text: &'static str, at| Upload {
        tenant: tenant.to_owned(),
        digest: Digest::of(text.as_bytes()),
        media_type: "text/plain".to_owned(),
        at,
        bytes: Bytes::from_static(text.as_bytes()),
    };
    let (named, forgotten, recent, foreign) =
        (upload("", "named", 1), upload("", "forgotten", 1), upload("", "recent", 9), upload("acme", "named", 1));
    let all = [&named, &forgotten, &recent, &foreign];
    commit(storage, &all.map(|upload| Write::Upload(upload.clone())))?;
    let mut write = append("chat", 1, &["b"])?;
    write.uploads = vec![named.digest, named.digest];
    commit(storage, &[Write::Append(write)])?;
    let get = |storage: &dyn Storage, upload: &Upload| -> Result<Option<Upload>, Broken> {
        view(storage)?.upload(&upload.tenant, upload.digest).map_err(failed)
    };
    for upload in all {
        ensure_eq!(get(storage, upload)?, Some(upload.clone()), "an upload");
    }
    ensure_eq!(get(storage, &upload("acme", "recent", 0))?, None, "another's upload");
    ensure_eq!(view(storage)?.referenced_uploads(&key("chat")?).map_err(failed)?, [named.digest], "what is named");
    commit(storage, &[Write::Sweep { before: 5 }])?;
    let left = all.map(|upload| get(storage, upload).map(|found| found.is_some()));
    let left = left.into_iter().collect::<Result<Vec<_>, _>>()?;
    ensure_eq!(left, [true, false, true, false], "what is left");
    Ok(())
}

fn deletion(storage: &mut dyn Storage) -> Verdict {
    let mut write = append("chat", 0, &["a", "b"])?;
    write.opened = vec![OpenReplyInfo { id: "r".to_owned(), start_seq: 1, hosted: true, nested: false }];
    write.finished = vec![message("m", 2, 2)];
    write.states = vec![StateChange { name: "agent".to_owned(), body: Some("{}".to_owned()) }];
    commit(storage, &[Write::Create(row("chat", 7)?), Write::Append(write)])?;
    let chat = key("chat")?;
    commit(storage, &[Write::Delete(chat.clone())])?;
    ensure_eq!(view(storage)?.session(&chat).map_err(failed)?, None, "the session");
    ensure_eq!(storage.commit(&[Write::Delete(chat.clone())]), Err(StorageError::Moved(chat.clone())), "once more");
    commit(storage, &[Write::Create(row("chat", 7)?)])?;
    let view = view(storage)?;
    ensure_eq!(all(&*view, "chat", 0)?, [], "its entries");
    ensure_eq!(view.open_replies(&chat).map_err(failed)?, [], "its open replies");
    ensure_eq!(view.message_status(&chat, "m").map_err(failed)?, None, "its messages");
    ensure_eq!(view.states(&chat).map_err(failed)?, [], "its documents");
    ensure_eq!(view.hosted_sessions().map_err(failed)?, [], "what it hosted");
    Ok(())
}

fn drafts(storage: &mut dyn Storage) -> Verdict {
    let draft = SessionKey::staged("", 7);
    let (chat, begun) = (key("chat")?, SessionRow { key: draft.clone(), ..row("chat", 9)? });
    let piece = |after, text| append("chat", after, &[text]).map(|write| Append { key: draft.clone(), ..write });
    let epoch = begun.epoch;
    let opened = vec![OpenReplyInfo { id: "r".to_owned(), start_seq: 1, hosted: true, nested: false }];
    let first = piece(0, "a").map(|write| Write::Append(Append { epoch, opened, ..write }))?;
    let write = |after, text| piece(after, text).map(|write| Write::Append(Append { epoch, ..write }));
    commit(storage, &[Write::Create(row("chat", 7)?), Write::Create(begun), first])?;
    commit(storage, &[write(1, "b")?])?;
    let listed = |storage: &dyn Storage| -> Result<Vec<(String, u64)>, Broken> {
        let rows = view(storage)?.sessions(None, None, 9).map_err(failed)?;
        Ok(rows.into_iter().map(|row| (row.key.to_string(), row.head)).collect())
    };
    ensure_eq!(listed(storage)?, [("chat".to_owned(), 0)], "what is seen");
    ensure_eq!(view(storage)?.session_count().map_err(failed)?, 1, "how many are seen");
    ensure_eq!(view(storage)?.hosted_sessions().map_err(failed)?, [], "the sessions of this service");
    ensure_eq!(view(storage)?.session(&draft).map_err(failed)?.map(|row| row.head), Some(2), "the draft");
    let adopt_at = |head| Write::Publish { draft: draft.clone(), head, key: chat.clone() };
    let head = Cursor { epoch, seq: 2 };
    for elsewhere in
        [Cursor { seq: 1, ..head }, Cursor { seq: 3, ..head }, Cursor { epoch: Epoch::from_random(7), ..head }]
    {
        let moved = storage.commit(&[Write::Delete(chat.clone()), adopt_at(elsewhere)]);
        ensure_eq!(moved, Err(StorageError::Moved(draft.clone())), format!("a draft that is not at {elsewhere}"));
    }
    // Within a commit, the expected head includes the earlier writes of the commit.
    let too_early = storage.commit(&[Write::Delete(chat.clone()), write(2, "c")?, adopt_at(head)]);
    ensure_eq!(too_early, Err(StorageError::Moved(draft.clone())), "a draft that has just moved");
    ensure_eq!(listed(storage)?, [("chat".to_owned(), 0)], "what is seen after all that");
    let adopt = adopt_at(head);
    let moved = Err(StorageError::Moved(chat.clone()));
    ensure_eq!(storage.commit(std::slice::from_ref(&adopt)), moved, "a name that is taken");
    commit(storage, &[Write::Delete(chat.clone()), adopt.clone()])?;
    ensure_eq!(listed(storage)?, [("chat".to_owned(), 2)], "what is seen then");
    ensure_eq!(all(&*view(storage)?, "chat", 0)?.len(), 2, "its entries");
    ensure_eq!(view(storage)?.hosted_sessions().map_err(failed)?, std::slice::from_ref(&chat), "it is of this service");
    ensure_eq!(view(storage)?.session(&draft).map_err(failed)?, None, "what is left of the draft");
    commit(storage, &[Write::Append(Append { epoch, ..append("chat", 2, &["c"])? })])?;
    ensure_eq!(storage.commit(&[adopt]), Err(StorageError::Moved(draft)), "a draft that is gone");
    Ok(())
}

fn readers(storage: &mut dyn Storage) -> Verdict {
    with_entries(storage, &["a"])?;
    let readers = storage.readers();
    let from_another_thread = |after: u64| -> Result<usize, Broken> {
        let readers = readers.clone();
        let read =
            std::thread::spawn(move || all(&*readers.view().map_err(failed)?, "chat", after).map(|rows| rows.len()));
        read.join().map_err(|_| Broken::new("a reader panicked"))?
    };
    ensure_eq!(from_another_thread(0)?, 1, "at first");
    let early = readers.view().map_err(failed)?;
    ensure_eq!(all(&*early, "chat", 0)?.len(), 1, "an early look");
    commit(storage, &[Write::Append(append("chat", 1, &["b", "c"])?)])?;
    ensure_eq!(from_another_thread(0)?, 3, "after a commit");
    ensure_eq!(all(&*early, "chat", 0)?.len(), 1, "a look that began before the commit");
    drop(early);
    ensure_eq!(view(storage)?.integrity_errors().map_err(failed)?, [] as [String; 0], "faults");
    Ok(())
}
