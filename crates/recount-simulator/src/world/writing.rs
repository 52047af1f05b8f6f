//! Runs requests of the simulated processes, with requests planned during a commit, and faults at any time.

use std::collections::HashMap;

use bytes::Bytes;
use recount_log::storage::{Append, Storage, StorageResult, Views, Write};
use recount_log::subscription::Tail;
use recount_log::writer::{PlanContext, SessionUpdate, WriterOutput};
use recount_log::{Cursor, Error, LoadedSession, Request, Response, SessionKey};
use recount_message::AgentEvent;
use recount_testkit::laws::Broken;

use super::overtaken::Overtaken;
use super::requests::session_of;
use super::{NODES, Node, Verdict, World};
use crate::defect::Defect;
use crate::storage::{Fault, FaultyStorage};

/// A request, and the events in it.
pub(super) struct Sent {
    pub(super) request: Request,
    pub(super) events: Vec<AgentEvent>,
}

/// An entry that a writer has published to its readers.
pub(super) struct Noticed {
    pub(super) key: SessionKey,
    pub(super) cursor: Cursor,
    pub(super) event: Bytes,
}

/// The responses of a writer, and the entries that it has published.
struct Answers<'n> {
    answers: Vec<(usize, Result<Response, Error>)>,
    noticed: Vec<Noticed>,
    tails: &'n mut HashMap<SessionKey, Tail>,
    storage: FaultyStorage,
}

impl<'n> Answers<'n> {
    fn to(tails: &'n mut HashMap<SessionKey, Tail>, storage: &FaultyStorage) -> Self {
        Self { answers: Vec::new(), noticed: Vec::new(), tails, storage: storage.clone() }
    }
}

impl WriterOutput for Answers<'_> {
    fn respond(&mut self, index: usize, answer: Result<Response, Error>) {
        // A dead process sends no responses.
        if !self.storage.is_dead() {
            self.answers.push((index, answer));
        }
    }

    fn publish(&mut self, notice: SessionUpdate<'_>) {
        match notice {
            SessionUpdate::Appended { key, epoch, after, entries, .. } => {
                for (seq, event) in (after + 1..).zip(entries) {
                    let cursor = Cursor { epoch, seq };
                    self.noticed.push(Noticed { key: key.clone(), cursor, event: event.clone() });
                }
                self.tails.entry(key.clone()).or_default().push(epoch, after, entries);
            }
            SessionUpdate::Replaced(key) => self.tails.entry(key.clone()).or_default().clear(),
            _ => {}
        }
    }
}

impl World {
    /// Gives requests to a process, and further ones during the commit. Faults may occur.
    pub(super) fn write(&mut self) -> Verdict {
        let node = self.random.below(NODES);
        let now = self.now();
        if self.leases.iter().any(|known| known.is_held && known.node == node && known.until > now)
            && self.storage.shows(Defect::ForgetsLeases)
        {
            self.nodes[node] = self.node();
        }
        let count = self.random.pick(&[1, 1, 2, 3, 4]);
        self.ask(node, count);
        let under_way = self.advance(node)?;
        if self.random.chance(25) {
            // Another process commits first.
            let other = (node + 1) % NODES;
            self.ask_in_the_way(other, node);
            let writes = self.advance(other)?;
            let before = self.models.clone();
            self.complete(other, writes)?;
            let Node { answered, unanswered, .. } = &self.nodes[node];
            self.overtaken = Overtaken::by(before, &self.models, answered + unanswered.len());
        }
        self.ask_more(node)?;
        // Uncommitted entries must not be visible.
        if let Some(key) = under_way.iter().flatten().find_map(Write::key)
            && self.random.chance(30)
        {
            self.read_by_all(key)?;
        }
        self.break_something();
        match under_way {
            Some(writes) if self.random.chance(30) => {
                // The commit is written, but the process dies before it learns that.
                let result = self.storage.commit(&writes);
                self.ask_more(node)?;
                let next = self.finish(node, writes, result)?;
                self.complete(node, next)?;
            }
            Some(writes) if self.random.chance(3) => {
                // The process dies before the commit.
                drop(writes);
                self.storage.die();
            }
            under_way => self.complete(node, under_way)?,
        }
        let writes = self.advance(node)?;
        self.complete(node, writes)?;
        self.overtaken = None;
        if self.storage.heal() {
            self.tally.deaths += 1;
            let unanswered: Vec<Sent> = self.nodes[node].unanswered.drain(..).collect();
            self.recover(node, &unanswered)?;
            self.restart(node);
        } else if let Some(sent) = self.nodes[node].unanswered.front() {
            return Err(Broken::new(format!("no answer to {:?}", sent.request)));
        }
        self.check_heads()
    }

    fn break_something(&mut self) {
        let after = self.random.below(2);
        match self.random.below(20) {
            0 => self.storage.fail(Fault::DeathBefore, after),
            1 => self.storage.fail(Fault::DeathAfter, after),
            2 => self.storage.fail(Fault::Full, after),
            3 => self.storage.fail(Fault::FullOnce, after),
            _ => {}
        }
    }

    fn ask(&mut self, node: usize, count: usize) {
        for _ in 0..count {
            let sent = self.request(node);
            self.send(node, sent);
        }
    }

    /// Sends a request to a process, usually for the session that another process uses.
    fn ask_in_the_way(&mut self, node: usize, of: usize) {
        let session = self.nodes[of].unanswered.front().and_then(|sent| session_of(&sent.request)).cloned();
        let sent = match session.filter(|_| self.random.chance(80)) {
            Some(session) => self.request_about(node, session),
            None => self.request(node),
        };
        self.send(node, sent);
    }

    fn send(&mut self, node: usize, sent: Sent) {
        let request = self.spoilt_request(node, &sent).unwrap_or_else(|| sent.request.clone());
        // A session is loaded either in advance or by the writer.
        if self.nodes[node].pipeline.needs_load(&request)
            && self.random.chance(50)
            && let Some(key) = session_of(&request)
            && let Ok(loaded) =
                self.storage.view().map_err(Error::from).and_then(|view| LoadedSession::read(&*view, key))
        {
            self.nodes[node].pipeline.insert_loaded(key, loaded);
        }
        self.nodes[node].pipeline.push(request);
        self.nodes[node].unanswered.push_back(sent);
    }

    /// Applies the planted defect to a request, if it occurs in it.
    fn spoilt_request(&self, node: usize, sent: &Sent) -> Option<Request> {
        let (Request::Append(request), Some(defect)) = (&sent.request, self.storage.planted()) else { return None };
        let is_lost = request.lease.as_ref().is_some_and(|lease| !self.holds(node, lease));
        let spoilt = defect.spoil_request(self.models.get(&request.key)?, request, &sent.events, is_lost)?;
        self.storage.shows(defect).then_some(Request::Append(spoilt))
    }

    /// Sometimes plans further requests during a commit, on top of it.
    fn ask_more(&mut self, node: usize) -> Verdict {
        if self.storage.is_dead() || !self.random.chance(50) {
            return Ok(());
        }
        let count = self.random.pick(&[1, 1, 2, 3]);
        self.ask(node, count);
        if self.nodes[node].pipeline.is_committing() {
            self.tally.planned_on_top += count;
            // No writes are returned before the commit is finished.
            if self.advance(node)?.is_some() {
                return Err(Broken::new("two commits are in progress"));
            }
        }
        Ok(())
    }

    /// Finishes the commit in progress, and all later ones.
    fn complete(&mut self, node: usize, mut writes: Option<Vec<Write>>) -> Verdict {
        while let Some(under_way) = writes {
            let result = self.storage.commit(&under_way);
            writes = match self.finish(node, under_way, result)? {
                Some(next) => Some(next),
                None => self.advance(node)?,
            };
        }
        Ok(())
    }

    fn advance(&mut self, node: usize) -> Result<Option<Vec<Write>>, Broken> {
        if self.storage.is_dead() {
            return Ok(None);
        }
        let Node { pipeline, tails, .. } = &mut self.nodes[node];
        let mut output = Answers::to(tails, &self.storage);
        let writes = pipeline.advance(PlanContext::of(&self.storage), &mut output);
        let Answers { answers, noticed, .. } = output;
        self.take(node, answers, noticed)?;
        for write in writes.iter().flatten() {
            if let Write::Append(Append { key, epoch, after, entries, .. }) = write
                && !entries.is_empty()
                && self.readers.iter().any(|reader| reader.node == node && reader.is_at(key, *epoch, *after))
                && self.storage.shows(Defect::ShowsTooEarly)
            {
                self.nodes[node].tails.entry(key.clone()).or_default().push(*epoch, *after, entries);
            }
        }
        Ok(writes)
    }

    /// Returns the writes of the next commit, if they are planned.
    fn finish(
        &mut self,
        node: usize,
        writes: Vec<Write>,
        result: StorageResult<()>,
    ) -> Result<Option<Vec<Write>>, Broken> {
        self.tell_others(node, &writes);
        let Node { pipeline, tails, .. } = &mut self.nodes[node];
        let mut output = Answers::to(tails, &self.storage);
        let next = pipeline.finish(writes, result, &mut self.storage, &mut output);
        pipeline.deliver(&mut output);
        let Answers { answers, noticed, .. } = output;
        self.take(node, answers, noticed)?;
        Ok(next)
    }

    /// Clears the tail of a session in a process, because another process has written to it. A storage that is shared by several
    /// processes must notify them.
    fn tell_others(&mut self, node: usize, writes: &[Write]) {
        for (_, other) in self.nodes.iter_mut().enumerate().filter(|&(other, _)| other != node) {
            for key in writes.iter().filter_map(Write::key) {
                other.tails.remove(key);
            }
        }
    }

    /// Checks responses against the model, in the order of the requests.
    fn take(&mut self, node: usize, answers: Vec<(usize, Result<Response, Error>)>, noticed: Vec<Noticed>) -> Verdict {
        self.noticed = noticed;
        for (index, mut answer) in answers {
            if let Ok(Response::Appended(appended)) = &mut answer
                && appended.written > 0
                && self.storage.shows(Defect::TellsAnOldHead)
            {
                appended.cursor.seq -= 1;
            }
            let asked = &mut self.nodes[node];
            if index != asked.answered {
                return Err(Broken::new(format!("{index} was answered before {}", asked.answered)));
            }
            let Some(sent) = asked.unanswered.pop_front() else {
                return Err(Broken::new(format!("{index} was answered and never asked")));
            };
            asked.answered += 1;
            if self.is_telling {
                self.told.push(format!("node {node}: {:?}\n    {answer:?}", sent.request));
            }
            self.judge(node, index, &sent, &answer)?;
        }
        Ok(())
    }
}
