//! A gate at which a script waits.

use std::sync::Arc;

use tokio::sync::watch;

/// A gate at which a script waits until a test opens it. Tests use it to order events without delays. Clones share the
/// state.
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
    /// Creates a closed gate.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Opens the gate permanently.
    pub fn open(&self) {
        self.state.send_modify(|state| state.is_open = true);
    }

    /// Waits until a task has reached the gate.
    pub async fn reached(&self) {
        self.wait_for(|state| state.is_reached).await;
    }

    /// Waits until the gate is open.
    pub async fn pass(&self) {
        self.state.send_modify(|state| state.is_reached = true);
        self.wait_for(|state| state.is_open).await;
    }

    async fn wait_for(&self, wanted: impl Fn(&State) -> bool) {
        // Cannot fail, since the sender lives as long as the gate.
        let _ = self.state.subscribe().wait_for(wanted).await;
    }
}
