//! The simulated world: crashing writers, full disks, power losses, and slow or reconnecting readers.
//!
//! Everything follows from a seed. After each step the log is checked against the model.

mod appends;
mod judge;
mod leases;
mod overtaken;
mod readers;
mod recovery;
mod requests;
mod stored;
mod tally;
mod uploads;
mod writing;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use recount_log::storage::Views;
use recount_log::subscription::{FoldCache, Tail};
use recount_log::writer::Pipeline;
use recount_log::{Env, Lease, SessionKey, StorageError, Writer};
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
use uploads::Uploads;
use writing::{Noticed, Sent};

type Verdict = Result<(), Broken>;

/// The number of entries between checkpoints. Simulated replies are short.
const CHECKPOINT_AFTER: u64 = 6;

/// The parameters of a simulation, which determine its course.
///
/// ```
/// use recount_simulator::world::{Place, Simulation};
///
/// let simulation = Simulation { seed: 7, steps: 20, place: Place::Memory };
/// assert!(simulation.to_string().ends_with("simulate --seed 7 --steps 20"));
/// simulation.run()?;
/// # Ok::<(), recount_testkit::laws::Broken>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Simulation {
    /// The seed.
    pub seed: u64,
    /// The number of steps.
    pub steps: usize,
    /// The storage.
    pub place: Place,
}

/// The storage of a simulated log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// In memory, with a simulated disk that may lag behind.
    Memory,
    /// In a SQLite database. A simulated power loss loses no entries there.
    Sqlite,
}

impl Simulation {
    /// Runs the simulation.
    ///
    /// # Errors
    ///
    /// If the log violates the contract. The error contains the step. Also if the database cannot be opened.
    pub fn run(&self) -> Result<Tally, Broken> {
        self.run_telling(None)
    }

    /// Runs the simulation, and prints every request and its response.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    pub fn run_telling(&self, tell: Option<&mut dyn FnMut(&str)>) -> Result<Tally, Broken> {
        let failed = |error: &dyn fmt::Display| Broken::new(error.to_string());
        match self.place {
            Place::Memory => self.run_over(FaultyStorage::default(), tell),
            Place::Sqlite => {
                // In a memory-backed directory if there is one, because simulated crashes need no real disk.
                let directory = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
                let directory = directory.map_err(|error| failed(&error))?;
                let storage = FaultyStorage::in_sqlite(directory.path()).map_err(|error| failed(&error))?;
                self.run_over(storage, tell)
            }
        }
    }

    /// Runs the simulation in memory with a planted defect. Returns whether the defect occurred, and the result.
    pub fn run_with(&self, defect: Defect) -> (bool, Result<Tally, Broken>) {
        let storage = FaultyStorage::default();
        storage.plant(Planted::new(defect, self.seed));
        let result = self.run_over(storage.clone(), None);
        (storage.has_shown(), result)
    }

    fn run_over(&self, storage: FaultyStorage, mut tell: Option<&mut dyn FnMut(&str)>) -> Result<Tally, Broken> {
        let mut world = World::over(storage, self.seed);
        world.is_telling = tell.is_some();
        for step in 0..self.steps {
            let done = world.step();
            for line in world.told.drain(..) {
                if let Some(tell) = &mut tell {
                    tell(&format!("step {step}: {line}"));
                }
            }
            done.map_err(|broken| Broken::new(format!("step {step}: {broken}")))?;
        }
        world.settle().map_err(|broken| Broken::new(format!("at the end: {broken}")))?;
        Ok(world.tally)
    }
}

/// Formats the command that repeats the simulation.
impl fmt::Display for Simulation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seed, steps, place } = self;
        write!(f, "cargo run --package recount-simulator -- simulate --seed {seed} --steps {steps}")?;
        match place {
            Place::Memory => Ok(()),
            Place::Sqlite => f.write_str(" --sqlite"),
        }
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
    /// The changes of another process that a process may not know yet.
    overtaken: Option<Overtaken>,
    /// The entries that were published with the responses that are being checked.
    noticed: Vec<Noticed>,
    uploads: Uploads,
    /// The models of the sessions on the disk.
    on_disk: (BTreeMap<SessionKey, ModelSession>, Uploads),
    /// The staged sessions of dead processes, which the storage still has.
    left_drafts: Vec<ModelSession>,
    scripts: BTreeMap<SessionKey, Script>,
    scripts_begun: usize,
    readers: Vec<Reader>,
    leases: Vec<Known>,
    drafts: Vec<KnownDraft>,
    incarnations: usize,
    tally: Tally,
    /// The output, if requests are printed.
    is_telling: bool,
    told: Vec<String>,
}

struct Node {
    pipeline: Pipeline,
    tails: HashMap<SessionKey, Tail>,
    folds: FoldCache,
    /// The requests without a response.
    unanswered: VecDeque<Sent>,
    /// The number of earlier responses.
    answered: usize,
}

/// A granted lease.
struct Known {
    node: usize,
    lease: Lease,
    until: i64,
    is_held: bool,
}

/// A staged session, its final key, and the entries that are not appended yet. Its model is stored with those of the sessions.
struct KnownDraft {
    node: usize,
    draft: SessionKey,
    key: SessionKey,
    missing: VecDeque<AgentEvent>,
}

/// A clock that the simulation controls.
struct SimulatedClock(Arc<AtomicI64>);

impl Clock for SimulatedClock {
    fn now(&mut self) -> Timestamp {
        Timestamp::from_millisecond(self.0.load(Ordering::Relaxed)).unwrap_or(Timestamp::UNIX_EPOCH)
    }
}

struct SimulatedChance(Random);

impl recount_log::Rng for SimulatedChance {
    fn next_u64(&mut self) -> u64 {
        self.0.number()
    }
}

impl World {
    fn over(storage: FaultyStorage, seed: u64) -> Self {
        let mut world = Self {
            random: Random::new(seed),
            time: Arc::new(AtomicI64::new(1_767_225_600_000)),
            storage,
            nodes: Vec::new(),
            models: BTreeMap::new(),
            overtaken: None,
            noticed: Vec::new(),
            uploads: Uploads::default(),
            on_disk: (BTreeMap::new(), Uploads::default()),
            left_drafts: Vec::new(),
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

    /// Starts a process.
    fn node(&mut self) -> Node {
        self.incarnations += 1;
        let chance = SimulatedChance(Random::new(self.random.number()));
        let ids = CountingIds::new(format!("node-{}-", self.incarnations));
        let surroundings = Env::new(SimulatedClock(Arc::clone(&self.time)), chance, ids);
        Node {
            pipeline: Pipeline::new(Writer::new(surroundings).checkpoint_after(CHECKPOINT_AFTER)),
            tails: HashMap::new(),
            folds: FoldCache::with_min_bytes(0),
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
                self.on_disk = (self.models.clone(), self.uploads.clone());
                Ok(())
            }
            93..95 => {
                let node = self.random.below(NODES);
                if self.random.chance(50) {
                    self.take_leave(node)?;
                }
                self.restart(node);
                Ok(())
            }
            95 => self.lose_power(),
            _ => self.check_storage(),
        }
    }

    /// Lets all readers read to the head, and checks everything again.
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

    /// Closes a process cleanly.
    fn take_leave(&mut self, node: usize) -> Verdict {
        let Node { pipeline, .. } = &mut self.nodes[node];
        match pipeline.write_final_checkpoints(&mut self.storage) {
            // Another process has written to a session, so the final checkpoints are outdated.
            Ok(()) | Err(StorageError::Moved(_)) => self.check_storage(),
            Err(error) => Err(Broken::new(format!("closing a process failed: {error}"))),
        }
    }

    /// Replaces a process. Its readers reconnect with their cursors.
    fn restart(&mut self, node: usize) {
        self.nodes[node] = self.node();
        for known in self.leases.iter_mut().filter(|known| known.node == node) {
            known.is_held = false;
        }
        for reader in self.readers.iter_mut().filter(|reader| reader.node == node) {
            reader.rejoin();
        }
        // Its staged sessions stay until the storage is opened again.
        for lost in self.drafts.extract_if(.., |known| known.node == node) {
            self.left_drafts.extend(self.models.remove(&lost.draft));
        }
    }

    fn lose_power(&mut self) -> Verdict {
        let broken = |error: StorageError| Broken::new(error.to_string());
        self.tally.power_losses += 1;
        let random = &mut self.random;
        if self.storage.lose_power(|| random.number()).map_err(broken)? {
            (self.models, self.uploads) = self.on_disk.clone();
        }
        self.models.retain(|key, _| !key.is_staged());
        self.drafts.clear();
        self.left_drafts.clear();
        let view = self.storage.view().map_err(broken)?;
        for (key, model) in &mut self.models {
            let Some(row) = view.session(key).map_err(broken)? else {
                return Err(Broken::new(format!("{key} was on the disk and is gone")));
            };
            if row.epoch == model.epoch {
                return Err(Broken::new(format!("entries of {key} may be gone, and its epoch is what it was")));
            }
            model.epoch = row.epoch;
        }
        drop(view);
        self.on_disk = (self.models.clone(), self.uploads.clone());
        for node in 0..NODES {
            self.restart(node);
        }
        self.check_storage()
    }
}
