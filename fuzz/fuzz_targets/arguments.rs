//! Parses arbitrary bytes as tool arguments of a model.

#![no_main]

use libfuzzer_sys::fuzz_target;
use recount_testkit::fuzzing;

fuzz_target!(|bytes: &[u8]| {
    if let Err(broken) = fuzzing::arguments(bytes) {
        panic!("{broken}");
    }
});
