//! Periodic maintenance: expiry of sessions and compaction of deltas.

use std::time::{Duration, Instant};

use recount_log::storage::{PageLimit, SessionRow, View};
use recount_log::{Error, Maintenance};
use recount_message::jiff::{SignedDuration, Timestamp};
use recount_message::{Event, Json, Object, parse_time};

use crate::app::App;
use crate::duration::parse_duration;
use crate::session_events::SessionChange;

/// The pause between two rounds of compaction, and the maximum pause between two rounds of expiry.
const MAX_PAUSE: Duration = Duration::from_secs(3_600);
/// The minimum pause between two rounds of expiry.
const MIN_PAUSE: Duration = Duration::from_secs(30);
/// The pause after a round of expiry is this multiple of the round's duration, so that expiry takes at most 1 % of the time.
const PAUSE_FACTOR: u32 = 100;
const PAGE: usize = 256;

/// Expires sessions and compacts deltas, forever.
pub(crate) async fn run(app: App) {
    tokio::join!(expire_sessions(&app), compact(&app));
}

async fn expire_sessions(app: &App) {
    let mut pause = MIN_PAUSE;
    loop {
        tokio::time::sleep(pause).await;
        let started = Instant::now();
        if let Err(error) = delete_expired(app, Timestamp::now()).await {
            tracing::warn!(%error, "deleting expired sessions failed");
        }
        pause = (started.elapsed() * PAUSE_FACTOR).clamp(MIN_PAUSE, MAX_PAUSE);
    }
}

async fn compact(app: &App) {
    let Some(age) = app.compact_after() else { return };
    let mut housekeeping = Maintenance::new(app.log().clone(), age);
    loop {
        tokio::time::sleep(MAX_PAUSE).await;
        if let Err(error) = housekeeping.round().await {
            tracing::warn!(%error, "compaction failed");
        }
    }
}

/// Deletes the sessions whose retention time has passed.
async fn delete_expired(app: &App, now: Timestamp) -> Result<(), Error> {
    let mut after = None;
    loop {
        let page = app.log().sessions(None, after.take(), PAGE).await?;
        let Some(last) = page.last() else { return Ok(()) };
        after = Some(last.key.clone());
        for row in page {
            let key = row.key.clone();
            if !app.log().read(move |view| is_expired(view, &row, now)).await? {
                continue;
            }
            match app.log().session(key.clone()).delete().await {
                Ok(()) => {}
                // A client has deleted it in the meantime.
                Err(Error::UnknownSession(_)) => continue,
                Err(error) => return Err(error),
            }
            app.session_deleted(&key);
            app.session_events().publish(key.tenant(), key.name(), SessionChange::Deleted, None);
        }
    }
}

/// Whether a session has no open reply and has been idle for longer than its retention time.
fn is_expired(view: &dyn View, row: &SessionRow, now: Timestamp) -> Result<bool, Error> {
    let properties = Object::parse(&row.properties).unwrap_or_default();
    let retention = properties.get("retention").and_then(Json::as_str).and_then(|text| parse_duration(text).ok());
    let Some(retention) = retention.and_then(|retention| SignedDuration::try_from(retention).ok()) else {
        return Ok(false);
    };
    if !view.open_reply_infos(&row.key)?.is_empty() {
        return Ok(false);
    }
    // The times in events are those of their authors, which may be long before the events arrived here.
    let window_start = now.checked_sub(retention).map_or(i64::MIN, Timestamp::as_millisecond);
    if view.last_settled(&row.key, i64::MAX)? > view.last_settled(&row.key, window_start)? {
        return Ok(false);
    }
    let last = view.entries(&row.key, row.head.saturating_sub(1), PageLimit { count: 1, bytes: 0 })?;
    let last_event = last.first().and_then(|entry| Event::from_slice(&entry.body).ok()?.created());
    let Some(idle_since) = last_event.max(parse_time(&row.created_at)) else { return Ok(false) };
    Ok(now.duration_since(idle_since) > retention)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use recount_log::Log;
    use recount_message::{CustomEvent, Msg};

    use super::*;

    #[tokio::test]
    async fn session_expires_when_idle_longer_than_retention() {
        let log = Log::in_memory();
        let properties = Object::from([("retention", "1d")]);
        let session = log.create_with("s".parse().unwrap(), &properties).await.unwrap();
        let row = session.info().await.unwrap();
        for (hours, expected) in [(1, false), (25, true)] {
            let (row, now) = (row.clone(), Timestamp::now() + SignedDuration::from_hours(hours));
            assert_eq!(log.read(move |view| is_expired(view, &row, now)).await.unwrap(), expected);
        }
    }

    #[tokio::test]
    async fn retention_of_old_events_counts_from_their_arrival() {
        let log = Log::in_memory();
        let properties = Object::from([("retention", "1d")]);
        let session = log.create_with("s".parse().unwrap(), &properties).await.unwrap();
        let is_expired_after = async |hours: i64| {
            let row = session.info().await.unwrap();
            let now = Timestamp::now() + SignedDuration::from_hours(hours);
            log.read(move |view| is_expired(view, &row, now)).await.unwrap()
        };
        let old = Msg::user("Alice", "Hello").with_created_at("2020-01-01T00:00:00.000000+00:00".to_owned());
        let event =
            Event::stamped("e1".to_owned(), "2020-01-01T00:00:00.000000+00:00".to_owned(), CustomEvent::message(&old));
        session.append([&event]).await.unwrap();
        assert_eq!((is_expired_after(23).await, is_expired_after(25).await), (false, true));
    }
}
