//! A connection, and what goes over it.

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

/// A session that a client wants to follow.
#[derive(Debug)]
pub(crate) struct SubscribeRequest {
    pub(crate) style: StreamFormat,
    pub(crate) from: StartPosition,
    pub(crate) name: String,
}

/// A connection.
pub(crate) struct Socket {
    app: App,
    caller: Caller,
    _counted: GaugeGuard,
}

/// How many sessions one connection follows at most.
const SUBSCRIPTIONS: usize = 1_024;
/// What a client hears that would hear nothing otherwise.
const HEARTBEAT: &str = "{}";
/// What a client hears as soon as it follows what happens to sessions.
const FOLLOWED: &[u8] = br#"{"sessions":"live"}"#;

impl Socket {
    pub(crate) fn new(call: &Call) -> Self {
        Self { app: call.app.clone(), caller: call.caller.clone(), _counted: call.app.metrics().reader("ws") }
    }

    /// Serves a connection until it ends.
    pub(crate) async fn serve(self, stream: WebSocket, wanted: Option<SubscribeRequest>) {
        let (sink, incoming) = stream.split();
        let (outbound, frames) = outbound::channel();
        let mut writing = tokio::spawn(write(self.app.clone(), self.caller.clone(), sink, frames));
        let mut subscriptions = Subscriptions::default();
        if let Some(wanted) = wanted {
            self.subscribe(wanted, &outbound, &mut subscriptions).await;
        }
        tokio::select! {
            () = self.read(incoming, &outbound, &mut subscriptions) => {
                // What is on its way may still arrive.
                subscriptions.end();
                drop(outbound);
                let _ = tokio::time::timeout(Duration::from_secs(5), &mut writing).await;
            }
            _ = &mut writing => {}
        }
        writing.abort();
    }

    async fn read(&self, mut incoming: SplitStream<WebSocket>, outbound: &Outbound, subscriptions: &mut Subscriptions) {
        while let Some(message) = incoming.next().await {
            let message = match message {
                Ok(message) => message,
                // Nothing that comes after it can be read. Where it is the connection that has broken, nobody hears of it.
                Err(error) => {
                    let problem = Problem::bad(format!("what was sent cannot be read: {error}"));
                    let _ = outbound.send(problem_frame(None, None, &problem)).await;
                    return;
                }
            };
            match message {
                Message::Text(_) if !self.caller.is_authorized(&self.app) => return,
                Message::Text(text) => {
                    if self.hear(&text, outbound, subscriptions).await.is_err() {
                        return;
                    }
                }
                Message::Binary(_) => {
                    let problem = Problem::bad("expected text, found bytes");
                    if outbound.send(problem_frame(None, None, &problem)).await.is_err() {
                        return;
                    }
                }
                Message::Close(_) => return,
                // The library answers to those.
                Message::Ping(_) | Message::Pong(_) => {}
            }
        }
    }

    /// Does what a client says. An error means that nobody listens any more.
    async fn hear(
        &self,
        text: &str,
        outbound: &Outbound,
        subscriptions: &mut Subscriptions,
    ) -> Result<(), Disconnected> {
        match inbound::read(text) {
            Ok(ClientMessage::Subscribe(wanted)) => self.subscribe(wanted, outbound, subscriptions).await,
            Ok(ClientMessage::SubscribeToNews) => {
                let news = self.app.session_events().subscribe();
                let task = tokio::spawn(tell_news(news, self.caller.tenant.clone(), outbound.clone()));
                if let Some(former) = subscriptions.news.replace(task.abort_handle()) {
                    former.abort();
                }
            }
            Ok(ClientMessage::Unsubscribe(name)) => subscriptions.remove(&name),
            Ok(ClientMessage::UnsubscribeFromNews) => {
                if let Some(task) = subscriptions.news.take() {
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
            Err(bad) => {
                let frame = problem_frame(bad.session.as_deref(), bad.reference.as_ref(), &bad.problem);
                outbound.send(frame).await?;
            }
        }
        Ok(())
    }

    /// Appends an event, and says what has become of it.
    async fn append(&self, name: &str, event: &Json) -> Result<Appended, Problem> {
        if self.caller.scope < Scope::Write {
            return Err(Problem::missing_scope(self.caller.scope, Scope::Write));
        }
        let key = self.key(name)?;
        let limit = self.app.limits().event;
        if event.as_raw().len() > limit {
            return Err(Problem::too_large(format!("an event may have {limit} bytes")));
        }
        let event = Event::from_json(event.as_raw())?;
        let outcome = self.app.host().append(&key, None, Events::of([&event])).await;
        let outcome = outcome.map_err(|error| Problem::of_host(&error, &[]));
        self.app.metrics().posted(outcome.as_ref());
        outcome
    }

    async fn subscribe(&self, wanted: SubscribeRequest, outbound: &Outbound, subscriptions: &mut Subscriptions) {
        subscriptions.forget_ended();
        if subscriptions.sessions.len() >= SUBSCRIPTIONS && !subscriptions.sessions.contains_key(&wanted.name) {
            let problem = Problem::bad(format!("one connection follows {SUBSCRIPTIONS} sessions at most"));
            let _ = outbound.send(problem_frame(Some(&wanted.name), None, &problem)).await;
            return;
        }
        subscriptions.remove(&wanted.name);
        let (app, outbound, name) = (self.app.clone(), outbound.clone(), wanted.name.clone());
        let key = self.key(&wanted.name);
        let task = tokio::spawn(async move {
            let told = match key {
                Ok(key) => follow(&app, key, &wanted, &outbound).await,
                Err(problem) => Err(problem),
            };
            if let Err(problem) = told {
                // Nobody listening is no fault.
                let _ = outbound.send(problem_frame(Some(&wanted.name), None, &problem)).await;
            }
        });
        subscriptions.sessions.insert(name, task.abort_handle());
    }

    fn key(&self, name: &str) -> Result<SessionKey, Problem> {
        SessionKey::of_tenant(&self.caller.tenant, name).map_err(|_| Problem::no_session(name))
    }
}

/// What a connection follows.
#[derive(Debug, Default)]
struct Subscriptions {
    sessions: HashMap<String, AbortHandle>,
    news: Option<AbortHandle>,
}

impl Subscriptions {
    fn remove(&mut self, name: &str) {
        if let Some(task) = self.sessions.remove(name) {
            task.abort();
        }
    }

    fn forget_ended(&mut self) {
        self.sessions.retain(|_, task| !task.is_finished());
    }

    fn end(&mut self) {
        for (_, task) in self.sessions.drain() {
            task.abort();
        }
        if let Some(task) = self.news.take() {
            task.abort();
        }
    }
}

impl Drop for Subscriptions {
    fn drop(&mut self) {
        self.end();
    }
}

/// Tells of a session until it is gone.
async fn follow(app: &App, key: SessionKey, wanted: &SubscribeRequest, outbound: &Outbound) -> Result<(), Problem> {
    let session = app.existing_session(key).await?;
    let mut follow = Subscriber::begin(app.feeds(), session, wanted.style.clone(), wanted.from).await?;
    loop {
        match follow.next().await {
            Ok(Delivery::Frames(slice)) => {
                for frame in slice.frames() {
                    if outbound.send(frame).await.is_err() {
                        return Ok(());
                    }
                }
            }
            Ok(Delivery::Live(cursor)) => {
                if outbound.send(live_frame(&wanted.name, cursor)).await.is_err() {
                    return Ok(());
                }
            }
            // The connection is closed with the service, and the client comes back.
            Err(Error::Closed) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
    }
}

async fn tell_news(mut news: broadcast::Receiver<Arc<SessionEvent>>, tenant: String, outbound: Outbound) {
    // Who reads the list of sessions from now on misses nothing that comes after it.
    let mut frame = Bytes::from_static(FOLLOWED);
    while outbound.send(frame).await.is_ok() {
        frame = loop {
            match news.recv().await {
                Ok(item) if item.is_for(&tenant) => break Bytes::from(item.json.clone()),
                Ok(_) => {}
                Err(broadcast::error::RecvError::Lagged(_)) => break Bytes::from_static(MISSED_FRAME.as_bytes()),
                Err(broadcast::error::RecvError::Closed) => return,
            }
        };
    }
}

/// Sends what there is to send.
async fn write(app: App, caller: Caller, mut sink: SplitSink<WebSocket, Message>, mut frames: mpsc::Receiver<Frame>) {
    let mut beat = app.heartbeat().subscribe();
    let longest = app.limits().write_time;
    loop {
        let (message, _room) = tokio::select! {
            biased;
            () = app.closing().cancelled() => return close(&mut sink, close_code::AWAY, "shutting outbound").await,
            // EncoderState what there is to tell, of which there may always be more.
            beat = beat.changed() => match beat {
                Ok(()) if caller.is_authorized(&app) => (Message::Text(Utf8Bytes::from_static(HEARTBEAT)), None),
                Ok(()) => return close(&mut sink, close_code::POLICY, "token revoked").await,
                Err(_) => return,
            },
            frame = frames.recv() => match frame {
                // All frames are JSON, which is UTF-8.
                Some(Frame { bytes, room }) => match Utf8Bytes::try_from(bytes) {
                    Ok(text) => (Message::Text(text), Some(room)),
                    Err(_) => continue,
                },
                // Who has said goodbye knows; anybody else has said something that cannot be read.
                None => return close(&mut sink, close_code::POLICY, "unreadable").await,
            },
        };
        let sent = async {
            sink.feed(message).await?;
            if frames.is_empty() { sink.flush().await } else { Ok(()) }
        };
        // Who takes nothing for so long is gone, or comes back.
        match tokio::time::timeout(longest, sent).await {
            Ok(Ok(())) => {}
            _ => return,
        }
    }
}

/// Says goodbye, to who listens.
async fn close(sink: &mut SplitSink<WebSocket, Message>, code: u16, reason: &'static str) {
    let close = CloseFrame { code, reason: Utf8Bytes::from_static(reason) };
    let _ = tokio::time::timeout(Duration::from_secs(1), sink.send(Message::Close(Some(close)))).await;
}
