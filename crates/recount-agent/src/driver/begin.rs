//! Starting a reply, and resuming one that waits or was interrupted by a crash.

use std::sync::Arc;

use recount_message::{AgentEvent, CustomEvent, Event, Msg, ReplyStart, ReplyWriter, UserInterruptEvent};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::active_reply::{ActiveReply, Failure, Stage};
use super::answers::{AnswerContext, check_for_sub_agent, has_expired};
use super::structured::{OutputTool, resumed_output_tool};
use crate::agent::{Inner, OpenReply, QueuedAnswer, RunningReply, Shared};
use crate::error::Error;
use crate::input::{Input, InputKind, InputRejection, ValidatedAnswer, check_messages, validate_answer};
use crate::machine::{CallStatus, OpenCalls, Step, next_step};
use crate::state::ReplyState;
use crate::stream::ReplyStream;
use crate::tool::StructuredOutput;

/// How a reply is started or resumed.
enum StartMode {
    New(Vec<Msg>),
    /// Resume a waiting reply with an answer.
    Answer(OpenReply, AgentEvent, ValidatedAnswer),
    /// Resume a waiting reply with expired calls.
    Expired(OpenReply),
    /// Resume a reply after a crash, possibly with an answer.
    Restart(OpenReply, Option<(AgentEvent, ValidatedAnswer)>),
}

/// The exclusive right to write a reply of the agent.
struct ReplyClaim {
    mode: StartMode,
    reply_id: String,
    cancel: CancellationToken,
    inbox: mpsc::UnboundedReceiver<QueuedAnswer>,
}

/// Starts a reply, or resumes the waiting one.
pub(crate) fn begin(
    shared: &Arc<Shared>,
    input: Input,
    output_tool: Option<StructuredOutput>,
) -> Result<ReplyStream, Error> {
    let Input { kind, is_recorded, parent_call } = input;
    // Compile the schema first, so that an invalid one fails before anything is written.
    let output_tool = output_tool.map(OutputTool::new).transpose()?;
    let ReplyClaim { mode, reply_id, cancel, inbox } = claim_agent(shared, kind)?;
    let work = |reply, position, output_tool| ActiveReply {
        shared: Arc::clone(shared),
        reply,
        position,
        cancel,
        inbox,
        output_tool,
        calls_to_rerun: Vec::new(),
        last_view: None,
        can_force_tool: true,
        stage: Stage::Between,
        ended_rounds: 0,
        has_worked: false,
        is_done: false,
    };
    let own_id = reply_id.clone();
    let mut resumed_from = None;
    let mut resumed = |open: OpenReply| {
        let session_id = shared.lock().state.session_id.clone();
        resumed_from = Some(open.fold.clone());
        (ReplyWriter::resume(shared.writer_sink(), shared.stamps.stamps(), session_id, open.fold), open.position)
    };
    let work = match mode {
        StartMode::New(messages) => {
            add_messages(shared, messages, is_recorded);
            let schema = output_tool.as_ref().map(OutputTool::schema);
            let position = shared.lock().conversation.len();
            let session_id = shared.change(|state| {
                state.reply = Some(ReplyState { schema, ..ReplyState::new(&reply_id) });
                state.session_id.clone()
            });
            let (sink, stamps) = (shared.writer_sink(), shared.stamps.stamps());
            let name = shared.config.name.clone();
            let start = with_parent(ReplyStart::new(session_id, name).with_reply_id(reply_id), parent_call);
            work(ReplyWriter::start_with(sink, stamps, start), position, output_tool)
        }
        StartMode::Answer(open, event, checked) => {
            let (reply, position) = resumed(open);
            let mut work = work(reply, position, resumed_output_tool(shared, output_tool));
            work.apply(event, checked, is_recorded);
            work
        }
        StartMode::Expired(open) => {
            let (reply, position) = resumed(open);
            let mut work = work(reply, position, resumed_output_tool(shared, output_tool));
            work.expire();
            work
        }
        StartMode::Restart(open, answer) => {
            let (reply, position) = resumed(open);
            let mut work = work(reply, position, resumed_output_tool(shared, output_tool));
            let problem = work.restart();
            if let Some(error) = problem {
                let failed = work.run_into(Failure { error });
                return Ok(ReplyStream::new(Arc::clone(shared), own_id, Box::pin(failed), resumed_from));
            }
            if let Some((event, checked)) = answer {
                work.apply(event, checked, is_recorded);
            }
            work
        }
    };
    Ok(ReplyStream::new(Arc::clone(shared), own_id, Box::pin(work.run()), resumed_from))
}

/// Links the reply of a sub-agent to the reply and the tool call that started it.
fn with_parent(start: ReplyStart, parent_call: Option<(String, String)>) -> ReplyStart {
    match parent_call {
        None => start,
        Some((reply_id, call_id)) => start.with_parent(reply_id).with_metadata([("tool_call_id", call_id)]),
    }
}

/// Claims the agent. Fails if it is busy or the input is invalid.
fn claim_agent(shared: &Shared, kind: InputKind) -> Result<ReplyClaim, Error> {
    let mut inner = shared.lock();
    if let Some(running) = &inner.running {
        return Err(Error::Busy { reply_id: running.reply_id.clone() });
    }
    let mode = start_mode(shared, &mut inner, kind)?;
    let reply_id = match &mode {
        StartMode::New(_) => shared.stamps.id(),
        StartMode::Answer(open, ..) | StartMode::Expired(open) | StartMode::Restart(open, _) => {
            open.fold.message().id().to_owned()
        }
    };
    let cancel = CancellationToken::new();
    let (sender, inbox) = mpsc::unbounded_channel();
    inner.running = Some(RunningReply { reply_id: reply_id.clone(), cancel: cancel.clone(), inbox: sender });
    inner.set_has_reader(true);
    Ok(ReplyClaim { mode, reply_id, cancel, inbox })
}

/// Determines how the input starts or resumes a reply.
fn start_mode(shared: &Shared, inner: &mut Inner, kind: InputKind) -> Result<StartMode, Error> {
    let event = match kind {
        InputKind::Messages(messages) => {
            check_messages(&messages)?;
            let Some(open) = &inner.open else { return Ok(StartMode::New(messages)) };
            let reply_id = open.fold.message().id().to_owned();
            if is_waiting(shared, inner, open) {
                if messages.is_empty() && has_expired(shared, &inner.state) {
                    return inner
                        .open
                        .take()
                        .map(StartMode::Expired)
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
        InputKind::Interrupt => {
            let open = inner.open.as_ref().ok_or(InputRejection::NothingWaiting)?;
            let kind = UserInterruptEvent::new(open.fold.message().id().to_owned());
            Some(Event::stamped(shared.stamps.id(), shared.stamps.time_text(), kind))
        }
        InputKind::Event(event) => Some(*event),
    };
    let answer = match event {
        Some(event) => {
            let checked = validate(shared, inner, &event)?;
            Some((event, checked))
        }
        None => None,
    };
    let Some(open) = inner.open.take() else { return Err(InputRejection::NothingWaiting.into()) };
    let is_waiting = is_waiting(shared, inner, &open);
    Ok(match answer {
        Some((event, checked)) if is_waiting => StartMode::Answer(open, event, checked),
        answer => StartMode::Restart(open, answer),
    })
}

/// Validates an answer against the open reply.
fn validate(shared: &Shared, inner: &Inner, event: &AgentEvent) -> Result<ValidatedAnswer, InputRejection> {
    if !crate::input::is_answer(event) {
        return Err(InputRejection::UnsupportedEvent { type_name: event.type_name().to_owned() });
    }
    let reply_id = event.reply_id().unwrap_or_default().to_owned();
    match &inner.open {
        Some(open) if open.fold.message().id() == reply_id => {
            validate_answer(event, open.fold.message(), &AnswerContext::of(shared, &inner.state))
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

/// Adds messages to the conversation, and writes them as events unless they are already recorded.
pub(crate) fn add_messages(shared: &Shared, messages: Vec<Msg>, is_recorded: bool) {
    if !is_recorded {
        for message in &messages {
            let kind = CustomEvent::message(message);
            shared.append_unstreamed(Event::stamped(shared.stamps.id(), shared.stamps.time_text(), kind));
        }
    }
    shared.lock().conversation.extend(messages);
}
