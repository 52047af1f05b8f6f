//! Shows the events of a followed session.

use std::collections::HashSet;
use std::io::{self, Write as _};

use anstream::AutoStream;
use anyhow::{Context, Result, bail};
use clap::ColorChoice;
use recount_message::{
    Checkpoint, CheckpointReply, Event, EventKind, Fold, Json, Msg, Object, Outcome, Reason, ReplyFold,
};

use super::super::messages;
use super::TailArgs;
use crate::commands::gap_reason_text;
use crate::view::{self, Length, awaited};

/// Writes a session as text or as JSON lines.
pub(super) struct Screen {
    out: Box<dyn io::Write>,
    is_json: bool,
    /// Whether to wait for further events after the existing ones.
    follows: bool,
    shows_all: bool,
    /// Whether to omit the complete messages of the first snapshot.
    hides_past: bool,
    is_from_cursor: bool,
    length: Length,
    fold: Fold,
    /// The complete messages that were shown but are still in the fold, because an earlier reply is open.
    shown_in_fold: HashSet<String>,
    has_shown: bool,
    /// The waiting calls that were shown, as pairs of reply id and call id.
    shown_waiting: HashSet<(String, String)>,
    unread: UnreadReplies,
}

/// Replies whose start was not read. They are requested from the service.
#[derive(Default)]
struct UnreadReplies {
    /// Replies that ended or started to wait since the last request.
    changed: HashSet<String>,
    /// Replies that were shown completely.
    shown: HashSet<String>,
    /// Whether a reply may have been waiting already before the first event.
    may_wait: bool,
}

impl Screen {
    pub(super) fn new(args: &TailArgs) -> Self {
        let choice = match args.color {
            ColorChoice::Auto => AutoStream::choice(&io::stdout()),
            ColorChoice::Always => anstream::ColorChoice::Always,
            ColorChoice::Never => anstream::ColorChoice::Never,
        };
        Self {
            out: Box::new(io::BufWriter::new(AutoStream::new(io::stdout(), choice))),
            is_json: args.json,
            follows: !args.no_follow,
            shows_all: args.all,
            hides_past: args.after.as_deref() == Some("now"),
            is_from_cursor: !args.json && args.is_from_cursor(),
            length: if args.full { Length::Whole } else { Length::Cut },
            fold: Fold::new(),
            shown_in_fold: HashSet::new(),
            has_shown: false,
            shown_waiting: HashSet::new(),
            unread: UnreadReplies::default(),
        }
    }

    pub(super) fn frame(&mut self, name: Option<&[u8]>, data: &str) -> Result<()> {
        match name {
            Some(b"gap") => self.gap(data),
            Some(b"snapshot") if self.is_json => Ok(()),
            Some(b"snapshot") => self.snapshot(data),
            _ if self.is_json => self.write(&format!("{data}\n")),
            _ => self.event(data),
        }
    }

    /// Reports that the cursor cannot be continued. A snapshot follows.
    fn gap(&mut self, data: &str) -> Result<()> {
        let reason = Object::parse(data)?.get("reason").and_then(Json::as_str).map(str::to_owned).unwrap_or_default();
        let why = format!("the cursor cannot be continued: {}", gap_reason_text(&reason));
        if self.is_json && !self.follows {
            bail!("{why}\nhint: `--after start` prints all events that there are");
        }
        self.flush()?;
        let next = if self.is_json {
            "\nhint: events are missing here; `--after start` prints all that there are"
        } else {
            "; this is how the session is now"
        };
        // A failure of standard error cannot be reported.
        let _ = writeln!(io::stderr(), "{why}{next}");
        Ok(())
    }

    /// Replaces the state with a snapshot.
    fn snapshot(&mut self, data: &str) -> Result<()> {
        let snapshot = Object::parse(data)?;
        let open = snapshot.get("open").and_then(Json::to_object).unwrap_or_default();
        let places = snapshot.get("places").and_then(Json::to_object).unwrap_or_default();
        let mut replies: Vec<(usize, CheckpointReply)> = open
            .iter()
            .filter_map(|(id, reply)| {
                let reply = reply.to_object()?;
                let message = Msg::from_json(reply.get("message")?.as_raw()).ok()?;
                let call_floor = reply.get("call_floor").and_then(|floor| floor.as_raw().parse().ok());
                let place = places.get(id).and_then(|place| place.as_raw().parse().ok()).unwrap_or(usize::MAX);
                Some((place, CheckpointReply { message, call_floor }))
            })
            .collect();
        replies.sort_by_key(|(place, _)| *place);
        let hides_past = std::mem::take(&mut self.hides_past);
        let mut shown = if hides_past { Vec::new() } else { messages(&snapshot) };
        // Without following, `show_rest` shows the open replies.
        if self.follows {
            for (place, reply) in &replies {
                shown.insert(shown.len().min(*place), reply.message.clone());
            }
        }
        let replies = replies.into_iter().map(|(_, reply)| reply).collect();
        self.fold = Fold::resume(Checkpoint { cursor: 0, replies, taken: Vec::new() });
        self.shown_in_fold.clear();
        self.show(&shown)
    }

    fn event(&mut self, data: &str) -> Result<()> {
        let event = Event::from_json(data)?;
        let is_shown_kind = matches!(
            event.kind,
            EventKind::ReplyEnd(_) | EventKind::RequireUserConfirm(_) | EventKind::RequireExternalExecution(_)
        );
        if let Outcome::Ignored(Reason::UnknownReply(id)) = self.fold.apply(&event)
            && is_shown_kind
        {
            self.unread.changed.insert(id);
        }
        let complete = match event.kind {
            EventKind::ReplyEnd(_) | EventKind::Custom(_) if self.follows => self.take_complete(),
            _ if self.follows => Vec::new(),
            _ => self.fold.take_ended(),
        };
        self.show(&complete)
    }

    /// Takes the newly complete messages, including those that an earlier open reply keeps in the fold.
    fn take_complete(&mut self) -> Vec<Msg> {
        let open: HashSet<&str> = self.fold.open_replies().map(|reply| reply.message().id()).collect();
        let is_new = |message: &&Msg| !open.contains(message.id()) && !self.shown_in_fold.contains(message.id());
        let complete: Vec<Msg> = self.fold.messages().filter(is_new).cloned().collect();
        self.shown_in_fold.extend(complete.iter().map(|message| message.id().to_owned()));
        for message in self.fold.take_ended() {
            self.shown_in_fold.remove(message.id());
        }
        complete
    }

    /// Whether messages must be requested from the service, because their start was not read.
    pub(super) fn wants_messages(&mut self, is_live: bool) -> bool {
        if is_live {
            self.unread.may_wait |= std::mem::take(&mut self.is_from_cursor);
        }
        self.unread.may_wait || !self.unread.changed.is_empty()
    }

    /// Shows the requested messages.
    pub(super) fn messages(&mut self, messages: &[Msg]) -> Result<()> {
        let changed = std::mem::take(&mut self.unread.changed);
        let may_wait = std::mem::take(&mut self.unread.may_wait);
        for message in messages {
            let has_changed = changed.contains(message.id());
            let is_unread = self.fold.message(message.id()).is_none();
            let waits = is_unread && (has_changed || may_wait) && self.has_new_wait(message);
            let has_ended = has_changed && message.finished_at().is_some();
            if waits || (has_ended && self.unread.shown.insert(message.id().to_owned())) {
                self.show(std::slice::from_ref(message))?;
            }
        }
        Ok(())
    }

    /// Shows the replies that started to wait since the last call. Called at the live end only, so past waits are not shown.
    pub(super) fn show_waiting(&mut self) -> Result<()> {
        let open = self.fold.open_replies().map(ReplyFold::message);
        let waiting: Vec<Msg> = open.filter(|message| self.has_new_wait(message)).cloned().collect();
        self.show(&waiting)
    }

    /// Shows the incomplete messages in their current state.
    pub(super) fn show_rest(&mut self) -> Result<()> {
        let rest: Vec<Msg> = std::mem::take(&mut self.fold).into_messages().collect();
        self.show(&rest)
    }

    pub(super) fn flush(&mut self) -> Result<()> {
        self.out.flush().context("cannot write to standard output")
    }

    /// Whether a reply has a waiting call that was not shown.
    fn has_new_wait(&self, message: &Msg) -> bool {
        awaited(message).any(|call| !self.shown_waiting.contains(&(message.id().to_owned(), call.id.clone())))
    }

    fn show(&mut self, messages: &[Msg]) -> Result<()> {
        for message in messages {
            self.shown_waiting.retain(|(reply_id, _)| reply_id != message.id());
            if message.parent().is_some() && !self.shows_all && awaited(message).next().is_none() {
                continue;
            }
            self.shown_waiting.extend(awaited(message).map(|call| (message.id().to_owned(), call.id.clone())));
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
