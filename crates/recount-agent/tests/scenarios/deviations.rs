//! The deviations of this agent from the Python package, with their reasons.

use std::collections::{BTreeMap, BTreeSet};

use pretty_assertions::assert_eq;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::essence::Essence;
use crate::script::conformance;

/// The deviation in one scenario. Missing fields do not deviate.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Deviation {
    #[serde(default)]
    pub(crate) reason: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    events: Vec<Value>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    raised: Vec<Value>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    folded: Vec<Value>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    asked: Vec<Value>,
}

impl Deviation {
    pub(crate) fn between(ours: &Essence, theirs: &Essence) -> Self {
        let otherwise = |ours: &Vec<Value>, theirs: &Vec<Value>| if ours == theirs { Vec::new() } else { ours.clone() };
        Self {
            reason: String::new(),
            events: otherwise(&ours.events, &theirs.events),
            raised: otherwise(&ours.raised, &theirs.raised),
            folded: otherwise(&ours.folded, &theirs.folded),
            asked: otherwise(&ours.asked, &theirs.asked),
        }
    }

    pub(crate) fn is_none(&self) -> bool {
        *self == Self { reason: self.reason.clone(), ..Self::default() }
    }
}

fn path() -> std::path::PathBuf {
    conformance().join("agent/deviations.json")
}

pub(crate) fn deviations() -> BTreeMap<String, Deviation> {
    let text = std::fs::read_to_string(path()).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Asserts that the found deviations are the known ones.
#[track_caller]
pub(crate) fn check(known: &BTreeMap<String, Deviation>, found: &BTreeMap<String, Deviation>) {
    if std::env::var("RECOUNT_DEVIATIONS").is_ok_and(|what| what == "write") {
        let mut found = found.clone();
        for (name, deviation) in &mut found {
            deviation.reason = known.get(name).map(|known| known.reason.clone()).unwrap_or_default();
        }
        std::fs::write(path(), serde_json::to_string_pretty(&found).unwrap() + "\n").unwrap();
        return;
    }
    let names = |deviations: &BTreeMap<String, Deviation>| deviations.keys().cloned().collect::<BTreeSet<String>>();
    assert_eq!(names(known), names(found), "the scenarios that deviate");
    for (name, deviation) in found {
        let known = &known[name];
        assert!(!known.reason.is_empty(), "{name} deviates without a reason");
        assert_eq!(&Deviation { reason: String::new(), ..known.clone() }, deviation, "{name}");
    }
}
