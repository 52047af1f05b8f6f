//! Simulations from two thousand seeds.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use recount_simulator::world::{Tally, simulate};

const SEEDS: u64 = 2_000;
const STEPS: usize = 80;

/// Runs every so many seeds, so that the tests of this file share the processors.
fn run(first: u64) -> Tally {
    let mut tally = Tally::default();
    for seed in (first..SEEDS).step_by(2) {
        tally += simulate(seed, STEPS).unwrap_or_else(|broken| {
            panic!(
                "the seed {seed} breaks the contract\n{broken}\n\nto repeat it:\n    \
                 cargo run --package recount-simulator -- simulate --seed {seed} --steps {STEPS}"
            )
        });
    }
    tally
}

/// Whether everything has happened that could go wrong.
#[track_caller]
fn check_eventful(tally: Tally) {
    let Tally { written, duplicates, refused, deaths, power_losses, full, .. } = tally;
    let Tally { lost_leases, frames, gaps, agreements, joined, .. } = tally;
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
