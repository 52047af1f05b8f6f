//! Counters of a simulation.

/// Counts the events of a simulation, to verify that it was eventful.
#[derive(Debug, Clone, Copy, Default)]
pub struct Tally {
    /// Entries that were acknowledged.
    pub written: usize,
    /// Duplicate events.
    pub duplicates: usize,
    /// Rejected inputs.
    pub refused: usize,
    /// Processes that died during a request.
    pub deaths: usize,
    /// Power losses.
    pub power_losses: usize,
    /// Commits that failed because the disk was full.
    pub full: usize,
    /// Appends under a lost lease.
    pub lost_leases: usize,
    /// Frames that readers received.
    pub frames: usize,
    /// Gaps among them.
    pub gaps: usize,
    /// Comparisons of a reader at the head with the model.
    pub agreements: usize,
    /// Merged entries.
    pub joined: usize,
    /// Published sessions.
    pub adopted: usize,
    /// Requests that were planned during a commit.
    pub planned_on_top: usize,
    /// Snapshots that were compared with the model.
    pub snapshots: usize,
    /// Deleted uploads.
    pub swept: usize,
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
        self.adopted += other.adopted;
        self.planned_on_top += other.planned_on_top;
        self.snapshots += other.snapshots;
        self.swept += other.swept;
    }
}
