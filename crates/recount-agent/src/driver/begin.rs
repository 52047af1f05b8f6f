//! How a reply begins, and how one that was left is taken up again.

use std::sync::Arc;

use recount_message::{AgentEvent, CustomEvent, Event, Msg, ReplyStart, ReplyWriter, UserInterruptEvent};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::active_reply::{ActiveReply, Failure, Stage};
use super::answers::{Known, check_for_sub_agent, has_expired};
use super::structured::{Form, MountedForm, form_of};
use crate::agent::{Delivery, Inner, OpenReply, Running, Shared};
use crate::error::Error;
use crate::input::{Checked, Input, InputRejection, Said, check, check_messages};
use crate::machine::{CallStatus, OpenCalls, Step, next_step};
use crate::state::ReplyState;
use crate::stream::ReplyStream;

/// How a reply is entered.
enum Entry {
    New(Vec<Msg>),
    /// It waits, and this is an answer to it.
    Answer(OpenReply, AgentEvent, Checked),
    /// It has waited for too long.
    Expired(OpenReply),
    /// Its process died, and maybe somebody has answered it meanwhile.
    Restart(OpenReply, Option<(AgentEvent, Checked)>),
}

/// The right to write a reply.
struct Seat {
    entry: Entry,
    reply_id: String,
    cancel: CancellationToken,
    inbox: mpsc::UnboundedReceiver<Delivery>,
}

/// Begins a reply, or goes on with the one that waits.
pub(crate) fn begin(shared: &Arc<Shared>, input: Input, form: Option<Form>) -> Result<ReplyStream, Error> {
    let Input { said, is_recorded, part_of } = input;
    // A schema that is none is found out before anything is said.
    let form = form.map(MountedForm::new).transpose()?;
    let Seat { entry, reply_id, cancel, inbox } = take_seat(shared, said)?;
    let work = |reply, place, form| ActiveReply {
        shared: Arc::clone(shared),
        reply,
        place,
        cancel,
        inbox,
        form,
        again: Vec::new(),
        shown: None,
        may_force: true,
        stage: Stage::Between,
        endings: 0,
        has_worked: false,
        is_done: false,
    };
    let own_id = reply_id.clone();
    let mut taken_up = None;
    let mut resumed = |open: OpenReply| {
        let session_id = shared.lock().state.session_id.clone();
        taken_up = Some(open.fold.clone());
        (ReplyWriter::resume(shared.writer_sink(), shared.stamps.stamps(), session_id, open.fold), open.place)
    };
    let work = match entry {
        Entry::New(messages) => {
            take_messages(shared, messages, is_recorded);
            let schema = form.as_ref().map(MountedForm::schema);
            let place = shared.lock().conversation.len();
            let session_id = shared.change(|state| {
                state.reply = Some(ReplyState { schema, ..ReplyState::new(&reply_id) });
                state.session_id.clone()
            });
            let (sink, stamps) = (shared.writer_sink(), shared.stamps.stamps());
            let name = shared.config.name.clone();
            let start = with_parent(ReplyStart::new(session_id, name).with_reply_id(reply_id), part_of);
            work(ReplyWriter::start_with(sink, stamps, start), place, form)
        }
        Entry::Answer(open, event, checked) => {
            let (reply, place) = resumed(open);
            let mut work = work(reply, place, form_of(shared, form));
            work.apply(event, checked, is_recorded);
            work
        }
        Entry::Expired(open) => {
            let (reply, place) = resumed(open);
            let mut work = work(reply, place, form_of(shared, form));
            work.expire();
            work
        }
        Entry::Restart(open, answer) => {
            let (reply, place) = resumed(open);
            let mut work = work(reply, place, form_of(shared, form));
            let problem = work.restart();
            if let Some(error) = problem {
                let failed = work.run_into(Failure { error });
                return Ok(ReplyStream::new(Arc::clone(shared), own_id, Box::pin(failed), taken_up));
            }
            if let Some((event, checked)) = answer {
                work.apply(event, checked, is_recorded);
            }
            work
        }
    };
    Ok(ReplyStream::new(Arc::clone(shared), own_id, Box::pin(work.run()), taken_up))
}

/// Links the reply of a sub-agent to the reply and the tool call that started it.
fn with_parent(start: ReplyStart, part_of: Option<(String, String)>) -> ReplyStart {
    match part_of {
        None => start,
        Some((reply_id, call_id)) => start.with_parent(reply_id).with_metadata([("tool_call_id", call_id)]),
    }
}

/// Takes the seat, if nobody has it and what is said fits.
fn take_seat(shared: &Shared, said: Said) -> Result<Seat, Error> {
    let mut inner = shared.lock();
    if let Some(running) = &inner.running {
        return Err(Error::Busy { reply_id: running.reply_id.clone() });
    }
    let entry = entry(shared, &mut inner, said)?;
    let reply_id = match &entry {
        Entry::New(_) => shared.stamps.id(),
        Entry::Answer(open, ..) | Entry::Expired(open) | Entry::Restart(open, _) => open.fold.message().id().to_owned(),
    };
    let cancel = CancellationToken::new();
    let (sender, inbox) = mpsc::unbounded_channel();
    inner.running = Some(Running { reply_id: reply_id.clone(), cancel: cancel.clone(), inbox: sender });
    inner.set_reader(true);
    Ok(Seat { entry, reply_id, cancel, inbox })
}

/// How the reply is entered with what is said.
fn entry(shared: &Shared, inner: &mut Inner, said: Said) -> Result<Entry, Error> {
    let said = match said {
        Said::Messages(messages) => {
            check_messages(&messages)?;
            let Some(open) = &inner.open else { return Ok(Entry::New(messages)) };
            let reply_id = open.fold.message().id().to_owned();
            if is_waiting(shared, inner, open) {
                if messages.is_empty() && has_expired(shared, &inner.state) {
                    return inner
                        .open
                        .take()
                        .map(Entry::Expired)
                        .ok_or(Error::Rejected(InputRejection::NothingWaiting));
                }
                let calls = OpenCalls::of(open.fold.message());
                let waits = |status| matches!(status, CallStatus::Asking | CallStatus::Submitted);
                let calls = calls.iter().filter(|(_, status)| waits(*status)).map(|(id, _)| id.to_owned()).collect();
                return Err(InputRejection::Waiting { reply_id, calls }.into());
            }
            if !messages.is_empty() {
                return Err(InputRejection::Unfinished { reply_id }.into());
            }
            None
        }
        Said::Interrupt => {
            let open = inner.open.as_ref().ok_or(InputRejection::NothingWaiting)?;
            let kind = UserInterruptEvent::new(open.fold.message().id().to_owned());
            Some(Event::stamped(shared.stamps.id(), shared.stamps.time_text(), kind))
        }
        Said::Event(event) => Some(*event),
    };
    let answer = match said {
        Some(event) => {
            let checked = checked(shared, inner, &event)?;
            Some((event, checked))
        }
        None => None,
    };
    let Some(open) = inner.open.take() else { return Err(InputRejection::NothingWaiting.into()) };
    let is_waiting = is_waiting(shared, inner, &open);
    Ok(match answer {
        Some((event, checked)) if is_waiting => Entry::Answer(open, event, checked),
        answer => Entry::Restart(open, answer),
    })
}

/// Holds an answer to the reply that is open.
fn checked(shared: &Shared, inner: &Inner, event: &AgentEvent) -> Result<Checked, InputRejection> {
    if !crate::input::is_answer(event) {
        return Err(InputRejection::UnsupportedEvent { type_name: event.type_name().to_owned() });
    }
    let reply_id = event.reply_id().unwrap_or_default().to_owned();
    match &inner.open {
        Some(open) if open.fold.message().id() == reply_id => {
            check(event, open.fold.message(), &Known::of(shared, &inner.state))
        }
        _ if inner.sub_agents.contains_key(&reply_id) => {
            check_for_sub_agent(shared, inner, event).unwrap_or(Err(InputRejection::UnknownReply { reply_id }))
        }
        _ if inner.conversation.iter().any(|message| message.id() == reply_id) => {
            Err(InputRejection::ReplyEnded { reply_id })
        }
        _ => Err(InputRejection::UnknownReply { reply_id }),
    }
}

fn is_waiting(shared: &Shared, inner: &Inner, open: &OpenReply) -> bool {
    let message = open.fold.message();
    let blank = ReplyState::new(message.id());
    let reply = inner.state.reply.as_ref().unwrap_or(&blank);
    let has_broken = OpenCalls::of(message).iter().any(|(_, status)| status == CallStatus::Running);
    let step = next_step(reply, message, open.fold.call_floor(), &shared.config.limits);
    !has_broken && matches!(step, Step::Wait(_))
}

/// Adds messages to the conversation, and to what is kept where they are not there yet.
pub(crate) fn take_messages(shared: &Shared, messages: Vec<Msg>, is_recorded: bool) {
    if !is_recorded {
        for message in &messages {
            let kind = CustomEvent::message(message);
            shared.keep(Event::stamped(shared.stamps.id(), shared.stamps.time_text(), kind));
        }
    }
    shared.lock().conversation.extend(messages);
}
