//! Parses arbitrary bytes as a message, a block, an event and a stream of AgentScope Java 1.

#![no_main]

use libfuzzer_sys::fuzz_target;
use recount_testkit::fuzzing;

fuzz_target!(|bytes: &[u8]| {
    if let Err(broken) = fuzzing::dialect_java1(bytes) {
        panic!("{broken}");
    }
});
