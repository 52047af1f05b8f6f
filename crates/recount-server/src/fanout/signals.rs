//! The filter for CUSTOM events.

use std::collections::BTreeSet;
use std::sync::Arc;

use recount_message::{CustomEvent, CustomName};

/// The CUSTOM events that a reader receives.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) enum SignalFilter {
    #[default]
    All,
    /// None, for clients whose fold does not support CUSTOM events.
    None,
    /// Events with one of these names, and those that are parts of messages.
    Named(Arc<BTreeSet<String>>),
}

/// The maximum length of all names together, in bytes.
pub(crate) const MAX_NAMES_LEN: usize = 4_096;

impl SignalFilter {
    /// Creates a filter for some names. Returns `None` if they exceed [`MAX_NAMES_LEN`].
    pub(crate) fn named<'n>(names: impl Iterator<Item = &'n str>) -> Option<Self> {
        let names: BTreeSet<String> = names.map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect();
        let length: usize = names.iter().map(String::len).sum();
        (length <= MAX_NAMES_LEN).then(|| Self::Named(Arc::new(names)))
    }

    pub(crate) fn all_or_none(all: bool) -> Self {
        if all { Self::All } else { Self::None }
    }

    pub(super) fn includes(&self, event: &CustomEvent<'_>) -> bool {
        match self {
            Self::All => true,
            Self::None => false,
            Self::Named(names) => is_message_part(event) || names.contains(&*event.name),
        }
    }
}

/// Whether a CUSTOM event is a part of a message and not a signal.
pub(super) fn is_message_part(event: &CustomEvent<'_>) -> bool {
    matches!(event.recount_name(), Some(CustomName::Message | CustomName::Block | CustomName::Call))
}
