//! What happens to sessions: that they are made, change, or wait for somebody.

use std::sync::Arc;

use recount_log::Activity;
use recount_message::wire::ObjectWriter;
use recount_message::{Event, EventKind};
use tokio::sync::{Notify, broadcast};

use crate::app::App;
use crate::routes::sessions;

/// How much news is kept for somebody who is slow to read it.
const KEPT: usize = 256;

/// Tells those who want to know what happens to sessions.
#[derive(Debug)]
pub(crate) struct News {
    sender: broadcast::Sender<Arc<Item>>,
    wanted: Notify,
}

/// Something that has happened to a session.
#[derive(Debug)]
pub(crate) struct Item {
    /// Who is told; everybody, where it is nobody's.
    tenant: Option<String>,
    /// The frame.
    pub(crate) json: String,
}

impl Item {
    pub(crate) fn is_for(&self, tenant: &str) -> bool {
        self.tenant.as_deref().is_none_or(|owner| owner == tenant)
    }
}

/// What those are told who may have missed something: it is in the list of sessions.
pub(crate) const MISSED: &str = r#"{"sessions":"missed"}"#;

/// What has happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    Created,
    Changed,
    Waiting,
    Deleted,
}

impl Change {
    fn as_str(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Changed => "changed",
            Self::Waiting => "waiting",
            Self::Deleted => "deleted",
        }
    }
}

impl Default for News {
    fn default() -> Self {
        Self { sender: broadcast::Sender::new(KEPT), wanted: Notify::new() }
    }
}

impl News {
    pub(crate) fn subscribe(&self) -> broadcast::Receiver<Arc<Item>> {
        let receiver = self.sender.subscribe();
        self.wanted.notify_one();
        receiver
    }

    pub(crate) fn is_wanted(&self) -> bool {
        self.sender.receiver_count() > 0
    }

    /// Tells of a session. `info` is the session as JSON; one that is gone has none.
    pub(crate) fn tell(&self, tenant: &str, name: &str, change: Change, info: Option<&str>) {
        let (what, info) = (change.as_str(), info.unwrap_or("null"));
        let json = ObjectWriter::new().string("session", name).string("change", what).raw("info", info).finish();
        self.send(Item { tenant: Some(tenant.to_owned()), json });
    }

    fn send(&self, item: Item) {
        // Nobody listening is no fault.
        let _ = self.sender.send(Arc::new(item));
    }
}

/// Looks at what is written to any session, as long as somebody wants to know.
pub(crate) async fn watch(app: App) {
    loop {
        app.news().wanted.notified().await;
        let mut activity = app.log().activity();
        let missed = || app.news().send(Item { tenant: None, json: MISSED.to_owned() });
        // Something may have been written between the wish to know and this.
        missed();
        while app.news().is_wanted() {
            match activity.recv().await {
                Ok(activity) => report(&app, &activity).await,
                Err(broadcast::error::RecvError::Lagged(_)) => missed(),
                Err(broadcast::error::RecvError::Closed) => return,
            }
        }
    }
}

async fn report(app: &App, activity: &Activity) {
    let changes = activity.entries.iter().filter_map(|entry| change(&Event::from_slice(entry).ok()?.kind));
    let Some(change) = changes.last() else { return };
    let session = app.log().session(activity.session.clone());
    let Ok(row) = session.info().await else { return };
    let Ok(info) = sessions::describe(app, &row).await else { return };
    app.news().tell(activity.session.tenant(), activity.session.name(), change, Some(&info.to_json()));
}

/// What an event changes about its session.
fn change(kind: &EventKind<'_>) -> Option<Change> {
    match kind {
        EventKind::RequireUserConfirm(_) | EventKind::RequireExternalExecution(_) => Some(Change::Waiting),
        EventKind::ReplyStart(_)
        | EventKind::ReplyEnd(_)
        | EventKind::UserConfirmResult(_)
        | EventKind::ExternalExecutionResult(_) => Some(Change::Changed),
        _ => None,
    }
}
