//! The simulator detects planted defects.

use recount_simulator::defect::Defect;
use recount_simulator::world::{Place, Simulation};

/// The maximum number of simulations until a defect has occurred often enough.
const SEEDS: u64 = 1_000;
const STEPS: usize = 80;

/// Checks that the simulator detects a defect in at least `least` of the first `of` simulations in which it occurs. In the
/// others the session is deleted, or the defect is overwritten, before it has an effect.
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
fn simulator_detects_lost_duplicated_and_moved_entries() {
    check(Defect::LosesAnEntry, 9, 10);
    check(Defect::DoublesAnEntry, 9, 10);
    check(Defect::SwapsEntries, 8, 10);
    check(Defect::SpoilsACompaction, 8, 10);
}

#[test]
fn simulator_detects_misreported_commits() {
    check(Defect::TearsACommit, 9, 10);
    check(Defect::DeniesACommit, 9, 10);
    check(Defect::ClaimsACommit, 9, 10);
    check(Defect::KeepsADeletedSession, 9, 10);
    check(Defect::KeepsEpochs, 10, 10);
}

#[test]
fn simulator_detects_lost_derived_data() {
    check(Defect::LosesAMessage, 9, 10);
    check(Defect::LosesAnOpenReply, 8, 10);
    check(Defect::MisplacesACheckpoint, 3, 10);
    check(Defect::LosesADocument, 9, 10);
    check(Defect::LosesADescription, 9, 10);
    check(Defect::ForgetsANamedUpload, 7, 10);
    check(Defect::SweepsTooEarly, 5, 10);
}

#[test]
fn simulator_detects_missing_fencing() {
    check(Defect::AppendsAnywhere, 9, 10);
    check(Defect::AdoptsAnything, 2, 2);
    check(Defect::IgnoresLeases, 7, 10);
    check(Defect::ForgetsLeases, 6, 10);
}

#[test]
fn simulator_detects_wrong_responses() {
    check(Defect::TellsAnOldHead, 10, 10);
    check(Defect::WritesAgain, 8, 10);
    check(Defect::TakesAnyInput, 9, 10);
    check(Defect::IgnoresThePlace, 9, 10);
}

#[test]
fn simulator_detects_wrong_frames() {
    check(Defect::RepeatsAFrame, 10, 10);
    check(Defect::SkipsAFrame, 9, 10);
    check(Defect::ShowsTooEarly, 3, 10);
    check(Defect::HidesAGap, 10, 10);
    check(Defect::HidesAMessage, 10, 10);
    check(Defect::HidesAnOpenReply, 10, 10);
}
