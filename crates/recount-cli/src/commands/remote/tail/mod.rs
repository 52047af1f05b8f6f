//! `recount tail`: a session as it goes on.

mod screen;

use std::io::{self, Write as _};
use std::time::Duration;

use anyhow::{Result, bail};
use clap::{Args, ColorChoice};
use recount_message::{Msg, Object};
use recount_model::sse::SseParser;
use reqwest::header::CONTENT_TYPE;
use reqwest::{Response, StatusCode};

use self::screen::Screen;
use super::{NEWEST_MESSAGES, Service, SessionArgs, block_on, cause, checked, messages};
use crate::commands::Status;

/// Follow a session of a service
///
/// Shows its newest messages, replies that are under way as far as they have
/// come, and then each further message as soon as it is complete. A reply that
/// waits for a confirmation or for a result from outside is shown as soon as it
/// does; `recount answer` answers it, as does the page of the session,
/// http://…/s/NAME.
///
/// When the connection breaks, it goes on where it was: no event is missing, and
/// none is told twice. Ctrl-C ends it.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct TailArgs {
    #[command(flatten)]
    of: SessionArgs,
    /// Print the events, one per line, from the first one or after a cursor
    #[arg(long)]
    json: bool,
    /// Begin after this cursor, such as 848089607.12; `start` is the first event,
    /// `now` leaves out what is complete
    #[arg(long, value_name = "CURSOR", verbatim_doc_comment)]
    after: Option<String>,
    /// Sub-agents' replies too; what they wait for is shown in any case
    #[arg(long)]
    all: bool,
    /// Show long tool arguments and results whole
    #[arg(long)]
    full: bool,
    /// Stop at the end of what is there, instead of waiting for more; begins with
    /// the first event, unless --after says otherwise
    #[arg(long, verbatim_doc_comment)]
    no_follow: bool,
    /// When to use colours; `auto` means in a terminal, unless NO_COLOR is set
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    color: ColorChoice,
}

const EXAMPLES: &str = "\
Examples:
  recount tail chat-7
  recount tail https://recount.example/s/chat-7 --after now
  recount tail http://localhost:7171/v1/sessions/chat-7 --json | recount check
  recount tail chat-7 --json --no-follow > chat-7.jsonl";

/// More than the largest event that a service accepts.
const MAX_EVENT_BYTES: usize = 256 << 20;

/// How long to wait before trying again, at first and at most.
const SOON: Duration = Duration::from_millis(200);
const LATEST: Duration = Duration::from_secs(10);
/// The service says something every 15 seconds.
const SILENCE: Duration = Duration::from_secs(45);

impl TailArgs {
    /// What the service is asked to begin after. Nothing asks for a snapshot.
    fn begin(&self) -> Option<&str> {
        match self.after.as_deref() {
            // A person wants to know what is open now, which the events after it do not say.
            Some("now") if !self.json => None,
            Some(after) => Some(after),
            None => (self.json || self.no_follow).then_some("start"),
        }
    }

    /// Whether replies may have begun before what is read.
    fn is_from_cursor(&self) -> bool {
        self.begin().is_some_and(|begin| begin != "start")
    }
}

pub(crate) fn run(args: &TailArgs) -> Result<Status> {
    block_on(follow(args))
}

/// What is read, and how far.
struct Tail<'a> {
    args: &'a TailArgs,
    service: Service,
    screen: Screen,
    cursor: Option<String>,
}

/// Why reading a stream ended.
enum Ended {
    /// Everything that was wanted is there.
    Done,
    /// The connection broke.
    Broken(String),
}

async fn follow(args: &TailArgs) -> Result<Status> {
    let service = Service::new(&args.of.session.url, &args.of.token)?;
    let mut tail = Tail { args, service, screen: Screen::new(args), cursor: None };
    let (mut wait, mut has_worked) = (SOON, false);
    loop {
        let ended = match tail.request()?.send().await {
            Ok(response) if is_passing(response.status()) => passing(response.status()),
            Ok(response) => {
                (has_worked, wait) = (true, SOON);
                match tail.read(checked(response).await?).await? {
                    Ended::Done => return Ok(Status::Clean),
                    Ended::Broken(why) => why,
                }
            }
            Err(error) if !has_worked => return Err(tail.service.unreachable(&error)),
            Err(error) => format!("cannot reach the service: {}", cause(&error)),
        };
        // Nobody is left to tell when even this cannot be written.
        let _ = writeln!(io::stderr(), "{ended}; connecting again");
        tokio::time::sleep(wait).await;
        wait = (wait * 2).min(LATEST);
    }
}

/// Whether it may be different in a moment.
fn is_passing(status: StatusCode) -> bool {
    matches!(status.as_u16(), 429 | 502 | 503 | 504)
}

fn passing(status: StatusCode) -> String {
    format!("the service answers {status}")
}

impl Tail<'_> {
    /// Asks for everything after what was read.
    fn request(&self) -> Result<reqwest::RequestBuilder> {
        let mut url = self.service.url(&self.args.of.session.path("/stream"))?;
        // People are shown what sub-agents wait for, whether or not they want to see the rest.
        if self.args.all || !self.args.json {
            url.query_pairs_mut().append_pair("all", "true");
        }
        if let Some(cursor) = &self.cursor {
            return Ok(self.service.client.get(url).header("last-event-id", cursor));
        }
        if let Some(begin) = self.args.begin() {
            url.query_pairs_mut().append_pair("after", begin);
        }
        Ok(self.service.client.get(url))
    }

    /// Shows what comes, for as long as the connection holds.
    async fn read(&mut self, mut response: Response) -> Result<Ended> {
        let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        if !kind.starts_with("text/event-stream") {
            bail!("no service of Recount is at {}", self.service.place());
        }
        let (mut parser, mut is_live) = (SseParser::new(MAX_EVENT_BYTES), false);
        loop {
            match tokio::time::timeout(SILENCE, response.chunk()).await {
                Ok(Ok(Some(bytes))) => parser.push(&bytes, |event| {
                    // An event without data only moves the cursor.
                    if let Some(data) = event.data.filter(|data| !data.is_empty()) {
                        self.screen.frame(event.name, &String::from_utf8_lossy(data))?;
                    }
                    is_live |= event.comment == Some(b"live");
                    if let Some(id) = event.id {
                        self.cursor = Some(String::from_utf8_lossy(id).into_owned());
                    }
                    Ok::<_, anyhow::Error>(())
                })?,
                Ok(Ok(None)) => return Ok(Ended::Broken("the service has closed the connection".to_owned())),
                Ok(Err(error)) => return Ok(Ended::Broken(format!("the connection broke: {}", cause(&error)))),
                Err(_) => return Ok(Ended::Broken("nothing was heard for a while".to_owned())),
            }
            if self.screen.wants_messages(is_live) {
                match self.messages().await? {
                    Ok(messages) => self.screen.messages(&messages)?,
                    Err(why) => return Ok(Ended::Broken(why)),
                }
            }
            if is_live && self.args.no_follow {
                self.screen.show_rest()?;
                self.screen.flush()?;
                return Ok(Ended::Done);
            }
            if is_live {
                self.screen.show_waiting()?;
            }
            self.screen.flush()?;
        }
    }

    /// The newest messages, open ones as they stand; or why it may be different in a moment.
    async fn messages(&self) -> Result<Result<Vec<Msg>, String>> {
        let path = self.args.of.session.path(NEWEST_MESSAGES);
        let page = match self.service.client.get(self.service.url(&path)?).send().await {
            Ok(response) if is_passing(response.status()) => return Ok(Err(passing(response.status()))),
            Ok(response) => checked(response).await?.text().await,
            Err(error) => Err(error),
        };
        match page {
            Ok(page) => Ok(Ok(messages(&Object::parse(&page)?))),
            Err(error) => Ok(Err(format!("the connection broke: {}", cause(&error)))),
        }
    }
}
