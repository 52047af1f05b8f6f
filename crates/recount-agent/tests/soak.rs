//! Randomised lifetimes of an agent: random output of the model, tools that fail, panic, hang and wait, interrupts,
//! dropped streams and crashes. The laws must hold throughout.
//!
//! `RECOUNT_SOAK_LIVES` sets the number of lifetimes, `RECOUNT_SOAK_SEED` repeats one: `RECOUNT_SOAK_SEED=17 cargo test
//! -p recount-agent --test soak -- --nocapture`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]
#![allow(clippy::print_stdout, reason = "the seed and the statistics are printed")]

#[path = "soak/laws.rs"]
mod laws;
#[path = "soak/life.rs"]
mod life;
#[path = "soak/log.rs"]
mod log;
#[path = "shared/looker.rs"]
mod looker;
#[path = "soak/model.rs"]
mod model;
#[path = "shared/presentable.rs"]
mod presentable;
#[path = "soak/random.rs"]
mod random;
#[path = "../../recount-model/tests/rules/mod.rs"]
mod rules;
#[path = "soak/tools.rs"]
mod tools;

use std::panic::AssertUnwindSafe;

/// The message of intended panics, which are not printed.
const ON_PURPOSE: &str = "a tool panics on purpose";

#[test]
fn laws_hold_for_random_lifetimes() {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().unwrap());
    let seeds = match number("RECOUNT_SOAK_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("RECOUNT_SOAK_LIVES").unwrap_or(500),
    };
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if info.payload_as_str() != Some(ON_PURPOSE) {
            print(info);
        }
    }));
    let mut total = life::Tally::default();
    for seed in seeds {
        let lived = std::panic::catch_unwind(AssertUnwindSafe(|| live(seed)));
        match lived {
            Ok(tally) => total.add(&tally),
            Err(panic) => {
                println!("seed {seed} failed. Again: RECOUNT_SOAK_SEED={seed} cargo test -p recount-agent --test soak");
                std::panic::resume_unwind(panic);
            }
        }
    }
    println!("{total:?}");
}

/// Runs one lifetime, on a clock that only advances when all tasks are idle.
fn live(seed: u64) -> life::Tally {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(life::live(seed))
}
