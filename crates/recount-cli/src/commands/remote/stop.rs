//! `recount stop`: the reply of a session ends.

use anyhow::Result;
use clap::Args;
use recount_message::Json;

use super::{Service, SessionArgs, block_on, tell};
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
    let told = block_on(service.post(&args.of.session.path("/interrupt"), "{}".to_owned()))?;
    if args.json {
        tell(&format!("{}\n", told.to_json()))?;
    } else if told.get("cursor").is_none_or(Json::is_null) {
        tell("nothing was under way\n")?;
    } else {
        tell("stopped\n")?;
    }
    Ok(Status::Clean)
}
