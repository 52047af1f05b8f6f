//! Parses arbitrary bytes as a message or a checkpoint.

#![no_main]

use libfuzzer_sys::fuzz_target;
use recount_testkit::fuzzing;

fuzz_target!(|bytes: &[u8]| {
    if let Err(broken) = fuzzing::message_decode(bytes) {
        panic!("{broken}");
    }
});
