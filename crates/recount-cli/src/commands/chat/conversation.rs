//! An interactive conversation in a terminal.

use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use recount_agent_config::ModelName;
use recount_host::{AgentSource, Error as HostError, OnBusy};
use recount_message::{DataBlock, Msg};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::{Instant, interval, sleep};

use super::answers::{self, PromptOutcome};
use super::editor::{Editor, Line};
use super::export;
use super::images::{self, expand_home};
use super::input::{HELP, HELP_FOOTER, Input};
use super::renderer::Renderer;
use super::session_view::{PendingRequests, SessionState, SessionView};
use super::setup::Chat;
use super::terminal::{DIMMED, ERROR, EchoGuard, PLAIN, Paint, data_label, format_list, format_notice, token_counts};
use crate::commands::Status;
use crate::visible::visible_line;

const SECOND: Duration = Duration::from_secs(1);

/// A second Ctrl-C within this time leaves the program.
const DOUBLE_PRESS: Duration = Duration::from_secs(2);

/// How long to wait for a second Ctrl-C before reading a line.
const DOUBLE_PRESS_GRACE: Duration = Duration::from_millis(250);

/// The next step of the conversation loop.
enum Next {
    /// Read the next message from the user.
    Prompt,
    Answer(Vec<PendingRequests>),
    Leave,
}

struct Conversation<'a> {
    chat: &'a Chat,
    paint: Paint,
    editor: Editor,
    renderer: Renderer,
    session_view: SessionView,
    interrupts: Signal,
    /// Images to attach to the next message.
    images: Vec<DataBlock>,
    /// The pending reply was interrupted.
    is_stopping: bool,
    /// The time of the last interrupt.
    stopped_at: Option<Instant>,
    /// MCP server problems that were already reported.
    reported_problems: Vec<String>,
}

/// Runs the conversation until the user leaves.
pub(super) async fn run(chat: &Chat, paint: Paint, history: &Path, first: Option<Msg>) -> Result<Status> {
    let mut renderer = Renderer::terminal(paint);
    print(&format_notice(&[(DIMMED, &chat.greeting())], paint));
    let session_view = SessionView::subscribe(&chat.session, &mut renderer, true).await?;
    let mut conversation = Conversation {
        chat,
        paint,
        editor: Editor::new(history)?,
        renderer,
        session_view,
        interrupts: signal(SignalKind::interrupt())?,
        images: Vec::new(),
        is_stopping: false,
        stopped_at: None,
        reported_problems: Vec::new(),
    };
    conversation.run(first).await?;
    Ok(Status::Clean)
}

impl Conversation<'_> {
    async fn run(&mut self, mut first: Option<Msg>) -> Result<()> {
        loop {
            match self.follow().await? {
                Next::Leave => return Ok(()),
                Next::Answer(pending) => {
                    if !self.answer(&pending).await? {
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

    /// Renders events until the session needs input from the user.
    async fn follow(&mut self) -> Result<Next> {
        let echo_guard = EchoGuard::new();
        let mut is_stopping = std::mem::take(&mut self.is_stopping);
        let mut last_seen = Instant::now();
        let mut seconds = interval(SECOND);
        self.session_view.catch_up(&mut self.renderer).await?;
        let next = loop {
            self.renderer.draw(idle_notice(last_seen.elapsed(), self.paint))?;
            match self.session_view.state() {
                SessionState::Idle => break Next::Prompt,
                // Expired requests are about to be denied, so do not prompt for them.
                SessionState::Waiting(pending) if !is_stopping && !pending.iter().any(PendingRequests::has_expired) => {
                    break Next::Answer(pending);
                }
                SessionState::Waiting(_) | SessionState::Busy => {}
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
                read = self.session_view.next(&mut self.renderer) => {
                    read?;
                    last_seen = Instant::now();
                }
            }
        };
        if let Some(usage) = self.session_view.take_outcome().and_then(|outcome| outcome.usage) {
            self.renderer.note(&token_counts(&usage));
        }
        self.renderer.settle()?;
        drop(echo_guard);
        Ok(next)
    }

    /// Prompts for the answers that a reply waits for. Returns whether the conversation continues.
    async fn answer(&mut self, pending: &[PendingRequests]) -> Result<bool> {
        let key = self.chat.session.key();
        match answers::prompt(&mut self.editor, self.paint, pending, print).await? {
            PromptOutcome::Leave => return Ok(false),
            PromptOutcome::Stop => {
                self.chat.host.interrupt(key).await?;
                // The same Ctrl-C may also have been delivered as a signal.
                self.take_interrupt().await;
                self.is_stopping = true;
                self.stopped_at = Some(Instant::now());
            }
            PromptOutcome::Expired => self.print_notice("(the time is over: it does not run)"),
            PromptOutcome::Events(events) => match self.chat.host.append(key, &events).await {
                Ok(_) => {}
                Err(HostError::Log(recount_log::Error::Refused(_))) => {
                    self.print_error("the answer came too late: nobody waits for it any more");
                }
                Err(error) => self.print_error(&error.to_string()),
            },
        }
        Ok(true)
    }

    /// Reads the next message. `None` if the user leaves.
    async fn prompt(&mut self) -> Result<Option<Msg>> {
        // The second Ctrl-C may arrive just after the reply has stopped. It is delivered as a signal until a line is
        // read.
        if self.is_second_press() {
            tokio::select! {
                biased;
                _ = self.interrupts.recv() => return Ok(None),
                () = sleep(DOUBLE_PRESS_GRACE) => {}
            }
        }
        let mut was_interrupted = false;
        loop {
            let line = match self.editor.message("> ").await? {
                Line::End => return Ok(None),
                Line::Interrupted if was_interrupted || self.is_second_press() => return Ok(None),
                Line::Interrupted | Line::Expired => {
                    was_interrupted = true;
                    print("(Ctrl-C again, or Ctrl-D, leaves)");
                    continue;
                }
                Line::Text(line) => line,
            };
            was_interrupted = false;
            match Input::parse(&line) {
                Input::Empty => {}
                Input::Message(text) => {
                    let (message, errors) = images::message(&text, std::mem::take(&mut self.images));
                    errors.iter().for_each(|error| self.print_error(error));
                    return Ok(Some(message));
                }
                Input::Quit => return Ok(None),
                Input::Help => {
                    print(&format_list(HELP, self.paint));
                    self.print_notice(HELP_FOOTER);
                }
                Input::Tools => self.show_tools().await,
                Input::Compress => self.compress().await,
                Input::Model(name) => self.set_or_show_model(name).await,
                Input::Save(file) => match export::save(&self.chat.session, Path::new(&expand_home(&file))).await {
                    Ok(summary) => self.print_notice(&summary),
                    Err(error) => self.print_error(&format!("{error:#}")),
                },
                Input::Image(path) => match images::image(&path) {
                    Ok(image) => {
                        self.print_notice(&format!("{path} goes along with the next message"));
                        self.images.push(image);
                    }
                    Err(error) => self.print_error(&format!("{error:#}")),
                },
                Input::Invalid(error) => self.print_error(&error),
            }
        }
    }

    async fn post(&mut self, message: Msg) {
        for image in message.blocks::<DataBlock>() {
            print(&format_notice(&[(DIMMED, &format!("  [{}]", data_label(image)))], self.paint));
        }
        print("");
        let echo_guard = EchoGuard::new();
        // Discard a Ctrl-C that was pressed before this reply.
        self.take_interrupt().await;
        self.stopped_at = None;
        // Queue the message: a run may have started in the meantime.
        let posting = self.chat.host.post(self.chat.session.key(), message, OnBusy::Queue);
        tokio::pin!(posting);
        let result = tokio::select! {
            result = &mut posting => result,
            () = sleep(SECOND) => {
                print(&format_notice(&[(DIMMED, "… the agent's tools are being started")], self.paint));
                posting.await
            }
        };
        if let Err(error) = result {
            self.print_error(&error.to_string());
        }
        self.report_mcp_problems();
        drop(echo_guard);
    }

    /// Returns whether a Ctrl-C now counts as the second of two.
    fn is_second_press(&self) -> bool {
        self.stopped_at.is_some_and(|time| time.elapsed() < DOUBLE_PRESS)
    }

    /// Consumes a pending interrupt signal. Returns whether there was one.
    async fn take_interrupt(&mut self) -> bool {
        tokio::select! {
            biased;
            _ = self.interrupts.recv() => true,
            () = std::future::ready(()) => false,
        }
    }

    /// Reports each MCP server problem once.
    fn report_mcp_problems(&mut self) {
        for problem in self.chat.agents.mcp_problems(&self.chat.agent) {
            if !self.reported_problems.contains(&problem) {
                self.print_error(&problem);
                self.reported_problems.push(problem);
            }
        }
    }

    async fn show_tools(&self) {
        let (agents, agent) = (&self.chat.agents, &self.chat.agent);
        // Give fast servers time to start.
        let building = agents.build(agent, self.chat.session.key());
        if let Ok(Err(error)) = tokio::time::timeout(SECOND, building).await {
            return self.print_error(&error.to_string());
        }
        let tools = agents.tools(agent);
        let starting = agents.starting_mcp_servers(agent);
        if tools.is_empty() && starting.is_empty() {
            print("there are no tools");
        }
        let lines: Vec<(String, String)> = tools
            .iter()
            .map(|(name, description)| (format!("  {}", visible_line(name)), first_sentence(description)))
            .collect();
        let lines: Vec<(&str, &str)> = lines.iter().map(|(name, what)| (name.as_str(), what.as_str())).collect();
        if !lines.is_empty() {
            print(&format_list(&lines, self.paint));
        }
        for server in starting {
            self.print_notice(&format!(
                "the MCP server `{server}` is still starting: its tools are there as soon as it has answered"
            ));
        }
        for problem in agents.mcp_problems(agent) {
            self.print_error(&problem);
        }
    }

    async fn compress(&self) {
        match self.chat.session.info().await {
            Ok(row) if row.head == 0 => return self.print_notice("nothing was said yet"),
            Ok(_) | Err(_) => {}
        }
        match self.chat.host.compress(self.chat.session.key()).await {
            Ok(()) => {
                self.print_notice("what was said so far is summed up for the model before it is asked the next time");
            }
            Err(error) => self.print_error(&error.to_string()),
        }
    }

    async fn set_or_show_model(&self, name: Option<String>) {
        if let Some(name) = name {
            let result = match name.parse::<ModelName>() {
                Ok(model) => self.chat.set_model(model).await,
                Err(error) => Err(error.into()),
            };
            if let Err(error) = result {
                return self.print_error(&error.to_string());
            }
        }
        if let Some(model) = self.chat.agents.model(&self.chat.agent) {
            self.print_notice(&format!("the model is {model}"));
        }
    }

    fn print_error(&self, message: &str) {
        print(&format_notice(&[(ERROR, "error:"), (PLAIN, " "), (PLAIN, &visible_line(message))], self.paint));
    }

    fn print_notice(&self, message: &str) {
        print(&format_notice(&[(PLAIN, &visible_line(message))], self.paint));
    }
}

/// Returns the line shown after at least one second without events.
fn idle_notice(elapsed: Duration, paint: Paint) -> Option<String> {
    (elapsed >= SECOND).then(|| paint.on(DIMMED, &format!("… {} s", elapsed.as_secs())))
}

/// Returns the first sentence of a description, on one line of at most 100 characters.
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

fn print(text: &str) {
    let mut out = io::stdout().lock();
    // Ignore write errors: if the terminal is closed, the next read fails.
    let _ = writeln!(out, "{text}").and_then(|()| out.flush());
}
