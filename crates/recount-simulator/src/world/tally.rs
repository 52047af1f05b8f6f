//! What has happened in a simulation.

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
    /// Drafts that have become sessions.
    pub adopted: usize,
    /// Requests that were planned while a commit was under way.
    pub planned_on_top: usize,
    /// Snapshots that were compared with the model.
    pub snapshots: usize,
    /// Uploads that were swept away.
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
