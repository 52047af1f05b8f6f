//! `recount sessions`: the sessions of a service.

use std::io::Write as _;

use anyhow::{Context, Result};
use clap::Args;
use recount_message::{Json, Object};
use reqwest::Url;
use unicode_width::UnicodeWidthStr as _;

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
    let mut rows = vec![["ID", "STATUS", "AGENT", "CREATED", "TITLE"].map(str::to_owned)];
    let mut after: Option<String> = None;
    loop {
        let mut url = service.url("/v1/sessions?limit=1000")?;
        if let Some(after) = &after {
            url.query_pairs_mut().append_pair("after", after);
        }
        let response = service.client.get(url).send().await.context("cannot reach the service")?;
        let page = Object::parse(&checked(response).await?.text().await?)?;
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

fn row(session: &Object) -> [String; 5] {
    ["id", "status", "agent", "created_at", "title"].map(|name| {
        let text = session.get(name).and_then(Json::to_text).unwrap_or_default();
        visible_line(&text).into_owned()
    })
}

/// Rows with their columns under one another.
fn table(rows: &[[String; 5]]) -> String {
    let mut widths = [0; 5];
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.width().max(*width);
        }
    }
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (width, cell) in widths.iter().zip(row) {
            line.push_str(cell);
            line.extend(std::iter::repeat_n(' ', width - cell.width() + 2));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

fn write(text: &str) -> Result<()> {
    std::io::stdout().write_all(text.as_bytes()).context("cannot write to standard output")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_under_one_another() {
        let rows = [["ID", "STATUS", "AGENT", "CREATED", "TITLE"], ["chat-7", "idle", "助手", "now", ""]];
        let rows = rows.map(|row| row.map(str::to_owned));
        assert_eq!(table(&rows), "ID      STATUS  AGENT  CREATED  TITLE\nchat-7  idle    助手   now\n");
    }
}
