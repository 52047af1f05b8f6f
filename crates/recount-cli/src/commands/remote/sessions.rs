//! `recount sessions`: lists the sessions of a service.

use anyhow::{Result, bail};
use clap::Args;
use recount_message::{Json, Object};
use reqwest::Url;

use super::{DEFAULT_URL, Service, TokenArgs, block_on, parse_url, print, session_name};
use crate::commands::Status;
use crate::table::table;
use crate::visible::visible_line;

/// List the sessions of a service
///
/// The one in which something was last complete comes first.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SessionsArgs {
    /// Where the service is, such as http://localhost:7171
    #[arg(value_name = "URL", value_parser = parse_url, default_value = DEFAULT_URL)]
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
    block_on(list(args))
}

async fn list(args: &SessionsArgs) -> Result<Status> {
    check_path(&args.url)?;
    let service = Service::new(&args.url, &args.token)?;
    let mut rows = Vec::new();
    let mut after: Option<String> = None;
    loop {
        // Session names need no percent-encoding.
        let page = service.get(&format!("/v1/sessions?limit=1000&after={}", after.unwrap_or_default())).await?;
        let sessions = page.get("sessions").and_then(Json::to_array).unwrap_or_default();
        if args.json {
            print(&sessions.iter().map(|session| format!("{}\n", session.as_raw())).collect::<String>())?;
        } else {
            rows.extend(sessions.iter().filter_map(Json::to_object).map(|session| row(&session)));
        }
        after = page.get("next").and_then(Json::as_str).map(str::to_owned);
        if after.is_none() {
            break;
        }
    }
    if !args.json {
        // All times have the same format, so text order is time order.
        rows.sort_by(|[.., one, _], [.., other, _]| other.cmp(one));
        rows.insert(0, ["ID", "STATUS", "AGENT", "UPDATED", "TITLE"].map(str::to_owned));
        print(&table(&rows))?;
    }
    Ok(Status::Clean)
}

/// Rejects URLs with a path other than `/` and `/v1/sessions`.
fn check_path(url: &Url) -> Result<()> {
    if let Some(name) = session_name(url) {
        bail!("this is the URL of the session `{name}`\nhint: `recount tail {url}` follows it");
    }
    match url.path().trim_end_matches('/') {
        "" | "/v1/sessions" => Ok(()),
        path => bail!(
            "there are no sessions at `{path}`\nhint: the address of the service is enough, such as {DEFAULT_URL}"
        ),
    }
}

fn row(session: &Object) -> [String; 5] {
    ["id", "status", "agent", "updated_at", "title"].map(|name| {
        let text = session.get(name).and_then(Json::as_str).map(str::to_owned).unwrap_or_default();
        visible_line(&text).into_owned()
    })
}
