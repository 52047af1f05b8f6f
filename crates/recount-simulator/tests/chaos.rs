//! Kills a writing process a few times. `make chaos` repeats this 200 times.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::path::Path;

use recount_simulator::chaos::kill_repeatedly;

#[test]
fn acknowledged_entries_are_neither_lost_nor_duplicated() {
    let directory = tempfile::tempdir().unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_simulator"));
    let tally = kill_repeatedly(program, directory.path(), 6, 1, |_, _| {}).unwrap_or_else(|broken| panic!("{broken}"));
    assert_eq!(tally.killed, 6);
}
