//! Access to the recorded vectors.

use std::path::PathBuf;

use serde_json::Value;

/// The directory of the conformance data.
pub(crate) fn conformance() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../conformance")
}

/// Parses the cases of a file.
pub(crate) fn vectors(name: &str) -> Vec<Value> {
    let path = conformance().join("vectors/python/model").join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.split_terminator('\n').map(|line| serde_json::from_str(line).unwrap()).collect()
}
