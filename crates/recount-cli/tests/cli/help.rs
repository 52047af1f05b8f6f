//! What the binary says about itself.

use crate::run::{cases, recount};

cases! {
    top: "--help";
    fold: "fold --help";
    check: "check --help";
    show: "show --help";
    convert: "convert --help";
    schema: "schema --help";
    decode: "decode --help";
    format: "format --help";
    models: "models --help";
    ask: "ask --help";
    nothing: "";
    unknown_option: "fold --colour";
}

#[test]
fn version() {
    assert_eq!(recount("--version", b"").stdout, concat!("recount ", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn the_schema_is_the_one_in_the_documentation() {
    assert_eq!(recount("schema", b"").stdout, include_str!("../../../../docs/schema.json"));
}
