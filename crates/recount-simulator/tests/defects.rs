//! Defects that are planted, and found.

use recount_simulator::defect::Defect;
use recount_simulator::world::simulate_with;

/// How often each of them shows, and how many simulations may be needed for that.
const SHOWN: usize = 10;
const SEEDS: u64 = 1_000;
const STEPS: usize = 80;

/// Holds the simulator to finding a defect in so many of ten simulations in which it shows. In the others the session is
/// gone, or something else has taken the place of what is wrong, before anybody could notice.
#[track_caller]
fn check(defect: Defect, least: usize) {
    let (mut seed, mut shown, mut found) = (0, 0, 0);
    while shown < SHOWN {
        assert!(seed < SEEDS, "{defect:?} has shown only {shown} times");
        let (has_shown, result) = simulate_with(defect, seed, STEPS);
        assert!(has_shown || result.is_ok(), "{defect:?} has not shown, and the seed {seed} is {result:?}");
        shown += usize::from(has_shown);
        found += usize::from(result.is_err());
        seed += 1;
    }
    assert!(found >= least, "{defect:?} was found {found} times of {shown}");
}

#[test]
fn entries_that_are_lost_doubled_or_moved_are_found() {
    check(Defect::LosesAnEntry, 9);
    check(Defect::DoublesAnEntry, 9);
    check(Defect::SwapsEntries, 7);
    check(Defect::TearsACommit, 8);
    check(Defect::DeniesACommit, 9);
}

#[test]
fn what_is_lost_that_follows_from_entries_is_found() {
    check(Defect::LosesAMessage, 7);
    check(Defect::LosesAnOpenReply, 7);
    check(Defect::LosesADocument, 6);
    check(Defect::LosesADescription, 7);
}

#[test]
fn processes_that_ignore_each_other_are_found() {
    check(Defect::AppendsAnywhere, 9);
    check(Defect::AdoptsAnything, 9);
}

#[test]
fn wrong_answers_are_found() {
    check(Defect::TellsAnOldHead, 10);
    check(Defect::ForgetsLeases, 3);
}

#[test]
fn readers_that_get_too_much_or_too_little_are_found() {
    check(Defect::RepeatsAFrame, 10);
    check(Defect::SkipsAFrame, 7);
}
