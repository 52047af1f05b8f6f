//! `recount stop`: interrupts the reply in progress.

use anyhow::Result;
use clap::Args;
use recount_message::Json;

use super::{Service, SessionArgs, block_on, print};
use crate::commands::Status;

/// Stop the reply that is under way in a session
///
/// What it has said stays. Where nothing is under way, nothing happens.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct StopArgs {
    #[command(flatten)]
    of: SessionArgs,
    /// Print what the service answers
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &StopArgs) -> Result<Status> {
    let service = Service::new(&args.of.session.url, &args.of.token)?;
    let response = block_on(service.post(&args.of.session.path("/interrupt"), "{}".to_owned()))?;
    if args.json {
        print(&format!("{}\n", response.to_json()))?;
    } else if response.get("cursor").is_none_or(Json::is_null) {
        print("nothing was under way\n")?;
    } else {
        print("stopped\n")?;
    }
    Ok(Status::Clean)
}
