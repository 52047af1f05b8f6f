//! A WebSocket connection.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket, close_code};
use bytes::Bytes;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt as _, StreamExt as _};
use recount_log::{Appended, Error, Events, SessionKey};
use recount_message::{Event, Json};
use tokio::sync::{broadcast, mpsc};
use tokio::task::AbortHandle;

use super::frames::{appended_frame, live_frame, problem_frame};
use super::inbound::{self, ClientMessage};
use super::outbound::{self, Disconnected, Frame, Outbound};
use crate::app::App;
use crate::auth::Caller;
use crate::call::Call;
use crate::fanout::{Delivery, StartPosition, StreamFormat, Subscriber};
use crate::metrics::GaugeGuard;
use crate::problem::Problem;
use crate::session_events::{MISSED_FRAME, SessionEvent};
use crate::tokens::Scope;

/// A request to subscribe to a session.
#[derive(Debug)]
pub(crate) struct SubscribeRequest {
    pub(crate) format: StreamFormat,
    pub(crate) start: StartPosition,
    pub(crate) name: String,
}

/// A WebSocket connection of a client.
pub(crate) struct Socket {
    app: App,
    caller: Caller,
    _gauge: GaugeGuard,
}

/// The maximum number of sessions per connection.
const MAX_SUBSCRIPTIONS: usize = 1_024;
/// The time limit for sending queued frames after the client has closed the connection.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(5);
/// The frame that idle clients receive at each heartbeat.
const HEARTBEAT: &str = "{}";
/// The first frame of a subscription to session events.
const SESSION_EVENTS_LIVE: &[u8] = br#"{"sessions":"live"}"#;

impl Socket {
    pub(crate) fn new(call: &Call) -> Self {
        Self { app: call.app.clone(), caller: call.caller.clone(), _gauge: call.app.metrics().reader("ws") }
    }

    /// Serves a connection until it ends.
    pub(crate) async fn serve(self, stream: WebSocket, request: Option<SubscribeRequest>) {
        let (sink, incoming) = stream.split();
        let (outbound, frames) = outbound::channel();
        let mut writing = tokio::spawn(write(self.app.clone(), self.caller.clone(), sink, frames));
        let mut subscriptions = Subscriptions::default();
        if let Some(request) = request {
            self.subscribe(request, &outbound, &mut subscriptions).await;
        }
        tokio::select! {
            () = self.read(incoming, &outbound, &mut subscriptions) => {
                // Frames that are queued may still be sent.
                subscriptions.end();
                drop(outbound);
                let _ = tokio::time::timeout(FLUSH_TIMEOUT, &mut writing).await;
            }
            _ = &mut writing => {}
        }
        writing.abort();
    }

    async fn read(&self, mut incoming: SplitStream<WebSocket>, outbound: &Outbound, subscriptions: &mut Subscriptions) {
        while let Some(message) = incoming.next().await {
            let message = match message {
                Ok(message) => message,
                // The rest of the stream cannot be decoded. If the connection is broken, sending fails too.
                Err(error) => {
                    let problem = Problem::bad(format!("invalid WebSocket message: {error}"));
                    let _ = outbound.send(problem_frame(None, None, &problem)).await;
                    return;
                }
            };
            match message {
                Message::Text(_) if !self.caller.is_authorized(&self.app) => return,
                Message::Text(text) => {
                    if self.handle(&text, outbound, subscriptions).await.is_err() {
                        return;
                    }
                }
                Message::Binary(_) => {
                    let problem = Problem::bad("expected a text message, found a binary one");
                    if outbound.send(problem_frame(None, None, &problem)).await.is_err() {
                        return;
                    }
                }
                Message::Close(_) => return,
                // The library responds to pings.
                Message::Ping(_) | Message::Pong(_) => {}
            }
        }
    }

    /// Handles a message of the client.
    async fn handle(
        &self,
        text: &str,
        outbound: &Outbound,
        subscriptions: &mut Subscriptions,
    ) -> Result<(), Disconnected> {
        match inbound::parse(text) {
            Ok(ClientMessage::Subscribe(request)) => self.subscribe(request, outbound, subscriptions).await,
            Ok(ClientMessage::SubscribeToSessionEvents) => {
                let events = self.app.session_events().subscribe();
                let task = tokio::spawn(forward_session_events(events, self.caller.tenant.clone(), outbound.clone()));
                if let Some(previous) = subscriptions.session_events.replace(task.abort_handle()) {
                    previous.abort();
                }
            }
            Ok(ClientMessage::Unsubscribe(name)) => subscriptions.remove(&name),
            Ok(ClientMessage::UnsubscribeFromSessionEvents) => {
                if let Some(task) = subscriptions.session_events.take() {
                    task.abort();
                }
            }
            Ok(ClientMessage::Event { reference, session, event }) => {
                let frame = match self.append(&session, &event).await {
                    Ok(appended) => appended_frame(&session, &reference, &appended),
                    Err(problem) => problem_frame(Some(&session), Some(&reference), &problem),
                };
                outbound.send(frame).await?;
            }
            Err(invalid) => {
                let frame = problem_frame(invalid.session.as_deref(), invalid.reference.as_ref(), &invalid.problem);
                outbound.send(frame).await?;
            }
        }
        Ok(())
    }

    /// Appends an event to a session.
    async fn append(&self, name: &str, event: &Json) -> Result<Appended, Problem> {
        if self.caller.scope < Scope::Write {
            return Err(Problem::missing_scope(self.caller.scope, Scope::Write));
        }
        let key = self.key(name)?;
        let limit = self.app.limits().event;
        if event.as_raw().len() > limit {
            return Err(Problem::too_large(format!("the event exceeds {limit} bytes")));
        }
        let event = Event::from_json(event.as_raw())?;
        let outcome = self.app.host().append(&key, None, Events::of([&event])).await;
        let outcome = outcome.map_err(|error| Problem::of_host(&error, &[]));
        self.app.metrics().events_posted(outcome.as_ref());
        outcome
    }

    async fn subscribe(&self, request: SubscribeRequest, outbound: &Outbound, subscriptions: &mut Subscriptions) {
        subscriptions.remove_ended();
        if subscriptions.sessions.len() >= MAX_SUBSCRIPTIONS && !subscriptions.sessions.contains_key(&request.name) {
            let problem = Problem::bad(format!("a connection can subscribe to at most {MAX_SUBSCRIPTIONS} sessions"));
            let _ = outbound.send(problem_frame(Some(&request.name), None, &problem)).await;
            return;
        }
        subscriptions.remove(&request.name);
        let (app, outbound, name) = (self.app.clone(), outbound.clone(), request.name.clone());
        let key = self.key(&request.name);
        let task = tokio::spawn(async move {
            let result = match key {
                Ok(key) => forward_session(&app, key, &request, &outbound).await,
                Err(problem) => Err(problem),
            };
            if let Err(problem) = result {
                // The connection may be closed already.
                let _ = outbound.send(problem_frame(Some(&request.name), None, &problem)).await;
            }
        });
        subscriptions.sessions.insert(name, task.abort_handle());
    }

    fn key(&self, name: &str) -> Result<SessionKey, Problem> {
        SessionKey::of_tenant(&self.caller.tenant, name).map_err(|_| Problem::no_session(name))
    }
}

/// The tasks that forward subscriptions to a connection.
#[derive(Debug, Default)]
struct Subscriptions {
    sessions: HashMap<String, AbortHandle>,
    session_events: Option<AbortHandle>,
}

impl Subscriptions {
    fn remove(&mut self, name: &str) {
        if let Some(task) = self.sessions.remove(name) {
            task.abort();
        }
    }

    fn remove_ended(&mut self) {
        self.sessions.retain(|_, task| !task.is_finished());
    }

    fn end(&mut self) {
        for (_, task) in self.sessions.drain() {
            task.abort();
        }
        if let Some(task) = self.session_events.take() {
            task.abort();
        }
    }
}

impl Drop for Subscriptions {
    fn drop(&mut self) {
        self.end();
    }
}

/// Forwards the frames of a session until it is deleted or the connection is closed.
async fn forward_session(
    app: &App,
    key: SessionKey,
    request: &SubscribeRequest,
    outbound: &Outbound,
) -> Result<(), Problem> {
    let session = app.existing_session(key).await?;
    let mut subscriber = Subscriber::subscribe(app.feeds(), session, request.format.clone(), request.start).await?;
    loop {
        match subscriber.next().await {
            Ok(Delivery::Frames(slice)) => {
                for frame in slice.frames() {
                    if outbound.send(frame).await.is_err() {
                        return Ok(());
                    }
                }
            }
            Ok(Delivery::Live(cursor)) => {
                if outbound.send(live_frame(&request.name, cursor)).await.is_err() {
                    return Ok(());
                }
            }
            // The service is shutting down and closes the connection.
            Err(Error::Closed) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
    }
}

/// Forwards session events until the connection is closed.
async fn forward_session_events(
    mut events: broadcast::Receiver<Arc<SessionEvent>>,
    tenant: String,
    outbound: Outbound,
) {
    // A client that reads the list of sessions after this frame misses no change.
    let mut frame = Bytes::from_static(SESSION_EVENTS_LIVE);
    while outbound.send(frame).await.is_ok() {
        frame = loop {
            match events.recv().await {
                Ok(event) if event.is_for(&tenant) => break Bytes::from(event.json.clone()),
                Ok(_) => {}
                Err(broadcast::error::RecvError::Lagged(_)) => break Bytes::from_static(MISSED_FRAME.as_bytes()),
                Err(broadcast::error::RecvError::Closed) => return,
            }
        };
    }
}

/// Sends queued frames and heartbeats until the connection is closed.
async fn write(app: App, caller: Caller, mut sink: SplitSink<WebSocket, Message>, mut frames: mpsc::Receiver<Frame>) {
    let mut heartbeat = app.heartbeat().subscribe();
    let write_time = app.limits().write_time;
    loop {
        let (message, _permit) = tokio::select! {
            biased;
            () = app.closing().cancelled() => return close(&mut sink, close_code::AWAY, "shutting outbound").await,
            // Before frames, of which there may always be more.
            beat = heartbeat.changed() => match beat {
                Ok(()) if caller.is_authorized(&app) => (Message::Text(Utf8Bytes::from_static(HEARTBEAT)), None),
                Ok(()) => return close(&mut sink, close_code::POLICY, "token revoked").await,
                Err(_) => return,
            },
            frame = frames.recv() => match frame {
                // Frames are JSON and therefore UTF-8.
                Some(Frame { bytes, permit }) => match Utf8Bytes::try_from(bytes) {
                    Ok(text) => (Message::Text(text), Some(permit)),
                    Err(_) => continue,
                },
                // Ignored by a client that has closed the connection. Any other has sent an invalid message.
                None => return close(&mut sink, close_code::POLICY, "unreadable").await,
            },
        };
        let sent = async {
            sink.feed(message).await?;
            if frames.is_empty() { sink.flush().await } else { Ok(()) }
        };
        // A client that reads nothing for this long is disconnected. It may reconnect.
        match tokio::time::timeout(write_time, sent).await {
            Ok(Ok(())) => {}
            _ => return,
        }
    }
}

/// Sends a close frame.
async fn close(sink: &mut SplitSink<WebSocket, Message>, code: u16, reason: &'static str) {
    let close = CloseFrame { code, reason: Utf8Bytes::from_static(reason) };
    let _ = tokio::time::timeout(Duration::from_secs(1), sink.send(Message::Close(Some(close)))).await;
}
