//! Defects that are planted, and found.

use recount_simulator::defect::Defect;
use recount_simulator::world::{Place, Simulation};

/// How many simulations may be needed until a defect has shown often enough.
const SEEDS: u64 = 1_000;
const STEPS: usize = 80;

/// Holds the simulator to finding a defect in so many of the first simulations in which it shows. In the others the session
/// is gone, or something else has taken the place of what is wrong, before anybody could notice.
#[track_caller]
fn check(defect: Defect, least: usize, of: usize) {
    let (mut seed, mut shown, mut found) = (0, 0, 0);
    while shown < of {
        assert!(seed < SEEDS, "{defect:?} has shown only {shown} times");
        let (has_shown, result) = Simulation { seed, steps: STEPS, place: Place::Memory }.run_with(defect);
        assert!(has_shown || result.is_ok(), "{defect:?} has not shown, and the seed {seed} is {result:?}");
        shown += usize::from(has_shown);
        found += usize::from(result.is_err());
        seed += 1;
    }
    assert!(found >= least, "{defect:?} was found {found} times of {shown}");
}

#[test]
fn entries_that_are_lost_doubled_or_moved_are_found() {
    check(Defect::LosesAnEntry, 9, 10);
    check(Defect::DoublesAnEntry, 9, 10);
    check(Defect::SwapsEntries, 8, 10);
    check(Defect::SpoilsACompaction, 8, 10);
}

#[test]
fn commits_that_are_not_what_they_are_said_to_be_are_found() {
    check(Defect::TearsACommit, 9, 10);
    check(Defect::DeniesACommit, 9, 10);
    check(Defect::ClaimsACommit, 9, 10);
    check(Defect::KeepsADeletedSession, 9, 10);
    check(Defect::KeepsEpochs, 10, 10);
}

#[test]
fn what_is_lost_that_follows_from_entries_is_found() {
    check(Defect::LosesAMessage, 9, 10);
    check(Defect::LosesAnOpenReply, 8, 10);
    check(Defect::MisplacesACheckpoint, 3, 10);
    check(Defect::LosesADocument, 9, 10);
    check(Defect::LosesADescription, 9, 10);
    check(Defect::ForgetsANamedUpload, 7, 10);
    check(Defect::SweepsTooEarly, 5, 10);
}

#[test]
fn processes_that_ignore_each_other_are_found() {
    check(Defect::AppendsAnywhere, 9, 10);
    check(Defect::AdoptsAnything, 2, 2);
    check(Defect::IgnoresLeases, 7, 10);
    check(Defect::ForgetsLeases, 6, 10);
}

#[test]
fn wrong_answers_are_found() {
    check(Defect::TellsAnOldHead, 10, 10);
    check(Defect::WritesAgain, 8, 10);
    check(Defect::TakesAnyInput, 9, 10);
    check(Defect::IgnoresThePlace, 9, 10);
}

#[test]
fn readers_that_get_too_much_or_too_little_are_found() {
    check(Defect::RepeatsAFrame, 10, 10);
    check(Defect::SkipsAFrame, 9, 10);
    check(Defect::ShowsTooEarly, 3, 10);
    check(Defect::HidesAGap, 10, 10);
    check(Defect::HidesAMessage, 10, 10);
    check(Defect::HidesAnOpenReply, 10, 10);
}
