//! Simulations of 2,000 seeds.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use recount_simulator::world::{Place, Simulation, Tally};

const SEEDS: u64 = 2_000;
const STEPS: usize = 80;

fn simulate(seed: u64, place: Place) -> Tally {
    let simulation = Simulation { seed, steps: STEPS, place };
    simulation.run().unwrap_or_else(|broken| {
        panic!("the seed {seed} breaks the contract\n{broken}\n\nto repeat it:\n    {simulation}")
    })
}

/// Runs every n-th seed, so that the tests of this file run in parallel.
fn run(first: u64) -> Tally {
    let mut tally = Tally::default();
    for seed in (first..SEEDS).step_by(2) {
        tally += simulate(seed, Place::Memory);
    }
    tally
}

/// Checks that every kind of fault has occurred.
#[track_caller]
fn check_eventful(tally: Tally) {
    let Tally { written, duplicates, refused, deaths, power_losses, full, .. } = tally;
    let Tally { lost_leases, frames, gaps, agreements, joined, planned_on_top, adopted, .. } = tally;
    let Tally { snapshots, swept, .. } = tally;
    for (count, least) in [
        (written, 100_000),
        (duplicates, 10_000),
        (refused, 1_000),
        (deaths, 1_000),
        (power_losses, 500),
        (full, 1_000),
        (lost_leases, 1_000),
        (frames, 50_000),
        (gaps, 1_000),
        (agreements, 5_000),
        (joined, 500),
        (planned_on_top, 10_000),
        (adopted, 200),
        (snapshots, 2_000),
        (swept, 100),
    ] {
        assert!(count >= least, "too little has happened: {tally:?}");
    }
}

#[test]
fn even_seeds_keep_the_contract() {
    check_eventful(run(0));
}

#[test]
fn odd_seeds_keep_the_contract() {
    check_eventful(run(1));
}

/// Fewer simulations with a database, because each takes longer.
#[test]
fn seeds_keep_the_contract_in_sqlite() {
    let mut tally = Tally::default();
    for seed in 0..40 {
        tally += simulate(seed, Place::Sqlite);
    }
    let Tally { written, duplicates, refused, deaths, power_losses, full, gaps, agreements, .. } = tally;
    for (count, least) in
        [(written, 2_000), (duplicates, 200), (refused, 20), (deaths, 20), (power_losses, 10), (full, 20), (gaps, 20)]
    {
        assert!(count >= least, "too little has happened: {tally:?}");
    }
    assert!(agreements >= 100, "too little has happened: {tally:?}");
}
