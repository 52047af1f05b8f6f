//! Parses arbitrary bytes as a response of Anthropic Messages.

#![no_main]

use libfuzzer_sys::fuzz_target;
use recount_testkit::fuzzing;

fuzz_target!(|bytes: &[u8]| {
    if let Err(broken) = fuzzing::anthropic_decode(bytes) {
        panic!("{broken}");
    }
});
