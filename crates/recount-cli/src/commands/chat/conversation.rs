//! A conversation in a terminal.

use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use recount_agent_config::ModelName;
use recount_host::{AgentSource, Error as HostError, OnBusy};
use recount_message::{DataBlock, Msg};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::{Instant, interval, sleep};

use super::answers::{self, Answered};
use super::editor::{Editor, Line};
use super::images::{self, at_home};
use super::input::{HELP, HELP_BELOW, Said};
use super::reading::{Reading, Standing, Waiting};
use super::saving;
use super::setup::Chat;
use super::sight::Sight;
use super::terminal::{BAD, DIMMED, PLAIN, Paint, Quiet, described, listed, tokens, told};
use crate::commands::Status;
use crate::visible::visible_line;

const SECOND: Duration = Duration::from_secs(1);

/// Two Ctrl-C within this time are pressed by somebody who wants to leave.
const TWICE: Duration = Duration::from_secs(2);

/// So long it is listened for the second one before a line is read.
const BETWEEN: Duration = Duration::from_millis(250);

/// What comes next.
enum Next {
    /// The user's turn.
    Prompt,
    Answer(Vec<Waiting>),
    Leave,
}

struct Conversation<'a> {
    chat: &'a Chat,
    paint: Paint,
    editor: Editor,
    sight: Sight,
    reading: Reading,
    interrupts: Signal,
    /// Images for the next message.
    images: Vec<DataBlock>,
    /// The reply that waits was told to stop.
    is_stopping: bool,
    /// When a reply was last told to stop.
    stopped_at: Option<Instant>,
    /// What was told of MCP servers.
    troubles: Vec<String>,
}

/// Talks until the user leaves.
pub(super) async fn talk(chat: &Chat, paint: Paint, history: &Path, first: Option<Msg>) -> Result<Status> {
    let mut sight = Sight::terminal(paint);
    tell(&told(&[(DIMMED, &chat.greeting())], paint));
    let reading = Reading::begin(&chat.session, &mut sight, true).await?;
    let mut conversation = Conversation {
        chat,
        paint,
        editor: Editor::new(history)?,
        sight,
        reading,
        interrupts: signal(SignalKind::interrupt())?,
        images: Vec::new(),
        is_stopping: false,
        stopped_at: None,
        troubles: Vec::new(),
    };
    conversation.run(first).await?;
    Ok(Status::Clean)
}

impl Conversation<'_> {
    async fn run(&mut self, mut first: Option<Msg>) -> Result<()> {
        loop {
            match self.follow().await? {
                Next::Leave => return Ok(()),
                Next::Answer(waiting) => {
                    if !self.answer(&waiting).await? {
                        return Ok(());
                    }
                }
                Next::Prompt => {
                    let message = match first.take() {
                        Some(message) => Some(message),
                        None => self.prompt().await?,
                    };
                    let Some(message) = message else { return Ok(()) };
                    self.post(message).await;
                }
            }
        }
    }

    /// Shows what happens until it is the user's turn.
    async fn follow(&mut self) -> Result<Next> {
        let quiet = Quiet::begin();
        let mut is_stopping = std::mem::take(&mut self.is_stopping);
        let mut last_seen = Instant::now();
        let mut seconds = interval(SECOND);
        self.reading.catch_up(&mut self.sight).await?;
        let next = loop {
            self.sight.draw(silence(last_seen.elapsed(), self.paint))?;
            match self.reading.standing() {
                Standing::Idle => break Next::Prompt,
                // What it is too late for is about to be denied.
                Standing::Waiting(waiting) if !is_stopping && !waiting.iter().any(Waiting::has_expired) => {
                    break Next::Answer(waiting);
                }
                Standing::Waiting(_) | Standing::Busy => {}
            }
            tokio::select! {
                _ = seconds.tick() => {}
                _ = self.interrupts.recv() => {
                    if std::mem::replace(&mut is_stopping, true) {
                        break Next::Leave;
                    }
                    self.stopped_at = Some(Instant::now());
                    self.chat.host.interrupt(self.chat.session.key()).await?;
                }
                read = self.reading.next(&mut self.sight) => {
                    read?;
                    last_seen = Instant::now();
                }
            }
        };
        if let Some(usage) = self.reading.take_ended().and_then(|ended| ended.usage) {
            self.sight.note(&tokens(&usage));
        }
        self.sight.settle()?;
        drop(quiet);
        Ok(next)
    }

    /// Asks what a reply waits for. Tells whether the conversation goes on.
    async fn answer(&mut self, waiting: &[Waiting]) -> Result<bool> {
        let key = self.chat.session.key();
        match answers::ask(&mut self.editor, self.paint, waiting, tell).await? {
            Answered::Leave => return Ok(false),
            Answered::Stop => {
                self.chat.host.interrupt(key).await?;
                // It may have come as a signal too.
                self.was_interrupted().await;
                self.is_stopping = true;
                self.stopped_at = Some(Instant::now());
            }
            Answered::Expired => self.say("(the time is over: it does not run)"),
            Answered::Events(events) => match self.chat.host.append(key, &events).await {
                Ok(_) => {}
                Err(HostError::Log(recount_log::Error::Refused(_))) => {
                    self.complain("the answer came too late: nobody waits for it any more");
                }
                Err(error) => self.complain(&error.to_string()),
            },
        }
        Ok(true)
    }

    /// The user's next message; nothing when they leave.
    async fn prompt(&mut self) -> Result<Option<Msg>> {
        // The second of two in a row may come just when the reply has stopped. It is a signal until a line is read.
        if self.is_pressed_twice() {
            tokio::select! {
                biased;
                _ = self.interrupts.recv() => return Ok(None),
                () = sleep(BETWEEN) => {}
            }
        }
        let mut was_interrupted = false;
        loop {
            let line = match self.editor.message("> ").await? {
                Line::End => return Ok(None),
                Line::Interrupted if was_interrupted || self.is_pressed_twice() => return Ok(None),
                Line::Interrupted | Line::Expired => {
                    was_interrupted = true;
                    tell("(Ctrl-C again, or Ctrl-D, leaves)");
                    continue;
                }
                Line::Text(line) => line,
            };
            was_interrupted = false;
            match Said::read(&line) {
                Said::Nothing => {}
                Said::Message(text) => {
                    let (message, left_out) = images::message(&text, std::mem::take(&mut self.images));
                    left_out.iter().for_each(|why| self.complain(why));
                    return Ok(Some(message));
                }
                Said::Quit => return Ok(None),
                Said::Help => {
                    tell(&listed(HELP, self.paint));
                    self.say(HELP_BELOW);
                }
                Said::Tools => self.tools().await,
                Said::Compress => self.compress().await,
                Said::Model(name) => self.model(name).await,
                Said::Save(file) => match saving::save(&self.chat.session, Path::new(&at_home(&file))).await {
                    Ok(kept) => self.say(&kept),
                    Err(error) => self.complain(&format!("{error:#}")),
                },
                Said::Image(path) => match images::image(&path) {
                    Ok(image) => {
                        self.say(&format!("{path} goes along with the next message"));
                        self.images.push(image);
                    }
                    Err(error) => self.complain(&format!("{error:#}")),
                },
                Said::Wrong(what) => self.complain(&what),
            }
        }
    }

    async fn post(&mut self, message: Msg) {
        for image in message.blocks::<DataBlock>() {
            tell(&told(&[(DIMMED, &format!("  [{}]", described(image)))], self.paint));
        }
        tell("");
        let quiet = Quiet::begin();
        // A Ctrl-C from before is not about this reply.
        self.was_interrupted().await;
        self.stopped_at = None;
        // Something may have begun by itself meanwhile.
        let posting = self.chat.host.post(self.chat.session.key(), message, OnBusy::Queue);
        tokio::pin!(posting);
        let posted = tokio::select! {
            posted = &mut posting => posted,
            () = sleep(SECOND) => {
                tell(&told(&[(DIMMED, "… the agent's tools are being started")], self.paint));
                posting.await
            }
        };
        if let Err(error) = posted {
            self.complain(&error.to_string());
        }
        self.tell_troubles();
        drop(quiet);
    }

    /// Whether a Ctrl-C now is the second one of two.
    fn is_pressed_twice(&self) -> bool {
        self.stopped_at.is_some_and(|time| time.elapsed() < TWICE)
    }

    /// Whether Ctrl-C was pressed where nobody was asked anything, once.
    async fn was_interrupted(&mut self) -> bool {
        tokio::select! {
            biased;
            _ = self.interrupts.recv() => true,
            () = std::future::ready(()) => false,
        }
    }

    /// Says once what is the matter with MCP servers.
    fn tell_troubles(&mut self) {
        for trouble in self.chat.agents.mcp_problems(&self.chat.agent) {
            if !self.troubles.contains(&trouble) {
                self.complain(&trouble);
                self.troubles.push(trouble);
            }
        }
    }

    async fn tools(&self) {
        let (agents, agent) = (&self.chat.agents, &self.chat.agent);
        // Servers that are quick are waited for.
        let building = agents.build(agent, self.chat.session.key());
        if let Ok(Err(error)) = tokio::time::timeout(SECOND, building).await {
            return self.complain(&error.to_string());
        }
        let tools = agents.tools(agent);
        let starting = agents.starting_mcp_servers(agent);
        if tools.is_empty() && starting.is_empty() {
            tell("there are no tools");
        }
        let lines: Vec<(String, String)> = tools
            .iter()
            .map(|(name, description)| (format!("  {}", visible_line(name)), first_sentence(description)))
            .collect();
        let lines: Vec<(&str, &str)> = lines.iter().map(|(name, what)| (name.as_str(), what.as_str())).collect();
        if !lines.is_empty() {
            tell(&listed(&lines, self.paint));
        }
        for server in starting {
            self.say(&format!(
                "the MCP server `{server}` is still starting: its tools are there as soon as it has answered"
            ));
        }
        for trouble in agents.mcp_problems(agent) {
            self.complain(&trouble);
        }
    }

    async fn compress(&self) {
        match self.chat.session.info().await {
            Ok(row) if row.head == 0 => return self.say("nothing was said yet"),
            Ok(_) | Err(_) => {}
        }
        match self.chat.host.compress(self.chat.session.key()).await {
            Ok(()) => self.say("what was said so far is summed up for the model before it is asked the next time"),
            Err(error) => self.complain(&error.to_string()),
        }
    }

    async fn model(&self, name: Option<String>) {
        if let Some(name) = name {
            let taken = match name.parse::<ModelName>() {
                Ok(model) => self.chat.take_model(model).await,
                Err(error) => Err(error.into()),
            };
            if let Err(error) = taken {
                return self.complain(&error.to_string());
            }
        }
        if let Some(model) = self.chat.agents.model(&self.chat.agent) {
            self.say(&format!("the model is {model}"));
        }
    }

    fn complain(&self, what: &str) {
        tell(&told(&[(BAD, "error:"), (PLAIN, " "), (PLAIN, &visible_line(what))], self.paint));
    }

    fn say(&self, what: &str) {
        tell(&told(&[(PLAIN, &visible_line(what))], self.paint));
    }
}

/// What stands where nothing has happened for a while.
fn silence(lasting: Duration, paint: Paint) -> Option<String> {
    (lasting >= SECOND).then(|| paint.on(DIMMED, &format!("… {} s", lasting.as_secs())))
}

/// What a description begins with, in one line.
fn first_sentence(description: &str) -> String {
    const LONGEST: usize = 100;
    let line = description.trim().lines().next().unwrap_or_default();
    let sentence = line.split_inclusive(". ").next().unwrap_or_default().trim_end();
    let shown = visible_line(sentence);
    if shown.chars().count() <= LONGEST {
        return shown.into_owned();
    }
    shown.chars().take(LONGEST - 1).chain(['…']).collect()
}

fn tell(text: &str) {
    let mut out = io::stdout().lock();
    // Whoever closed the terminal has left, which reading from it finds out.
    let _ = writeln!(out, "{text}").and_then(|()| out.flush());
}
