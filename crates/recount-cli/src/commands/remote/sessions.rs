//! `recount sessions`: the sessions of a service.

use std::io::Write as _;

use anyhow::{Context, Result, bail};
use clap::Args;
use recount_message::{Json, Object};
use reqwest::Url;

use super::{Service, TokenArgs, USUAL, checked, parse_url, session_in};
use crate::commands::Status;
use crate::table::table;
use crate::visible::visible_line;

/// List the sessions of a service
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SessionsArgs {
    /// Where the service is, such as http://localhost:7171
    #[arg(value_name = "URL", value_parser = parse_url, default_value = USUAL)]
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
    check_path(&args.url)?;
    let service = Service::new(&args.url, &args.token)?;
    let mut rows = vec![["ID", "STATUS", "AGENT", "CREATED", "TITLE"].map(str::to_owned)];
    let mut after: Option<String> = None;
    loop {
        let mut url = service.url("/v1/sessions?limit=1000")?;
        if let Some(after) = &after {
            url.query_pairs_mut().append_pair("after", after);
        }
        let response = service.client.get(url).send().await.map_err(|error| service.unreachable(&error))?;
        let page = checked(response).await?.text().await.map_err(|error| service.unreachable(&error))?;
        let page = Object::parse(&page).with_context(|| format!("no service of Recount is at {}", service.place()))?;
        let sessions = page.get("sessions").and_then(Json::to_list).unwrap_or_default();
        if args.json {
            write(&sessions.iter().map(|session| format!("{}\n", session.as_str())).collect::<String>())?;
        } else {
            rows.extend(sessions.iter().filter_map(Json::to_object).map(|session| row(&session)));
        }
        after = page.get("next").and_then(Json::to_text);
        if after.is_none() {
            break;
        }
    }
    if !args.json {
        write(&table(&rows))?;
    }
    Ok(Status::Clean)
}

/// A path that means something else is not passed over.
fn check_path(url: &Url) -> Result<()> {
    if let Some(name) = session_in(url) {
        bail!("this is the URL of the session `{name}`\nhint: `recount tail {url}` follows it");
    }
    match url.path().trim_end_matches('/') {
        "" | "/v1/sessions" => Ok(()),
        path => bail!("there are no sessions at `{path}`\nhint: the address of the service is enough, such as {USUAL}"),
    }
}

fn row(session: &Object) -> [String; 5] {
    ["id", "status", "agent", "created_at", "title"].map(|name| {
        let text = session.get(name).and_then(Json::to_text).unwrap_or_default();
        visible_line(&text).into_owned()
    })
}

fn write(text: &str) -> Result<()> {
    std::io::stdout().write_all(text.as_bytes()).context("cannot write to standard output")
}
