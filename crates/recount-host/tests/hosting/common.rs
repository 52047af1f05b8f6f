//! Helpers for tests of a host: sessions, agents and a reader that folds the events.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use recount_agent::middleware::{Middleware, Next};
use recount_agent::tool::{FunctionTool, NoArguments};
use recount_agent::{ActiveReply, AgentBuilder, BoxFuture, ReplyOutcome};
use recount_host::{AgentInfo, AgentSource, Host, HostOptions, SingleAgent, SourceError};
use recount_log::{Frame, Log, Session, SessionKey, Start};
use recount_message::{
    AgentEvent, ConfirmResult, Event, EventKind, Fold, Msg, Object, ReplyFold, ToolResultBlock, UserConfirmResultEvent,
};

/// The timeout for events that must arrive.
const TIMEOUT: Duration = Duration::from_secs(60);

pub(crate) const SESSION: &str = "chat";

/// Starts a host of one agent on a log.
pub(crate) async fn host(log: &Log, make: impl Fn() -> AgentBuilder + Send + Sync + 'static) -> Host {
    host_with(log, HostOptions::default(), make).await
}

pub(crate) async fn host_with(
    log: &Log,
    options: HostOptions,
    make: impl Fn() -> AgentBuilder + Send + Sync + 'static,
) -> Host {
    Host::start(log.clone(), Arc::new(SingleAgent::new("friday", make)), options).await.unwrap()
}

/// A source that builds agents with a function of their name. The default agent is `friday`.
pub(crate) struct FnSource<F>(pub(crate) F);

impl<F: Fn(&str) -> Result<AgentBuilder, SourceError> + Send + Sync + 'static> AgentSource for FnSource<F> {
    fn agents(&self) -> Vec<AgentInfo> {
        Vec::new()
    }

    fn default_agent(&self) -> &str {
        "friday"
    }

    fn build<'a>(
        &'a self,
        name: &'a str,
        _session: &'a SessionKey,
    ) -> BoxFuture<'a, Result<AgentBuilder, SourceError>> {
        Box::pin(async { (self.0)(name) })
    }
}

/// Creates an in-memory log with one session.
pub(crate) async fn memory_session() -> (Log, Session) {
    let log = Log::in_memory();
    let session = log.create(SESSION.parse().unwrap()).await.unwrap();
    (log, session)
}

pub(crate) fn user(id: &str, text: &str) -> Msg {
    Msg::user("Alice", text).with_id(id)
}

/// Reads a session from its beginning, and folds its events.
pub(crate) struct TestReader {
    reader: recount_log::Reader,
    pub(crate) events: Vec<AgentEvent>,
    pub(crate) fold: Fold,
}

impl TestReader {
    pub(crate) fn new(session: &Session) -> Self {
        Self { reader: session.subscribe(Start::Beginning).unwrap(), events: Vec::new(), fold: Fold::new() }
    }

    /// Reads until a condition holds. `what` describes it for the panic message.
    pub(crate) async fn wait_until(&mut self, what: &str, is_true: impl Fn(&Self) -> bool) {
        while !is_true(self) {
            let next = tokio::time::timeout(TIMEOUT, self.reader.next()).await;
            let Ok(frame) = next else { panic!("timed out waiting for {what} after {}", self.transcript()) };
            let frame = frame.unwrap();
            let Frame::Entry(entry) = frame else { panic!("{frame:?}") };
            let event = Event::from_slice(&entry.event).unwrap().into_owned();
            let _ = self.fold.apply_at(entry.cursor.seq, &event);
            self.events.push(event);
        }
    }

    /// Returns the events so far as JSON lines, for failure messages.
    pub(crate) fn transcript(&self) -> String {
        self.events.iter().map(Event::to_json).collect::<Vec<_>>().join("\n")
    }

    /// Reads until a reply has ended, and returns it.
    pub(crate) async fn wait_for_end(&mut self, reply_id: &str) -> Msg {
        let has_ended = |reader: &Self| reader.reply(reply_id).is_some_and(|reply| reply.finished_at().is_some());
        self.wait_until("the end of the reply", has_ended).await;
        self.fold.message(reply_id).unwrap().clone()
    }

    pub(crate) fn reply(&self, id: &str) -> Option<&Msg> {
        self.fold.message(id)
    }
}

impl TestReader {
    /// Returns the JSON of a reply, folded from its events without its end.
    pub(crate) fn message_before_end(&self, reply_id: &str) -> String {
        let of_reply = |event: &&AgentEvent| !matches!(event.kind, EventKind::ReplyEnd(_) | EventKind::ReplyStart(_));
        let is_start =
            |event: &&AgentEvent| matches!(event.kind, EventKind::ReplyStart(_)) && event.reply_id() == Some(reply_id);
        let start = self.events.iter().find(is_start).unwrap();
        let mut fold = ReplyFold::start(start).unwrap();
        for event in self.events.iter().filter(of_reply) {
            let _ = fold.apply(event);
        }
        fold.message().to_json()
    }

    /// Counts the events that match a predicate.
    pub(crate) fn count(&self, is_meant: impl Fn(&AgentEvent) -> bool) -> usize {
        self.events.iter().filter(|event| is_meant(event)).count()
    }

    pub(crate) fn signals(&self, name: &str) -> Vec<Object> {
        let values = self.events.iter().filter_map(|event| match &event.kind {
            EventKind::Custom(custom) if custom.name == name => Some(custom.value.clone()),
            _ => None,
        });
        values.collect()
    }
}

/// RunMetadata what an agent itself holds when it comes to the end of its rounds.
#[derive(Debug, Clone, Default)]
pub(crate) struct RecordedMessage(Arc<Mutex<Vec<String>>>);

impl RecordedMessage {
    pub(crate) fn last(&self) -> String {
        self.0.lock().unwrap().last().cloned().unwrap_or_default()
    }
}

impl Middleware for RecordedMessage {
    fn reply<'a>(&'a self, work: &'a mut ActiveReply, next: Next<'a>) -> BoxFuture<'a, ReplyOutcome> {
        Box::pin(async move {
            let ending = next.reply(work).await;
            self.0.lock().unwrap().push(work.message().to_json());
            ending
        })
    }
}

/// A tool that requires confirmation, and counts its executions.
pub(crate) fn deploy(runs: &Arc<AtomicUsize>) -> FunctionTool<NoArguments> {
    let runs = Arc::clone(runs);
    FunctionTool::new("deploy", "Deploys.", move |_: NoArguments| {
        runs.fetch_add(1, Ordering::SeqCst);
        async { Ok("deployed") }
    })
}

/// The user's confirmation of a tool call.
pub(crate) fn confirmation(reply: &Msg, call_id: &str) -> AgentEvent {
    let asked = reply.call(call_id).unwrap().clone();
    Event::new(UserConfirmResultEvent::new(reply.id().to_owned(), [ConfirmResult::allow(asked)]))
}

/// Asserts that every call of a message has exactly one result, and that no event was appended twice.
pub(crate) fn assert_calls_answered(reader: &TestReader, reply: &Msg) {
    for (call, result) in reply.tool_pairs() {
        assert!(result.is_some_and(|result| result.finished_at.is_some()), "{} has no result", call.id);
        let results = reply.blocks::<ToolResultBlock>().filter(|result| result.id == call.id).count();
        assert_eq!(results, 1, "{} has {results} results", call.id);
    }
    let mut ids = HashSet::new();
    for event in &reader.events {
        assert!(ids.insert(event.id.to_string()), "duplicate event {}", event.id);
    }
}
