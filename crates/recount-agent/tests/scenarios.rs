//! The scenarios of `conformance/agent`, compared with the recorded behaviour of the published Python package.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "scenarios/deviations.rs"]
mod deviations;
#[path = "scenarios/essence.rs"]
mod essence;
#[path = "scenarios/gates.rs"]
mod gates;
#[path = "scenarios/middleware.rs"]
mod middleware;
#[path = "scenarios/model.rs"]
mod model;
#[path = "scenarios/play.rs"]
mod play;
#[path = "shared/presentable.rs"]
mod presentable;
#[path = "../../recount-model/tests/rules/mod.rs"]
mod rules;
#[path = "scenarios/script.rs"]
mod script;
#[path = "scenarios/tools.rs"]
mod tools;

use std::collections::BTreeMap;

use deviations::{Deviation, deviations};
use essence::Essence;
use script::{Scenario, recorded, scenarios};

/// To update the file of deviations, run `RECOUNT_DEVIATIONS=write cargo test -p recount-agent --test scenarios`.
/// Existing reasons are kept; the reason of a new deviation must be added by hand.
#[tokio::test]
async fn scenarios_match_the_python_package() {
    let theirs = recorded();
    let known = deviations();
    let scenarios = scenarios();
    assert_eq!(scenarios.len(), theirs.len(), "each scenario was recorded");
    let mut found = BTreeMap::new();
    for scenario in &scenarios {
        let ours = ours(scenario).await;
        let their = theirs.get(&scenario.name).unwrap_or_else(|| panic!("{} was not recorded", scenario.name));
        let deviation = Deviation::between(&ours, their);
        if !deviation.is_none() {
            found.insert(scenario.name.clone(), deviation);
        }
    }
    deviations::check(&known, &found);
}

async fn ours(scenario: &Scenario) -> Essence {
    // A scenario that is idle for this long waits at a gate that is never opened.
    let limit = std::time::Duration::from_secs(20);
    let played = tokio::time::timeout(limit, play::play(scenario)).await;
    played.unwrap_or_else(|_| panic!("{} does not end", scenario.name))
}
