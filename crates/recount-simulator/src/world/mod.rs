//! The simulated world: writers that die, disks that fill up and lose power, readers that are slow and come back.
//!
//! Everything that happens follows from a seed. After each step the log is held to the model.

mod appends;
mod judge;
mod leases;
mod overtaken;
mod readers;
mod recovery;
mod requests;
mod stored;
mod tally;
mod writing;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use recount_log::join::Tail;
use recount_log::storage::{Stored, Views};
use recount_log::writer::Pipeline;
use recount_log::{Lease, SessionKey, Surroundings, Writer};
use recount_message::jiff::Timestamp;
use recount_message::{AgentEvent, Clock, CountingIds};
use recount_testkit::laws::Broken;
use recount_testkit::random::Random;

pub use tally::Tally;

use crate::defect::{Defect, Planted};
use crate::model::{ModelSession, session_key};
use crate::script::Script;
use crate::storage::FaultyStorage;
use overtaken::Overtaken;
use readers::Reader;
use writing::{Noticed, Sent};

type Verdict = Result<(), Broken>;

/// Runs a simulation of some steps.
///
/// # Errors
///
/// When the log does something that the contract does not allow; the error says after which step.
pub fn simulate(seed: u64, steps: usize) -> Result<Tally, Broken> {
    run(World::new(seed), steps, &mut |_| {})
}

/// Runs a simulation over a SQLite database in a directory. A power loss is one that takes nothing along.
///
/// # Errors
///
/// As [`simulate`], and when the database cannot be opened.
pub fn simulate_in_sqlite(seed: u64, steps: usize, directory: &Path) -> Result<Tally, Broken> {
    let storage = FaultyStorage::in_sqlite(directory).map_err(|error| Broken::new(error.to_string()))?;
    run(World::over(storage, seed), steps, &mut |_| {})
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

/// Runs a simulation of a log with a defect. Says whether it has shown, and what has come of it.
///
/// # Errors
///
/// When the simulator has found it.
pub fn simulate_with(defect: Defect, seed: u64, steps: usize) -> (bool, Result<Tally, Broken>) {
    let world = World::new(seed);
    let storage = world.storage.clone();
    storage.plant(Planted::new(defect, seed));
    let result = run(world, steps, &mut |_| {});
    (storage.has_shown(), result)
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

const SESSIONS: usize = 3;
const NODES: usize = 2;

struct World {
    random: Random,
    time: Arc<AtomicI64>,
    storage: FaultyStorage,
    nodes: Vec<Node>,
    models: BTreeMap<SessionKey, ModelSession>,
    /// What another process has changed while one was at something, which that one may not know yet.
    overtaken: Option<Overtaken>,
    /// The entries that were told of along with the answers that are judged.
    noticed: Vec<Noticed>,
    /// The models of what is on the disk.
    on_disk: BTreeMap<SessionKey, ModelSession>,
    scripts: BTreeMap<SessionKey, Script>,
    scripts_begun: usize,
    readers: Vec<Reader>,
    leases: Vec<Known>,
    drafts: Vec<KnownDraft>,
    incarnations: usize,
    tally: Tally,
    /// Whether requests are told of, and what is to be told.
    is_telling: bool,
    told: Vec<String>,
}

struct Node {
    pipeline: Pipeline,
    tails: HashMap<SessionKey, Tail>,
    /// What was asked and is not answered.
    unanswered: VecDeque<Sent>,
    /// How many were answered before.
    answered: usize,
}

/// A lease that somebody was given.
struct Known {
    node: usize,
    lease: Lease,
    until: i64,
    is_held: bool,
}

/// A draft that somebody has begun, the session that it is to be, and the entries that it still lacks. Its model is among
/// those of sessions.
struct KnownDraft {
    node: usize,
    draft: SessionKey,
    key: SessionKey,
    missing: VecDeque<AgentEvent>,
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

impl World {
    fn new(seed: u64) -> Self {
        Self::over(FaultyStorage::default(), seed)
    }

    fn over(storage: FaultyStorage, seed: u64) -> Self {
        let mut world = Self {
            random: Random::new(seed),
            time: Arc::new(AtomicI64::new(1_767_225_600_000)),
            storage,
            nodes: Vec::new(),
            models: BTreeMap::new(),
            overtaken: None,
            noticed: Vec::new(),
            on_disk: BTreeMap::new(),
            scripts: BTreeMap::new(),
            scripts_begun: 0,
            readers: Vec::new(),
            leases: Vec::new(),
            drafts: Vec::new(),
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
        Node {
            pipeline: Pipeline::new(Writer::new(surroundings)),
            tails: HashMap::new(),
            unanswered: VecDeque::new(),
            answered: 0,
        }
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
            95 => self.lose_power().map_err(|error| Broken::new(error.to_string())),
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

    /// A process ends and another one is started. Its readers come back with the cursors that they have.
    fn restart(&mut self, node: usize) {
        self.nodes[node] = self.node();
        for known in self.leases.iter_mut().filter(|known| known.node == node) {
            known.is_held = false;
        }
        for reader in self.readers.iter_mut().filter(|reader| reader.node == node) {
            reader.rejoin();
        }
        // What is left of its drafts is in nobody's way.
        for lost in self.drafts.extract_if(.., |known| known.node == node) {
            self.models.remove(&lost.draft);
        }
    }

    fn lose_power(&mut self) -> Stored<()> {
        self.tally.power_losses += 1;
        let random = &mut self.random;
        if self.storage.lose_power(|| random.number())? {
            self.models.clone_from(&self.on_disk);
        }
        self.models.retain(|key, _| !key.is_draft());
        self.drafts.clear();
        let view = self.storage.view()?;
        for (key, model) in &mut self.models {
            if let Some(row) = view.session(key)? {
                model.epoch = row.epoch;
            }
        }
        drop(view);
        self.on_disk.clone_from(&self.models);
        for node in 0..NODES {
            self.restart(node);
        }
        Ok(())
    }
}
