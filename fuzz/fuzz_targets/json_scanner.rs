//! Parses arbitrary bytes as JSON with the scanner and with `serde_json`.

#![no_main]

use libfuzzer_sys::fuzz_target;
use recount_testkit::fuzzing;

fuzz_target!(|bytes: &[u8]| {
    if let Err(broken) = fuzzing::json_scanner(bytes) {
        panic!("{broken}");
    }
});
