//! `recount sessions`: the sessions of a service.

use std::io::Write as _;

use anyhow::{Context, Result};
use clap::Args;
use recount_message::{Json, Object};
use reqwest::Url;

use super::{Service, TokenArgs, checked, parse_url};
use crate::commands::Status;
use crate::visible::visible_line;

/// List the sessions of a service
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SessionsArgs {
    /// Where the service is, such as http://localhost:7171
    #[arg(value_name = "URL", value_parser = parse_url, default_value = "http://127.0.0.1:7171")]
    url: Url,
    /// Print each as a JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    token: TokenArgs,
}

const EXAMPLES: &str = "\
Examples:
  recount sessions
  recount sessions https://recount.example --json | jq -r .id";

pub(crate) fn run(args: &SessionsArgs) -> Result<Status> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().context("cannot start")?;
    runtime.block_on(list(args))
}

async fn list(args: &SessionsArgs) -> Result<Status> {
    let service = Service::new(&args.url, &args.token)?;
    let mut after: Option<String> = None;
    loop {
        let mut url = service.url("/v1/sessions?limit=1000")?;
        if let Some(after) = &after {
            url.query_pairs_mut().append_pair("after", after);
        }
        let response = service.client.get(url).send().await.context("cannot reach the service")?;
        let page = Object::parse(&checked(response).await?.text().await?)?;
        let mut text = String::new();
        for session in page.get("sessions").and_then(Json::to_list).unwrap_or_default() {
            if args.json {
                text.push_str(session.as_str());
                text.push('\n');
            } else if let Some(session) = session.to_object() {
                let field = |name: &str| session.get(name).and_then(Json::to_text).unwrap_or_default();
                let line = format!(
                    "{}\t{}\t{}\t{}\t{}",
                    field("id"),
                    field("status"),
                    field("agent"),
                    field("created_at"),
                    field("title")
                );
                text.push_str(&visible_line(&line.replace('\t', "  ")));
                text.push('\n');
            }
        }
        std::io::stdout().write_all(text.as_bytes()).context("cannot write to standard output")?;
        after = page.get("next").and_then(Json::to_text);
        if after.is_none() {
            return Ok(Status::Clean);
        }
    }
}
