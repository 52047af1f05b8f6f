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

/// After how many entries a checkpoint is due. Replies are short here.
const CHECKPOINT_AFTER: u64 = 6;

/// A simulation. Everything that happens in it follows from this.
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
    /// What everything follows from.
    pub seed: u64,
    /// How much happens.
    pub steps: usize,
    /// Where the log is kept.
    pub place: Place,
}

/// Where a simulated log is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// In memory, with a disk below it that may be behind.
    Memory,
    /// In a SQLite database. A power loss takes nothing along there.
    Sqlite,
}

impl Simulation {
    /// Runs it.
    ///
    /// # Errors
    ///
    /// When the log does something that the contract does not allow; the error says after which step. Also when the database
    /// cannot be opened.
    pub fn run(&self) -> Result<Tally, Broken> {
        self.run_telling(None)
    }

    /// Runs it, and tells of every request and its answer.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    pub fn run_telling(&self, tell: Option<&mut dyn FnMut(&str)>) -> Result<Tally, Broken> {
        let failed = |error: &dyn fmt::Display| Broken::new(error.to_string());
        match self.place {
            Place::Memory => self.run_over(FaultyStorage::default(), tell),
            Place::Sqlite => {
                // In memory where there is such a place: the simulated crashes need no real disk.
                let directory = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
                let directory = directory.map_err(|error| failed(&error))?;
                let storage = FaultyStorage::in_sqlite(directory.path()).map_err(|error| failed(&error))?;
                self.run_over(storage, tell)
            }
        }
    }

    /// Runs it in memory with a log that has a defect. Says whether it has shown, and what has come of it.
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

/// The command that repeats it.
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
    /// What another process has changed while one was at something, which that one may not know yet.
    overtaken: Option<Overtaken>,
    /// The entries that were told of along with the answers that are judged.
    noticed: Vec<Noticed>,
    uploads: Uploads,
    /// The models of what is on the disk.
    on_disk: (BTreeMap<SessionKey, ModelSession>, Uploads),
    /// Drafts of processes that have died, of which the storage keeps everything.
    left_drafts: Vec<ModelSession>,
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
    folds: FoldCache,
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

    /// A process that has just been started.
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

    /// A process ends in good order.
    fn take_leave(&mut self, node: usize) -> Verdict {
        let Node { pipeline, .. } = &mut self.nodes[node];
        match pipeline.write_final_checkpoints(&mut self.storage) {
            // Another process has written to a session in between; then its checkpoints are not needed.
            Ok(()) | Err(StorageError::Moved(_)) => self.check_storage(),
            Err(error) => Err(Broken::new(format!("a process that ends was told {error}"))),
        }
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
