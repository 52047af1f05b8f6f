//! Events about sessions as a whole: created, changed, waiting for input, deleted.

use std::sync::Arc;

use recount_log::Activity;
use recount_message::wire::ObjectWriter;
use recount_message::{Event, EventKind};
use tokio::sync::{Notify, broadcast};

use crate::app::App;
use crate::routes::sessions;

/// The number of events buffered for a slow subscriber.
const CAPACITY: usize = 256;

/// The frame for a subscriber that may have missed events. It reads the list of sessions again.
pub(crate) const MISSED_FRAME: &str = r#"{"sessions":"missed"}"#;

/// Broadcasts session events to WebSocket clients.
#[derive(Debug)]
pub(crate) struct SessionEvents {
    sender: broadcast::Sender<Arc<SessionEvent>>,
    subscribed: Notify,
}

/// An event about one session.
#[derive(Debug)]
pub(crate) struct SessionEvent {
    /// The tenant that receives it. `None`: all tenants.
    tenant: Option<String>,
    /// The frame as JSON.
    pub(crate) json: String,
}

impl SessionEvent {
    pub(crate) fn is_for(&self, tenant: &str) -> bool {
        self.tenant.as_deref().is_none_or(|receiver| receiver == tenant)
    }
}

/// The kind of a session event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SessionChange {
    Created,
    Changed,
    Waiting,
    Deleted,
}

impl SessionChange {
    fn as_str(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Changed => "changed",
            Self::Waiting => "waiting",
            Self::Deleted => "deleted",
        }
    }
}

impl Default for SessionEvents {
    fn default() -> Self {
        Self { sender: broadcast::Sender::new(CAPACITY), subscribed: Notify::new() }
    }
}

impl SessionEvents {
    pub(crate) fn subscribe(&self) -> broadcast::Receiver<Arc<SessionEvent>> {
        let receiver = self.sender.subscribe();
        self.subscribed.notify_one();
        receiver
    }

    fn has_subscribers(&self) -> bool {
        self.sender.receiver_count() > 0
    }

    /// Broadcasts a change of a session. `info` is the session as JSON; `None` if it was deleted.
    pub(crate) fn publish(&self, tenant: &str, name: &str, change: SessionChange, info: Option<&str>) {
        let json = ObjectWriter::new()
            .string("session", name)
            .string("change", change.as_str())
            .raw("info", info.unwrap_or("null"))
            .finish();
        self.send(SessionEvent { tenant: Some(tenant.to_owned()), json });
    }

    fn publish_missed(&self) {
        self.send(SessionEvent { tenant: None, json: MISSED_FRAME.to_owned() });
    }

    fn send(&self, event: SessionEvent) {
        // An error means that there are no subscribers.
        let _ = self.sender.send(Arc::new(event));
    }
}

/// Publishes the changes that commits make to sessions. Reads commits only while there are subscribers.
pub(crate) async fn run(app: App) {
    let events = app.session_events();
    loop {
        events.subscribed.notified().await;
        let mut activity = app.log().activity();
        // Commits between the client's subscription and this one are not in `activity`.
        events.publish_missed();
        while events.has_subscribers() {
            match activity.recv().await {
                Ok(activity) => publish_activity(&app, &activity).await,
                Err(broadcast::error::RecvError::Lagged(_)) => events.publish_missed(),
                Err(broadcast::error::RecvError::Closed) => return,
            }
        }
    }
}

async fn publish_activity(app: &App, activity: &Activity) {
    let changes = activity.entries.iter().filter_map(|entry| change_of(&Event::from_slice(entry).ok()?.kind));
    let Some(change) = changes.last() else { return };
    let session = app.log().session(activity.session.clone());
    let Ok(row) = session.info().await else { return };
    let Ok(info) = sessions::describe(app, &row).await else { return };
    let (tenant, name) = (activity.session.tenant(), activity.session.name());
    app.session_events().publish(tenant, name, change, Some(&info.to_json()));
}

/// The change that an event makes to its session, if it is visible in the list of sessions.
fn change_of(kind: &EventKind<'_>) -> Option<SessionChange> {
    match kind {
        EventKind::RequireUserConfirm(_) | EventKind::RequireExternalExecution(_) => Some(SessionChange::Waiting),
        EventKind::ReplyStart(_)
        | EventKind::ReplyEnd(_)
        | EventKind::UserConfirmResult(_)
        | EventKind::ExternalExecutionResult(_) => Some(SessionChange::Changed),
        _ => None,
    }
}
