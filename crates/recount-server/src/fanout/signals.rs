//! ReplySelector signals a reader is shown.

use std::collections::BTreeSet;
use std::sync::Arc;

use recount_message::{CustomEvent, CustomName};

/// ReplySelector CUSTOM events a reader is shown.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) enum SignalFilter {
    #[default]
    All,
    /// None at all, for a side whose fold knows no CUSTOM events.
    None,
    /// Those with one of these names, and those that messages are made of.
    Named(Arc<BTreeSet<String>>),
}

/// How long all names may be together.
pub(crate) const MAX_NAMES_LEN: usize = 4_096;

impl SignalFilter {
    /// Those with some names; nothing if these are too long.
    pub(crate) fn named<'n>(names: impl Iterator<Item = &'n str>) -> Option<Self> {
        let names: BTreeSet<String> = names.map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect();
        let length: usize = names.iter().map(String::len).sum();
        (length <= MAX_NAMES_LEN).then(|| Self::Named(Arc::new(names)))
    }

    /// The same for who wants all or none.
    pub(crate) fn all_if(are_wanted: bool) -> Self {
        if are_wanted { Self::All } else { Self::None }
    }

    pub(super) fn shows(&self, signal: &CustomEvent<'_>) -> bool {
        match self {
            Self::All => true,
            Self::None => false,
            Self::Named(names) => is_message_part(signal) || names.contains(&*signal.name),
        }
    }
}

/// Whether an event is a part of a message, and no signal but in its form.
pub(super) fn is_message_part(signal: &CustomEvent<'_>) -> bool {
    matches!(signal.own_name(), Some(CustomName::Message | CustomName::Block | CustomName::Call))
}
