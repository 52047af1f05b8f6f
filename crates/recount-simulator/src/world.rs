//! The simulated world: writers that die, disks that fill up and lose power, readers that are slow and come back.
//!
//! Everything that happens follows from a seed. After each step the log is held to the model.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use recount_log::join::{Join, Tail};
use recount_log::storage::{Limit, StateChange, View, Views};
use recount_log::writer::{Notice, Outbox};
use recount_log::{
    Adoption, Answer, AppendRequest, Cursor, Epoch, Error, Events, Frame, Lease, LeaseRequest, Request, SessionKey,
    Start, Surroundings, Writer,
};
use recount_message::jiff::Timestamp;
use recount_message::{AgentEvent, Clock, CountingIds, CustomName, Event, Msg};
use recount_testkit::laws::Broken;
use recount_testkit::random::Random;

use crate::client::Client;
use crate::model::{ModelSession, is_storage_failure, same_answer, session_key};
use crate::script::{Script, note};
use crate::storage::{Fault, FaultyStorage};

type Verdict = Result<(), Broken>;

/// Runs a simulation of some steps.
///
/// # Errors
///
/// When the log does something that the contract does not allow; the error says after which step.
pub fn simulate(seed: u64, steps: usize) -> Result<Tally, Broken> {
    run(World::new(seed), steps, &mut |_| {})
}

/// Runs a simulation and tells of every request and its answer.
///
/// # Errors
///
/// As [`simulate`].
pub fn simulate_telling(seed: u64, steps: usize, tell: &mut dyn FnMut(&str)) -> Result<Tally, Broken> {
    let mut world = World::new(seed);
    world.is_telling = true;
    run(world, steps, tell)
}

fn run(mut world: World, steps: usize, tell: &mut dyn FnMut(&str)) -> Result<Tally, Broken> {
    for step in 0..steps {
        let done = world.step();
        for line in world.told.drain(..) {
            tell(&format!("step {step}: {line}"));
        }
        done.map_err(|broken| Broken::new(format!("step {step}: {broken}")))?;
    }
    world.settle().map_err(|broken| Broken::new(format!("at the end: {broken}")))?;
    Ok(world.tally)
}

/// What has happened in a simulation: a test that nothing happens in proves nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Tally {
    /// Entries that were acknowledged.
    pub written: usize,
    /// Events that were known already.
    pub duplicates: usize,
    /// Inputs that were refused.
    pub refused: usize,
    /// Processes that died in the middle of something.
    pub deaths: usize,
    /// Power losses.
    pub power_losses: usize,
    /// Commits that found no room.
    pub full: usize,
    /// Appends under a lease that was lost.
    pub lost_leases: usize,
    /// Frames that readers got.
    pub frames: usize,
    /// Gaps among them.
    pub gaps: usize,
    /// Times that a reader had everything and was compared with the model.
    pub agreements: usize,
    /// Entries that were joined with others.
    pub joined: usize,
}

impl std::ops::AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.written += other.written;
        self.duplicates += other.duplicates;
        self.refused += other.refused;
        self.deaths += other.deaths;
        self.power_losses += other.power_losses;
        self.full += other.full;
        self.lost_leases += other.lost_leases;
        self.frames += other.frames;
        self.gaps += other.gaps;
        self.agreements += other.agreements;
        self.joined += other.joined;
    }
}

const SESSIONS: usize = 3;
const NODES: usize = 2;

struct World {
    random: Random,
    time: Arc<AtomicI64>,
    storage: FaultyStorage,
    nodes: Vec<Node>,
    models: BTreeMap<SessionKey, ModelSession>,
    /// The models of what is on the disk.
    on_disk: BTreeMap<SessionKey, ModelSession>,
    scripts: BTreeMap<SessionKey, Script>,
    scripts_begun: usize,
    readers: Vec<Reader>,
    leases: Vec<Known>,
    incarnations: usize,
    tally: Tally,
    /// Whether requests are told of, and what is to be told.
    is_telling: bool,
    told: Vec<String>,
}

struct Node {
    writer: Writer,
    tails: HashMap<SessionKey, Tail>,
}

struct Reader {
    key: SessionKey,
    node: usize,
    join: Join,
    frames: VecDeque<Frame>,
    client: Client,
    /// Whether it has folded everything from the beginning, and no snapshot.
    is_whole: bool,
}

/// A lease that somebody was given.
struct Known {
    node: usize,
    lease: Lease,
    until: i64,
    is_held: bool,
}

/// A clock that the simulation moves.
struct SimulatedClock(Arc<AtomicI64>);

impl Clock for SimulatedClock {
    fn now(&mut self) -> Timestamp {
        Timestamp::from_millisecond(self.0.load(Ordering::Relaxed)).unwrap_or(Timestamp::UNIX_EPOCH)
    }
}

struct SimulatedChance(Random);

impl recount_log::Chance for SimulatedChance {
    fn number(&mut self) -> u64 {
        self.0.number()
    }
}

/// What a writer has answered, and what it has told its readers.
struct Answers<'n> {
    answers: Vec<Option<Result<Answer, Error>>>,
    tails: &'n mut HashMap<SessionKey, Tail>,
    storage: FaultyStorage,
}

impl Outbox for Answers<'_> {
    fn answer(&mut self, index: usize, answer: Result<Answer, Error>) {
        // Who is dead says nothing.
        if !self.storage.is_dead() {
            self.answers[index] = Some(answer);
        }
    }

    fn notice(&mut self, notice: Notice<'_>) {
        match notice {
            Notice::Appended { key, epoch, after, entries } => {
                self.tails.entry(key.clone()).or_default().push(epoch, after, entries);
            }
            Notice::Replaced(key) => self.tails.entry(key.clone()).or_default().clear(),
            _ => {}
        }
    }
}

/// A request, and the events in it.
struct Sent {
    request: Request,
    events: Vec<AgentEvent>,
}

impl World {
    fn new(seed: u64) -> Self {
        let mut world = Self {
            random: Random::new(seed),
            time: Arc::new(AtomicI64::new(1_767_225_600_000)),
            storage: FaultyStorage::default(),
            nodes: Vec::new(),
            models: BTreeMap::new(),
            on_disk: BTreeMap::new(),
            scripts: BTreeMap::new(),
            scripts_begun: 0,
            readers: Vec::new(),
            leases: Vec::new(),
            incarnations: 0,
            tally: Tally::default(),
            is_telling: false,
            told: Vec::new(),
        };
        for _ in 0..NODES {
            let node = world.node();
            world.nodes.push(node);
        }
        world
    }

    /// A process that has just been started.
    fn node(&mut self) -> Node {
        self.incarnations += 1;
        let chance = SimulatedChance(Random::new(self.random.number()));
        let ids = CountingIds::new(format!("node-{}-", self.incarnations));
        let surroundings = Surroundings::new(SimulatedClock(Arc::clone(&self.time)), chance, ids);
        Node { writer: Writer::new(surroundings), tails: HashMap::new() }
    }

    fn now(&self) -> i64 {
        self.time.load(Ordering::Relaxed)
    }

    fn step(&mut self) -> Verdict {
        self.time.fetch_add(self.random.below(2_000) as i64, Ordering::Relaxed);
        match self.random.below(100) {
            0..50 => self.write(),
            50..80 => self.read(),
            80..86 => {
                self.join();
                Ok(())
            }
            86..90 => {
                self.vanish();
                Ok(())
            }
            90..93 => {
                self.storage.sync();
                self.on_disk.clone_from(&self.models);
                Ok(())
            }
            93..95 => {
                let node = self.random.below(NODES);
                self.restart(node);
                Ok(())
            }
            95 => {
                self.lose_power();
                Ok(())
            }
            _ => self.check_storage(),
        }
    }

    /// Lets everybody read to the end, and compares everything once more.
    fn settle(&mut self) -> Verdict {
        self.check_storage()?;
        for index in 0..self.readers.len() {
            while self.read_some(index)? {}
        }
        Ok(())
    }

    fn key(&mut self) -> SessionKey {
        session_key(self.random.below(SESSIONS))
    }

    /// One to four requests at once, which may end in trouble.
    fn write(&mut self) -> Verdict {
        let node = self.random.below(NODES);
        let count = self.random.pick(&[1, 1, 2, 3, 4]);
        let sent: Vec<Sent> = (0..count).map(|_| self.request(node)).collect();
        match self.random.below(20) {
            0 => self.storage.fail(Fault::DeathBefore, self.random.below(2)),
            1 => self.storage.fail(Fault::DeathAfter, self.random.below(2)),
            2 | 3 => self.storage.fail(Fault::Full, self.random.below(2)),
            _ => {}
        }
        let requests: Vec<Request> = sent.iter().map(|sent| sent.request.clone()).collect();
        let Some(Node { writer, tails }) = self.nodes.get_mut(node) else { return Ok(()) };
        let mut outbox = Answers { answers: vec![None; requests.len()], tails, storage: self.storage.clone() };
        writer.run(&mut self.storage, &requests, &mut outbox);
        let answers = outbox.answers;
        let is_dead = self.storage.heal();
        for (request, answer) in requests.iter().zip(&answers).filter(|_| self.is_telling) {
            self.told.push(format!("node {node}, dead {is_dead}: {request:?}\n    {answer:?}"));
        }
        let mut unanswered = Vec::new();
        for (sent, answer) in sent.iter().zip(answers) {
            match answer {
                None if is_dead => unanswered.push(sent),
                None => return Err(Broken::new(format!("no answer to {:?}", sent.request))),
                Some(answer) => self.judge(node, sent, &answer)?,
            }
        }
        if is_dead {
            self.tally.deaths += 1;
            self.recover(&unanswered)?;
            self.restart(node);
        }
        Ok(())
    }

    /// Something that somebody asks for.
    fn request(&mut self, node: usize) -> Sent {
        let key = self.key();
        let Some(model) = self.models.get(&key) else {
            return Sent { request: Request::Create { key, about: "{}".to_owned() }, events: Vec::new() };
        };
        let begun = &mut self.scripts_begun;
        let script = self.scripts.entry(key.clone()).or_insert_with(|| {
            *begun += 1;
            Script::new(*begun)
        });
        let random = &mut self.random;
        let events = match random.below(100) {
            0..48 => script.next(random),
            48..62 => script.again(random),
            62..78 => script.input(random, model),
            78..80 => return Sent { request: Request::Delete(key), events: Vec::new() },
            80 => {
                let about = format!("{{\"title\":{}}}", random.below(9));
                return Sent { request: Request::Describe { key, about }, events: Vec::new() };
            }
            81..84 => {
                let before = if random.chance(70) { i64::MAX } else { self.time.load(Ordering::Relaxed) - 20_000 };
                return Sent { request: Request::Compact { key, after: 0, before }, events: Vec::new() };
            }
            84 | 85 => {
                let events = model.entries.clone();
                let replaces = random.chance(70);
                let to = if replaces { key } else { session_key(random.below(SESSIONS)) };
                let adoption = Adoption {
                    key: to,
                    about: "{}".to_owned(),
                    events: Events::of(&events),
                    states: Vec::new(),
                    replaces,
                };
                return Sent { request: Request::Adopt(adoption), events };
            }
            86..92 => {
                let subject = format!("reply {}", random.below(2));
                let mut request = LeaseRequest::new(subject, format!("node {node}")).lasting(Duration::from_secs(5));
                request.by_force = random.chance(20);
                return Sent { request: Request::Acquire { key, request }, events: Vec::new() };
            }
            92..94 if !self.leases.is_empty() => {
                let lease = random.pick_ref(&self.leases).lease.clone();
                let request = if random.chance(50) {
                    Request::Renew { lease, time: Duration::from_secs(5) }
                } else {
                    Request::Release(lease)
                };
                return Sent { request, events: Vec::new() };
            }
            _ => script.next(random),
        };
        let mut request = AppendRequest::new(key.clone(), Events::of(&events));
        if random.chance(10) {
            let head = model.head();
            let seq = if random.chance(60) { head.seq } else { head.seq.saturating_sub(1) };
            request.after = Some(Cursor { seq, ..head });
        }
        let leases: Vec<&Known> = self.leases.iter().filter(|known| known.lease.session() == &key).collect();
        if !leases.is_empty() && random.chance(40) {
            request.lease = Some(random.pick_ref(&leases).lease.clone());
        }
        if random.chance(20) {
            let body = random.chance(80).then(|| format!("{{\"iteration\":{}}}", random.below(9)));
            request.states.push(StateChange { name: format!("agent {}", random.below(2)), body });
        }
        Sent { request: Request::Append(request), events }
    }

    /// Holds an answer to the model, which then is what the log must be.
    fn judge(&mut self, node: usize, sent: &Sent, answer: &Result<Answer, Error>) -> Verdict {
        if let Err(error) = answer
            && is_storage_failure(error)
        {
            self.tally.full += 1;
            return Ok(());
        }
        let wrong =
            |expected: &str| Err(Broken::new(format!("{:?}\nanswered {answer:?}\nnot {expected}", sent.request)));
        match (&sent.request, answer) {
            (Request::Append(request), answer) => return self.judge_append(node, request, &sent.events, answer),
            (Request::Create { key, .. }, Ok(Answer::Created(row))) if !self.models.contains_key(key) => {
                self.models.insert(key.clone(), ModelSession::new(row.epoch));
                self.scripts.remove(key);
                self.void_leases(node, key);
            }
            (Request::Create { key, .. }, Err(Error::SessionExists(_))) if self.models.contains_key(key) => {}
            (Request::Delete(key), Ok(_)) if self.models.contains_key(key) => {
                self.models.remove(key);
                self.void_leases(node, key);
            }
            (Request::Describe { key, .. }, Ok(_)) if self.models.contains_key(key) => {}
            (Request::Compact { key, .. }, Ok(Answer::Compacted(compacted))) if self.models.contains_key(key) => {
                self.tally.joined += usize::try_from(compacted.entries - compacted.rows).unwrap_or_default();
                self.note_joined()?;
            }
            (Request::Adopt(adoption), Ok(Answer::Created(row))) => {
                if self.models.contains_key(&adoption.key) && !adoption.replaces {
                    return wrong("that it exists");
                }
                self.models.insert(adoption.key.clone(), adopted(row.epoch, &sent.events));
                self.void_leases(node, &adoption.key);
            }
            (Request::Adopt(adoption), Err(Error::SessionExists(_))) => {
                if !self.models.contains_key(&adoption.key) || adoption.replaces {
                    return wrong("a new session");
                }
            }
            (Request::Acquire { key, request }, answer) => return self.judge_lease(node, key, request, answer),
            (Request::Renew { lease, .. }, answer) => {
                let (now, is_held) = (self.now(), self.holds(node, lease));
                if answer.is_ok() != is_held {
                    return wrong("what the leases say");
                }
                let known = self.leases.iter_mut().find(|known| is_held && &known.lease == lease);
                if let Some(known) = known {
                    known.until = now + 5_000;
                }
            }
            (Request::Release(lease), answer) => {
                if answer.is_ok() != self.holds(node, lease) {
                    return wrong("what the leases say");
                }
                for known in self.leases.iter_mut().filter(|known| known.node == node && &known.lease == lease) {
                    known.is_held = false;
                }
            }
            (
                Request::Delete(key) | Request::Describe { key, .. } | Request::Compact { key, .. },
                Err(Error::UnknownSession(_)),
            ) if !self.models.contains_key(key) => {}
            _ => return wrong("what the contract says"),
        }
        Ok(())
    }

    /// Notes which entries are not there any more by themselves.
    fn note_joined(&mut self) -> Verdict {
        let view = self.storage.view().map_err(|error| Broken::new(error.to_string()))?;
        for (key, model) in &mut self.models {
            let mut kept = HashSet::new();
            model.moved.clear();
            for row in rows(&*view, key)? {
                let id = decode(&row.body)?.id.into_owned();
                if row.first < row.last {
                    model.moved.insert(id.clone(), row.last);
                }
                kept.insert(id);
            }
            let gone = model.entries.iter().filter(|event| !kept.contains(&*event.id));
            model.joined = gone.map(|event| event.id.to_string()).collect();
        }
        Ok(())
    }

    fn void_leases(&mut self, node: usize, key: &SessionKey) {
        for known in self.leases.iter_mut().filter(|known| known.node == node && known.lease.session() == key) {
            known.is_held = false;
        }
    }

    fn holds(&self, node: usize, lease: &Lease) -> bool {
        self.leases.iter().any(|known| known.is_held && known.node == node && &known.lease == lease)
    }

    fn judge_append(
        &mut self,
        node: usize,
        request: &AppendRequest,
        events: &[AgentEvent],
        answer: &Result<Answer, Error>,
    ) -> Verdict {
        let answer = match answer {
            Ok(Answer::Appended(appended)) => Ok(appended.clone()),
            Ok(other) => return Err(Broken::new(format!("an append was answered {other:?}"))),
            Err(error) => Err(error.clone()),
        };
        let lost = request.lease.as_ref().filter(|lease| !self.holds(node, lease));
        let expected = match (lost, self.models.get_mut(&request.key)) {
            (Some(lease), _) => {
                self.tally.lost_leases += 1;
                Err(Error::LeaseLost { session: request.key.clone(), subject: lease.subject().to_owned() })
            }
            (None, None) => Err(Error::UnknownSession(request.key.clone())),
            (None, Some(model)) => {
                let mut forgetful = (!model.joined.is_empty()).then(|| model.clone());
                let expected = forgetful.as_mut().map(|model| model.append_knowing(false, request, events));
                match (forgetful, expected) {
                    (Some(forgetful), Some(expected)) if same_answer(&answer, &expected) => {
                        *model = forgetful;
                        expected
                    }
                    _ => model.append(request, events),
                }
            }
        };
        if !same_answer(&answer, &expected) {
            let texts: Vec<String> = events.iter().map(AgentEvent::to_json).collect();
            return Err(Broken::new(format!(
                "appending to {}\n{}\nanswered {answer:?}\nnot      {expected:?}",
                request.key,
                texts.join("\n")
            )));
        }
        match answer {
            Ok(appended) => {
                self.tally.written += appended.written;
                self.tally.duplicates += appended.duplicates;
            }
            Err(Error::Refused(_)) => self.tally.refused += 1,
            Err(_) => {}
        }
        Ok(())
    }

    fn judge_lease(
        &mut self,
        node: usize,
        key: &SessionKey,
        request: &LeaseRequest,
        answer: &Result<Answer, Error>,
    ) -> Verdict {
        let now = self.now();
        let holder = self.leases.iter_mut().find(|known| {
            known.is_held
                && known.node == node
                && known.lease.session() == key
                && known.lease.subject() == request.subject
        });
        let is_free = holder.as_ref().is_none_or(|known| request.by_force || known.until <= now);
        match (answer, self.models.get_mut(key)) {
            (Err(Error::UnknownSession(_)), None) => Ok(()),
            (Err(Error::LeaseHeld { .. }), Some(_)) if !is_free => Ok(()),
            (Ok(Answer::Granted(lease)), Some(model)) if is_free => {
                if let Some(known) = holder {
                    known.is_held = false;
                    let view = self.storage.view().map_err(|error| Broken::new(error.to_string()))?;
                    let row = view.session(key).map_err(|error| Broken::new(error.to_string()))?;
                    let is_gone = row.is_none_or(|row| row.epoch != model.epoch);
                    let written = events_after(&*view, key, model.head().seq)?;
                    let found = written.into_iter().next().filter(is_taken_over);
                    // A later request of the same group may have removed the session, and with it what has to be found.
                    let Some(event) = found.or_else(|| is_gone.then(|| note("gone"))) else {
                        return Err(Broken::new("a lease was taken over and no entry says so"));
                    };
                    model.push(event);
                }
                self.leases.push(Known { node, lease: lease.clone(), until: now + 5_000, is_held: true });
                Ok(())
            }
            _ => Err(Broken::new(format!("asking for a lease on {key} was answered {answer:?}"))),
        }
    }

    /// Finds out what a process has written that died before it could answer: each request whole or not at all.
    fn recover(&mut self, unanswered: &[&Sent]) -> Verdict {
        let view = self.storage.view().map_err(|error| Broken::new(error.to_string()))?;
        for sent in unanswered {
            let key = match &sent.request {
                Request::Create { key, .. } => key,
                Request::Adopt(adoption) => &adoption.key,
                Request::Delete(key) => {
                    if stored(&*view, key)?.is_none() {
                        self.models.remove(key);
                    }
                    continue;
                }
                Request::Append(request) => {
                    let Some(model) = self.models.get(&request.key) else { continue };
                    let written = events_after(&*view, &request.key, model.head().seq)?;
                    let mut next = model.clone();
                    if next.append(request, &sent.events).is_ok()
                        && next.entries.get(model.entries.len()..).is_some_and(|new| written.starts_with(new))
                    {
                        self.models.insert(request.key.clone(), next);
                    }
                    continue;
                }
                Request::Acquire { key, .. } => {
                    let Some(model) = self.models.get_mut(key) else { continue };
                    let written = events_after(&*view, key, model.head().seq)?;
                    if let Some(event) = written.into_iter().next().filter(is_taken_over) {
                        model.push(event);
                    }
                    continue;
                }
                _ => continue,
            };
            let Some((epoch, entries)) = stored(&*view, key)? else { continue };
            if self.models.get(key).is_none_or(|model| model.epoch != epoch) {
                let expected = adopted(epoch, &sent.events);
                if expected.entries != entries {
                    return Err(Broken::new(format!("the session {key} was made in part")));
                }
                self.models.insert(key.clone(), expected);
            }
        }
        // A document may have been stored by a commit that nobody was told of.
        for (key, model) in &mut self.models {
            model.states = view.states(key).map_err(|error| Broken::new(error.to_string()))?.into_iter().collect();
        }
        drop(view);
        self.note_joined()?;
        self.check_storage()
    }

    /// A process ends and another one is started. Its readers come back with the cursors that they have.
    fn restart(&mut self, node: usize) {
        self.nodes[node] = self.node();
        for known in self.leases.iter_mut().filter(|known| known.node == node) {
            known.is_held = false;
        }
        for reader in self.readers.iter_mut().filter(|reader| reader.node == node) {
            reader.rejoin();
        }
    }

    fn lose_power(&mut self) {
        self.tally.power_losses += 1;
        let random = &mut self.random;
        self.storage.lose_power(|| random.number());
        self.models.clone_from(&self.on_disk);
        if let Ok(view) = self.storage.view() {
            for (key, model) in &mut self.models {
                if let Ok(Some(row)) = view.session(key) {
                    model.epoch = row.epoch;
                }
            }
        }
        self.on_disk.clone_from(&self.models);
        for node in 0..NODES {
            self.restart(node);
        }
    }

    /// Somebody begins to read somewhere.
    fn join(&mut self) {
        let key = self.key();
        let Some(model) = self.models.get(&key) else { return };
        let head = model.head();
        // Who begins in the middle without a snapshot cannot have everything, and could not be compared with anything.
        let start = match self.random.below(6) {
            0..3 => Start::Snapshot,
            3 => Start::Beginning,
            4 => Start::After(Cursor { seq: head.seq + 1_000_000, ..head }),
            _ => Start::After(Cursor { epoch: Epoch::from_random(self.random.number()), ..head }),
        };
        let client = match start {
            Start::After(cursor) => Client::at(cursor),
            _ => Client::default(),
        };
        let node = self.random.below(NODES);
        let is_whole = start == Start::Beginning;
        let join = Join::new(key.clone(), start);
        self.readers.push(Reader { key, node, join, frames: VecDeque::new(), client, is_whole });
        if self.readers.len() > 12 {
            self.readers.swap_remove(self.random.below(12));
        }
    }

    /// A reader is cut off, and comes back with the cursor that it has, perhaps to another process.
    fn vanish(&mut self) {
        if self.readers.is_empty() {
            return;
        }
        let index = self.random.below(self.readers.len());
        let node = self.random.below(NODES);
        if self.random.chance(20) {
            self.readers.swap_remove(index);
            return;
        }
        let reader = &mut self.readers[index];
        reader.node = node;
        reader.rejoin();
    }

    fn read(&mut self) -> Verdict {
        if self.readers.is_empty() {
            return Ok(());
        }
        let index = self.random.below(self.readers.len());
        self.read_some(index).map(drop)
    }

    /// Lets a reader take some frames. Says whether there were any.
    fn read_some(&mut self, index: usize) -> Result<bool, Broken> {
        let Some(reader) = self.readers.get_mut(index) else { return Ok(false) };
        if reader.frames.is_empty() {
            let is_taken = match self.nodes[reader.node].tails.get(&reader.key) {
                Some(tail) => reader.join.take(tail, &mut reader.frames),
                None => false,
            };
            if !is_taken {
                let view = self.storage.view().map_err(|error| Broken::new(error.to_string()))?;
                match reader.join.read(&*view, &mut reader.frames) {
                    Ok(()) => {}
                    Err(Error::UnknownSession(key)) if !self.models.contains_key(&key) => {
                        drop(view);
                        self.readers.swap_remove(index);
                        return Ok(false);
                    }
                    Err(error) => return Err(Broken::new(format!("a reader was told {error}"))),
                }
            }
        }
        let Some(model) = self.models.get(&reader.key) else { return Ok(false) };
        if reader.frames.is_empty() {
            if reader.client.cursor.is_some_and(|cursor| cursor != model.head()) {
                let (at, head) = (reader.client.cursor, model.head());
                return Err(Broken::new(format!("a reader got nothing more at {at:?}, and the head is {head}")));
            }
            self.tally.agreements += 1;
            reader.client.agrees(model, reader.is_whole)?;
            return Ok(false);
        }
        // A slow one takes one, a fast one all that there is.
        let count = if self.random.chance(30) { 1 } else { reader.frames.len() };
        for frame in reader.frames.drain(..count) {
            self.tally.frames += 1;
            self.tally.gaps += usize::from(matches!(frame, Frame::Gap(_)));
            reader.is_whole &= matches!(frame, Frame::Entry(_));
            reader.client.take(&frame)?;
        }
        Ok(true)
    }

    /// Whether everything that is stored is what the model says.
    fn check_storage(&mut self) -> Verdict {
        let view = self.storage.view().map_err(|error| Broken::new(error.to_string()))?;
        for number in 0..SESSIONS {
            let key = session_key(number);
            let model = self.models.get(&key);
            match (stored(&*view, &key)?, model) {
                (None, None) => {}
                (Some((epoch, entries)), Some(model)) => check_session(&*view, &key, epoch, &entries, model)?,
                (stored, _) => {
                    return Err(Broken::new(format!("the session {key} is stored: {}", stored.is_some())));
                }
            }
        }
        Ok(())
    }
}

impl Reader {
    fn rejoin(&mut self) {
        self.frames.clear();
        self.client.reconnect();
        let start = match self.client.cursor {
            Some(cursor) => Start::After(cursor),
            None => Start::Snapshot,
        };
        self.is_whole &= self.client.cursor.is_some();
        self.join = Join::new(self.key.clone(), start);
    }
}

fn adopted(epoch: Epoch, events: &[AgentEvent]) -> ModelSession {
    let mut model = ModelSession::new(epoch);
    let mut request = AppendRequest::new(session_key(0), Events::default());
    request.checks_inputs = false;
    // Nothing is refused, so nothing can go wrong.
    let _ = model.append(&request, events);
    model
}

fn is_taken_over(event: &AgentEvent) -> bool {
    event.kind.own_name() == Some(CustomName::TakenOver)
}

fn rows(view: &dyn View, key: &SessionKey) -> Result<Vec<recount_log::storage::Row>, Broken> {
    view.entries(key, 0, Limit { count: usize::MAX, bytes: usize::MAX }).map_err(|error| Broken::new(error.to_string()))
}

fn decode(body: &[u8]) -> Result<AgentEvent, Broken> {
    Event::from_slice(body).map(Event::into_owned).map_err(|error| Broken::new(format!("a stored entry: {error}")))
}

/// The epoch and the events of a session that is stored.
fn stored(view: &dyn View, key: &SessionKey) -> Result<Option<(Epoch, Vec<AgentEvent>)>, Broken> {
    let Some(row) = view.session(key).map_err(|error| Broken::new(error.to_string()))? else { return Ok(None) };
    let events = rows(view, key)?.iter().map(|row| decode(&row.body)).collect::<Result<_, _>>()?;
    Ok(Some((row.epoch, events)))
}

fn events_after(view: &dyn View, key: &SessionKey, seq: u64) -> Result<Vec<AgentEvent>, Broken> {
    let limit = Limit { count: usize::MAX, bytes: usize::MAX };
    let rows = view.entries(key, seq, limit).map_err(|error| Broken::new(error.to_string()))?;
    rows.iter().map(|row| decode(&row.body)).collect()
}

fn check_session(
    view: &dyn View,
    key: &SessionKey,
    epoch: Epoch,
    entries: &[AgentEvent],
    model: &ModelSession,
) -> Verdict {
    let rows = rows(view, key)?;
    let mut next = 1;
    for row in &rows {
        if row.first != next {
            return Err(Broken::new(format!("the entry {} of {key} follows {}", row.first, next - 1)));
        }
        // What was not joined is what was written.
        let original = usize::try_from(row.first - 1).ok().and_then(|index| model.entries.get(index));
        if row.first == row.last && original.map(AgentEvent::to_json).map(String::into_bytes) != Some(row.body.to_vec())
        {
            return Err(Broken::new(format!("the entry {} of {key} is not what was written", row.first)));
        }
        next = row.last + 1;
    }
    if (epoch, next - 1) != (model.epoch, model.head().seq) {
        return Err(Broken::new(format!("{key} is at {next} in {epoch:?}, and the model at {}", model.head())));
    }
    let fold: recount_message::Fold = entries.iter().collect();
    if !fold.messages().eq(model.fold.messages()) {
        return Err(Broken::new(format!("the entries of {key} fold to other messages")));
    }
    let broken = |error: recount_log::StorageError| Broken::new(error.to_string());
    let finished = view.finished(key, u64::MAX, recount_log::storage::Show::All, usize::MAX).map_err(broken)?;
    let finished: Vec<&str> = finished.iter().map(|message| message.body.as_str()).collect();
    let open: Vec<String> = model.fold.open_replies().map(|reply| reply.message().id().to_owned()).collect();
    let expected: Vec<String> =
        model.fold.messages().filter(|message| !open.contains(&message.id().to_owned())).map(Msg::to_json).collect();
    if finished != expected {
        return Err(Broken::new(format!("the messages of {key} are {finished:?}\nnot {expected:?}")));
    }
    let stored: Vec<String> = view.open(key).map_err(broken)?.into_iter().map(|row| row.opened.id).collect();
    if stored != open {
        return Err(Broken::new(format!("the open replies of {key} are {stored:?}, not {open:?}")));
    }
    let states: BTreeMap<String, String> = view.states(key).map_err(broken)?.into_iter().collect();
    if states != model.states {
        return Err(Broken::new(format!("the documents of {key} are {states:?}, not {:?}", model.states)));
    }
    Ok(())
}
