//! Parses arbitrary bytes as a message, a block, an event and a stream of AgentScope's TypeScript package.

#![no_main]

use libfuzzer_sys::fuzz_target;
use recount_testkit::fuzzing;

fuzz_target!(|bytes: &[u8]| {
    if let Err(broken) = fuzzing::dialect_typescript(bytes) {
        panic!("{broken}");
    }
});
