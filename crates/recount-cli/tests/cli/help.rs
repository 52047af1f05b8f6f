//! `--help`, `--version` and `recount schema`.

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
    chat: "chat --help";
    serve: "serve --help";
    sessions: "sessions --help";
    tail: "tail --help";
    send: "send --help";
    answer: "answer --help";
    stop: "stop --help";
    token: "token --help";
    token_create: "token create --help";
    token_list: "token list --help";
    token_revoke: "token revoke --help";
    config: "config --help";
    doctor: "doctor --help";
    sandbox: "sandbox --help";
    log: "log --help";
    log_sessions: "log sessions --help";
    log_export: "log export --help";
    log_import: "log import --help";
    log_fork: "log fork --help";
    log_compact: "log compact --help";
    log_verify: "log verify --help";
    log_backup: "log backup --help";
    nothing: "";
    unknown_option: "fold --colour";
}

#[test]
fn version_is_that_of_the_package() {
    assert_eq!(recount("--version", b"").stdout, concat!("recount ", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn schema_matches_the_documented_one() {
    assert_eq!(recount("schema", b"").stdout, include_str!("../../../../docs/schema.json"));
}
