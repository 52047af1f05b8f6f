//! Parses arbitrary bytes as a stream of events.

#![no_main]

use libfuzzer_sys::fuzz_target;
use recount_testkit::fuzzing;

fuzz_target!(|bytes: &[u8]| {
    if let Err(broken) = fuzzing::fold(bytes) {
        panic!("{broken}");
    }
});
