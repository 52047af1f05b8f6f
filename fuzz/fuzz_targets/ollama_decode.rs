//! Parses arbitrary bytes as a response of Ollama.

#![no_main]

use libfuzzer_sys::fuzz_target;
use recount_testkit::fuzzing;

fuzz_target!(|bytes: &[u8]| {
    if let Err(broken) = fuzzing::ollama_decode(bytes) {
        panic!("{broken}");
    }
});
