//! A place where a script stands still.

use std::sync::Arc;

use tokio::sync::watch;

/// A place where a script stands still until a test lets it go on, so that a test can say what comes first without waiting
/// for a time. Clones are the same gate.
///
/// ```
/// use recount_agent::scripted::Gate;
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let gate = Gate::new();
/// let behind = tokio::spawn({
///     let gate = gate.clone();
///     async move { gate.pass().await }
/// });
/// gate.reached().await;
/// assert!(!behind.is_finished());
/// gate.open();
/// behind.await.unwrap();
/// # });
/// ```
#[derive(Debug, Clone, Default)]
pub struct Gate {
    state: Arc<watch::Sender<State>>,
}

#[derive(Debug, Clone, Copy, Default)]
struct State {
    is_reached: bool,
    is_open: bool,
}

impl Gate {
    /// A closed gate.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets everybody through, now and later.
    pub fn open(&self) {
        self.state.send_modify(|state| state.is_open = true);
    }

    /// Returns when somebody stands at the gate, or has passed it.
    pub async fn reached(&self) {
        self.wait_for(|state| state.is_reached).await;
    }

    /// Stands at the gate until it is open.
    pub async fn pass(&self) {
        self.state.send_modify(|state| state.is_reached = true);
        self.wait_for(|state| state.is_open).await;
    }

    async fn wait_for(&self, wanted: impl Fn(&State) -> bool) {
        // The sender lives as long as the gate does, so this cannot fail.
        let _ = self.state.subscribe().wait_for(wanted).await;
    }
}
