//! Our agent in the scenarios of `conformance/agent`, beside what the published Python package does in them.

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

/// The file in which the deviations stand is written anew by
/// `RECOUNT_DEVIATIONS=write cargo test -p recount-agent --test scenarios`, with the reasons that are in it; a new one has
/// to be given its reason by hand.
#[tokio::test]
async fn our_agent_does_as_the_package_does() {
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
    // What stands still for so long stands at a gate that nobody opens.
    let limit = std::time::Duration::from_secs(20);
    let played = tokio::time::timeout(limit, play::play(scenario)).await;
    played.unwrap_or_else(|_| panic!("{} does not come to an end", scenario.name))
}
