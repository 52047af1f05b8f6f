//! Properties of arguments.

use std::path::Path;

use proptest::prelude::*;
use recount_testkit::json_text::{json_text, mutated, object_text};
use recount_testkit::random::Random;
use recount_testkit::{fuzzing, laws};

proptest! {
    /// The repair does not change valid JSON, even if the repairing parser reads it.
    #[test]
    fn repair_never_changes_json(seed: u64) {
        let text = json_text(&mut Random::new(seed));
        laws::repair_keeps_valid_json(&text)?;
        laws::repair_keeps_valid_json(&format!("{{\"a\":{text}}}"))?;
    }

    /// An object that is truncated anywhere is completed to a prefix of the whole object.
    #[test]
    fn every_truncation_is_completed(seed: u64) {
        let text = object_text(&mut Random::new(seed));
        laws::repair_completes_truncated_json(&text)?;
    }

    /// Valid arguments are unchanged, and repaired arguments are valid.
    #[test]
    fn coercion_keeps_valid_arguments(seed: u64, schema: u64) {
        let random = &mut Random::new(seed);
        let text = object_text(random);
        laws::repaired_arguments_are_valid(&text, schema)?;
        laws::repaired_arguments_are_valid(&mutated(random, &text), schema)?;
    }

    /// Parsing never panics.
    #[test]
    fn parse_never_panics(seed: u64, bytes in prop::collection::vec(any::<u8>(), 0..100)) {
        let random = &mut Random::new(seed);
        let text = object_text(random);
        fuzzing::arguments(mutated(random, &text).as_bytes())?;
        fuzzing::arguments(&bytes)?;
    }
}

/// Runs the fuzz target over its corpus.
#[test]
fn fuzz_corpus_passes() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/arguments");
    let files: Vec<_> = std::fs::read_dir(corpus).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(files.len() > 20, "{} files", files.len());
    for file in files {
        assert_eq!(fuzzing::arguments(&std::fs::read(&file).unwrap()), Ok(()), "{}", file.display());
    }
}
