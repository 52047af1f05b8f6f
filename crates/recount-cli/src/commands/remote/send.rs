//! `recount send`: sends a message to the agent of a session.

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use recount_message::{Json, Object};

use super::{Service, SessionArgs, block_on, print};
use crate::commands::Status;

/// Say something to the agent of a session
///
/// Prints the id of the reply as soon as the message is kept; the reply goes on in
/// the service, and `recount tail` shows it.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct SendArgs {
    #[command(flatten)]
    of: SessionArgs,
    /// What is said; without it, standard input
    text: Option<String>,
    /// Make the session if it is not there
    #[arg(long)]
    new: bool,
    /// What to do while a reply is under way
    #[arg(long, value_name = "WHAT", default_value = "reject")]
    on_busy: OnBusy,
    /// The message's id, under which it can be sent again and is there once
    #[arg(long, value_name = "ID")]
    id: Option<String>,
    /// Print what the service answers
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  recount send chat-7 'What is the weather in Oslo?'
  recount send --new chat-8 < question.txt && recount tail chat-8
  recount send https://recount.example/s/chat-7 'Never mind' --on-busy interrupt";

/// What becomes of a message while a reply is under way.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum OnBusy {
    /// It is refused
    Reject,
    /// It waits for its turn
    Queue,
    /// The reply is stopped
    Interrupt,
}

pub(crate) fn run(args: &SendArgs) -> Result<Status> {
    block_on(send(args))
}

async fn send(args: &SendArgs) -> Result<Status> {
    let text = match &args.text {
        Some(text) => text.clone(),
        None => std::io::read_to_string(std::io::stdin()).context("cannot read standard input")?,
    };
    if text.trim().is_empty() {
        bail!("there is nothing to say\nhint: give a text, or pipe one in");
    }
    let service = Service::new(&args.of.session.url, &args.of.token)?;
    if args.new {
        service.put(&args.of.session.path("")).await?;
    }
    let on_busy = args.on_busy.to_possible_value().map(|value| value.get_name().to_owned());
    let mut message = Object::new();
    message.insert("content", text.trim_end_matches('\n'));
    message.insert("on_busy", on_busy);
    if let Some(id) = &args.id {
        message.insert("id", id.as_str());
    }
    let response = service.post(&args.of.session.path("/messages"), message.to_json()).await?;
    if args.json {
        print(&format!("{}\n", response.to_json()))?;
    } else {
        print(&format!(
            "{}\n",
            response.get("reply_id").and_then(Json::as_str).map(str::to_owned).unwrap_or_default()
        ))?;
    }
    Ok(Status::Clean)
}
