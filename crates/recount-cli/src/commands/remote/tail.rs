//! `recount tail`: a session as it goes on.

use std::io::{self, Write as _};
use std::time::Duration;

use anstream::AutoStream;
use anyhow::{Context, Result};
use clap::{Args, ColorChoice};
use recount_message::{Checkpoint, CheckpointReply, Event, Fold, Json, Msg, Object};
use reqwest::{StatusCode, Url};

use super::sse::{Frame, Frames};
use super::{Service, TokenArgs, checked, parse_url};
use crate::commands::Status;
use crate::view::{self, Length};

/// Follow a session of a service
///
/// Shows its newest messages and then each further one as soon as it is complete.
/// When the connection breaks, it goes on where it was: nothing is missing and
/// nothing comes twice.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct TailArgs {
    /// The session, such as http://localhost:7171/v1/sessions/NAME or http://localhost:7171/s/NAME
    #[arg(value_name = "URL", value_parser = parse_url)]
    url: Url,
    /// Print the events, one per line, from the first one or after a cursor
    #[arg(long)]
    json: bool,
    /// Begin after this cursor; `start` is the first event, `now` the next one
    #[arg(long, value_name = "CURSOR")]
    after: Option<String>,
    /// Sub-agents' replies too
    #[arg(long)]
    all: bool,
    /// Show long tool arguments and results whole
    #[arg(long)]
    full: bool,
    /// Stop at the end of what is there, instead of waiting for more
    #[arg(long)]
    no_follow: bool,
    /// When to use colours; `auto` means in a terminal, unless NO_COLOR is set
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    color: ColorChoice,
    #[command(flatten)]
    token: TokenArgs,
}

const EXAMPLES: &str = "\
Examples:
  recount tail localhost:7171/s/chat-7
  recount tail http://localhost:7171/v1/sessions/chat-7 --json | recount check";

/// How long to wait before trying again, at first and at most.
const SOON: Duration = Duration::from_millis(200);
const LATEST: Duration = Duration::from_secs(10);
/// The service says something every 15 seconds.
const SILENCE: Duration = Duration::from_secs(45);

pub(crate) fn run(args: &TailArgs) -> Result<Status> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().context("cannot start")?;
    runtime.block_on(follow(args))
}

async fn follow(args: &TailArgs) -> Result<Status> {
    let service = Service::new(&args.url, &args.token)?;
    let name =
        session_in(&args.url).context("the URL names no session; hint: it ends in /v1/sessions/NAME or /s/NAME")?;
    let mut screen = Screen::new(args);
    let start = args.after.clone().or_else(|| args.json.then(|| "start".to_owned()));
    let mut cursor: Option<String> = None;
    let mut wait = SOON;
    let mut has_worked = false;
    if args.no_follow {
        return once(&service, &name, args, start.as_deref().unwrap_or("start"), &mut screen).await;
    }
    loop {
        let mut url = service.url(&format!("/v1/sessions/{name}/stream"))?;
        if args.all {
            url.query_pairs_mut().append_pair("all", "true");
        }
        let mut request = service.client.get(url.clone());
        match (&cursor, &start) {
            (Some(cursor), _) => request = request.header("last-event-id", cursor),
            (None, Some(start)) => {
                url.query_pairs_mut().append_pair("after", start);
                request = service.client.get(url);
            }
            (None, None) => {}
        }
        let ended = match request.send().await {
            Ok(response) if is_passing(response.status()) => format!("the service answers {}", response.status()),
            Ok(response) => {
                let mut response = checked(response).await?;
                (has_worked, wait) = (true, SOON);
                let mut frames = Frames::default();
                loop {
                    match tokio::time::timeout(SILENCE, response.chunk()).await {
                        Ok(Ok(Some(bytes))) => frames.push(&bytes)?,
                        Ok(Ok(None)) => break "the service has closed the connection".to_owned(),
                        Ok(Err(error)) => break error.to_string(),
                        Err(_) => break "nothing was heard for a while".to_owned(),
                    }
                    while let Some(frame) = frames.next() {
                        // A place to come back to may be told without anything that has happened.
                        if !frame.data.is_empty() {
                            screen.frame(&frame)?;
                        }
                        cursor = frame.id.or(cursor);
                    }
                    screen.out.flush().context("cannot write to standard output")?;
                }
            }
            Err(error) if !has_worked => return Err(error).context("cannot reach the service"),
            Err(error) => error.to_string(),
        };
        // Nobody is left to tell when even this cannot be written.
        let _ = writeln!(io::stderr(), "{ended}; connecting again");
        tokio::time::sleep(wait).await;
        wait = (wait * 2).min(LATEST);
    }
}

/// Prints what is there.
async fn once(service: &Service, name: &str, args: &TailArgs, start: &str, screen: &mut Screen) -> Result<Status> {
    let mut cursor = start.to_owned();
    loop {
        let mut url = service.url(&format!("/v1/sessions/{name}/events"))?;
        url.query_pairs_mut().append_pair("after", &cursor);
        if args.all {
            url.query_pairs_mut().append_pair("all", "true");
        }
        let response = checked(service.client.get(url).send().await.context("cannot reach the service")?).await?;
        let next = response.headers().get("recount-cursor").and_then(|cursor| cursor.to_str().ok()).map(str::to_owned);
        let body = response.text().await?;
        for line in body.lines() {
            screen.frame(&Frame { data: line.to_owned(), ..Frame::default() })?;
        }
        match next {
            Some(next) if !body.is_empty() && next != cursor => cursor = next,
            _ => break,
        }
    }
    screen.finish()?;
    Ok(Status::Clean)
}

/// Whether it may be different in a moment.
fn is_passing(status: StatusCode) -> bool {
    matches!(status.as_u16(), 429 | 502 | 503 | 504)
}

/// The name of the session in the URL of its page or of one of its routes.
fn session_in(url: &Url) -> Option<String> {
    let segments: Vec<&str> = url.path_segments()?.filter(|segment| !segment.is_empty()).collect();
    match segments.as_slice() {
        ["s", name] | ["v1", "sessions", name, ..] => Some((*name).to_owned()),
        _ => None,
    }
}

/// Where it is shown.
struct Screen {
    out: Box<dyn io::Write>,
    is_json: bool,
    length: Length,
    fold: Fold,
    has_shown: bool,
}

impl Screen {
    fn new(args: &TailArgs) -> Self {
        let choice = match args.color {
            ColorChoice::Auto => AutoStream::choice(&io::stdout()),
            ColorChoice::Always => anstream::ColorChoice::Always,
            ColorChoice::Never => anstream::ColorChoice::Never,
        };
        Self {
            out: Box::new(io::BufWriter::new(AutoStream::new(io::stdout(), choice))),
            is_json: args.json,
            length: if args.full { Length::Whole } else { Length::Cut },
            fold: Fold::new(),
            has_shown: false,
        }
    }

    fn frame(&mut self, frame: &Frame) -> Result<()> {
        match frame.event.as_deref() {
            Some("snapshot") => self.snapshot(&frame.data),
            Some("gap") => {
                let _ = writeln!(io::stderr(), "what came in between cannot be told; this is how it is now");
                Ok(())
            }
            _ if self.is_json => self.write(&format!("{}\n", frame.data)),
            _ => {
                let event = Event::from_json(&frame.data)?;
                let _ = self.fold.apply(&event);
                let ended = self.fold.take_ended();
                self.show(&ended)
            }
        }
    }

    /// Begins anew with what the service says is there.
    fn snapshot(&mut self, data: &str) -> Result<()> {
        if self.is_json {
            return Ok(());
        }
        let snapshot = Object::parse(data)?;
        let messages = snapshot.get("messages").and_then(Json::to_list).unwrap_or_default();
        let messages: Vec<Msg> = messages.iter().filter_map(|message| Msg::from_json(message.as_str()).ok()).collect();
        let open = snapshot.get("open").and_then(Json::to_object).unwrap_or_default();
        let replies = open.iter().filter_map(|(_, reply)| {
            let reply = reply.to_object()?;
            let message = Msg::from_json(reply.get("message")?.as_str()).ok()?;
            let call_floor = reply.get("call_floor").and_then(|floor| floor.as_str().parse().ok());
            Some(CheckpointReply { message, call_floor })
        });
        self.fold = Fold::resume(Checkpoint { cursor: 0, replies: replies.collect(), taken: Vec::new() });
        self.show(&messages)
    }

    /// What is not complete is shown as it stands.
    fn finish(&mut self) -> Result<()> {
        let rest: Vec<Msg> = std::mem::take(&mut self.fold).into_messages().collect();
        self.show(&rest)?;
        self.out.flush().context("cannot write to standard output")
    }

    fn show(&mut self, messages: &[Msg]) -> Result<()> {
        if self.is_json {
            return Ok(());
        }
        for message in messages {
            let mut text = String::new();
            if self.has_shown {
                text.push('\n');
            }
            view::render(&mut text, message, self.length);
            self.has_shown = true;
            self.write(&text)?;
        }
        Ok(())
    }

    fn write(&mut self, text: &str) -> Result<()> {
        self.out.write_all(text.as_bytes()).context("cannot write to standard output")
    }
}
