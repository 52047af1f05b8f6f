//! Parses arbitrary bytes as a response of OpenAI Responses.

#![no_main]

use libfuzzer_sys::fuzz_target;
use recount_testkit::fuzzing;

fuzz_target!(|bytes: &[u8]| {
    if let Err(broken) = fuzzing::responses_decode(bytes) {
        panic!("{broken}");
    }
});
