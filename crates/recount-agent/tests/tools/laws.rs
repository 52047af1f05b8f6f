//! What is true of any arguments.

use std::path::Path;

use proptest::prelude::*;
use recount_testkit::json_text::{json_text, mutated, object_text};
use recount_testkit::random::Random;
use recount_testkit::{fuzzing, laws};

proptest! {
    /// JSON is left as it is by the repair, also where it has to go through the reader that repairs.
    #[test]
    fn repair_never_changes_json(seed: u64) {
        let text = json_text(&mut Random::new(seed));
        laws::repaired(&text)?;
        laws::repaired(&format!("{{\"a\":{text}}}"))?;
    }

    /// An object that breaks off anywhere can be read, and is a beginning of the whole.
    #[test]
    fn every_truncation_is_completed(seed: u64) {
        let text = object_text(&mut Random::new(seed));
        laws::completed(&text)?;
    }

    /// What is right is never turned into something else, and what is made of the rest is right.
    #[test]
    fn coercion_leaves_alone_what_is_right(seed: u64, schema: u64) {
        let random = &mut Random::new(seed);
        let text = object_text(random);
        laws::arguments(&text, schema)?;
        laws::arguments(&mutated(random, &text), schema)?;
    }

    /// No text panics.
    #[test]
    fn total(seed: u64, bytes in prop::collection::vec(any::<u8>(), 0..100)) {
        let random = &mut Random::new(seed);
        let text = object_text(random);
        fuzzing::arguments(mutated(random, &text).as_bytes())?;
        fuzzing::arguments(&bytes)?;
    }
}

/// The fuzz target, run over its corpus without a fuzzer.
#[test]
fn the_corpus_holds() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/arguments");
    let files: Vec<_> = std::fs::read_dir(corpus).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(files.len() > 20, "{} files", files.len());
    for file in files {
        assert_eq!(fuzzing::arguments(&std::fs::read(&file).unwrap()), Ok(()), "{}", file.display());
    }
}
