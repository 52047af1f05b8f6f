//! `recount schema`: prints the JSON Schema of events and messages.

use std::io::{self, Write};

use anyhow::{Context, Result};
use clap::Args;

use super::Status;

/// Print the JSON Schema of events and messages
///
/// The definitions `Event` and `Msg` are the ones to start from.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct SchemaArgs {}

const EXAMPLES: &str = "\
Examples:
  recount schema > recount.schema.json
  recount schema | jq '.\"$defs\" | keys'";

pub(crate) fn run(_: &SchemaArgs) -> Result<Status> {
    let schema = recount_message::schema::json_schema();
    io::stdout().write_all(schema.as_bytes()).context("cannot write to standard output")?;
    Ok(Status::Clean)
}
