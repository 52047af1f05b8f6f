//! The gates of a scenario, by name.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use recount_agent::scripted::Gate;

#[derive(Debug, Clone, Default)]
pub(crate) struct Gates(Arc<Mutex<BTreeMap<String, Gate>>>);

impl Gates {
    pub(crate) fn get(&self, name: &str) -> Gate {
        self.0.lock().unwrap().entry(name.to_owned()).or_default().clone()
    }
}
