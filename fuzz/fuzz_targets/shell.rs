//! Parses arbitrary bytes as a shell command.

#![no_main]

use libfuzzer_sys::fuzz_target;
use recount_testkit::fuzzing;

fuzz_target!(|bytes: &[u8]| {
    if let Err(broken) = fuzzing::shell(bytes) {
        panic!("{broken}");
    }
});
