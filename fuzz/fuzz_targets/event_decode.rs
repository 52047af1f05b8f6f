//! Parses arbitrary bytes as an event.

#![no_main]

use libfuzzer_sys::fuzz_target;
use recount_testkit::fuzzing;

fuzz_target!(|bytes: &[u8]| {
    if let Err(broken) = fuzzing::event_decode(bytes) {
        panic!("{broken}");
    }
});
