//! `recount tail`: follows a session.

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
use super::{NEWEST_MESSAGES, Service, SessionArgs, block_on, cause, error_for_status, messages};
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

/// The largest accepted event, in bytes. Services accept only smaller ones.
const MAX_EVENT_BYTES: usize = 256 << 20;

/// The first and the longest delay before reconnecting. The delay doubles after each failure.
const MIN_BACKOFF: Duration = Duration::from_millis(200);
const MAX_BACKOFF: Duration = Duration::from_secs(10);
/// The read timeout. The service sends a heartbeat every 15 seconds.
const READ_TIMEOUT: Duration = Duration::from_secs(45);

impl TailArgs {
    /// Returns the parameter `after` of the request. `None` requests a snapshot.
    fn start_after(&self) -> Option<&str> {
        match self.after.as_deref() {
            // The text output shows open replies, and events after `now` do not include their start.
            Some("now") if !self.json => None,
            Some(after) => Some(after),
            None => (self.json || self.no_follow).then_some("start"),
        }
    }

    /// Whether replies may have started before the first event that is read.
    fn is_from_cursor(&self) -> bool {
        self.start_after().is_some_and(|after| after != "start")
    }
}

pub(crate) fn run(args: &TailArgs) -> Result<Status> {
    block_on(follow(args))
}

/// The state of a followed session.
struct Tail<'a> {
    args: &'a TailArgs,
    service: Service,
    screen: Screen,
    cursor: Option<String>,
}

/// The reason why reading a stream ended.
enum StreamEnd {
    /// All requested events were read.
    Done,
    /// The connection failed, with the message to print.
    Disconnected(String),
}

async fn follow(args: &TailArgs) -> Result<Status> {
    let service = Service::new(&args.of.session.url, &args.of.token)?;
    let mut tail = Tail { args, service, screen: Screen::new(args), cursor: None };
    let (mut delay, mut was_connected) = (MIN_BACKOFF, false);
    loop {
        let reason = match tail.request()?.send().await {
            Ok(response) if is_transient(response.status()) => status_message(response.status()),
            Ok(response) => {
                (was_connected, delay) = (true, MIN_BACKOFF);
                match tail.read(error_for_status(response).await?).await? {
                    StreamEnd::Done => return Ok(Status::Clean),
                    StreamEnd::Disconnected(why) => why,
                }
            }
            Err(error) if !was_connected => return Err(tail.service.unreachable(&error)),
            Err(error) => format!("cannot reach the service: {}", cause(&error)),
        };
        // A failure of standard error cannot be reported.
        let _ = writeln!(io::stderr(), "{reason}; connecting again");
        tokio::time::sleep(delay).await;
        delay = (delay * 2).min(MAX_BACKOFF);
    }
}

/// Whether a status is temporary, so that the request is retried.
fn is_transient(status: StatusCode) -> bool {
    matches!(status.as_u16(), 429 | 502 | 503 | 504)
}

fn status_message(status: StatusCode) -> String {
    format!("the service answers {status}")
}

impl Tail<'_> {
    /// Creates the request for the events after the cursor.
    fn request(&self) -> Result<reqwest::RequestBuilder> {
        let mut url = self.service.url(&self.args.of.session.path("/stream"))?;
        // The text output always shows the calls of sub-agents that wait, so it needs their events.
        if self.args.all || !self.args.json {
            url.query_pairs_mut().append_pair("all", "true");
        }
        if let Some(cursor) = &self.cursor {
            return Ok(self.service.client.get(url).header("last-event-id", cursor));
        }
        if let Some(after) = self.args.start_after() {
            url.query_pairs_mut().append_pair("after", after);
        }
        Ok(self.service.client.get(url))
    }

    /// Reads and shows the events of a response until the connection ends.
    async fn read(&mut self, mut response: Response) -> Result<StreamEnd> {
        let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        if !kind.starts_with("text/event-stream") {
            bail!("no service of Recount is at {}", self.service.display_url());
        }
        let (mut parser, mut is_live) = (SseParser::new(MAX_EVENT_BYTES), false);
        loop {
            match tokio::time::timeout(READ_TIMEOUT, response.chunk()).await {
                Ok(Ok(Some(bytes))) => parser.push(&bytes, |event| {
                    // An event without data only advances the cursor.
                    if let Some(data) = event.data.filter(|data| !data.is_empty()) {
                        self.screen.frame(event.name, &String::from_utf8_lossy(data))?;
                    }
                    is_live |= event.comment == Some(b"live");
                    if let Some(id) = event.id {
                        self.cursor = Some(String::from_utf8_lossy(id).into_owned());
                    }
                    Ok::<_, anyhow::Error>(())
                })?,
                Ok(Ok(None)) => return Ok(StreamEnd::Disconnected("the service has closed the connection".to_owned())),
                Ok(Err(error)) => {
                    return Ok(StreamEnd::Disconnected(format!("the connection broke: {}", cause(&error))));
                }
                Err(_) => return Ok(StreamEnd::Disconnected("nothing was heard for a while".to_owned())),
            }
            if self.screen.wants_messages(is_live) {
                match self.messages().await? {
                    Ok(messages) => self.screen.messages(&messages)?,
                    Err(why) => return Ok(StreamEnd::Disconnected(why)),
                }
            }
            if is_live && self.args.no_follow {
                self.screen.show_rest()?;
                self.screen.flush()?;
                return Ok(StreamEnd::Done);
            }
            if is_live {
                self.screen.show_waiting()?;
            }
            self.screen.flush()?;
        }
    }

    /// Returns the newest messages, including open ones. The inner error is temporary: the caller reconnects.
    async fn messages(&self) -> Result<Result<Vec<Msg>, String>> {
        let path = self.args.of.session.path(NEWEST_MESSAGES);
        let page = match self.service.client.get(self.service.url(&path)?).send().await {
            Ok(response) if is_transient(response.status()) => return Ok(Err(status_message(response.status()))),
            Ok(response) => error_for_status(response).await?.text().await,
            Err(error) => Err(error),
        };
        match page {
            Ok(page) => Ok(Ok(messages(&Object::parse(&page)?))),
            Err(error) => Ok(Err(format!("the connection broke: {}", cause(&error)))),
        }
    }
}
