//! What is done now and then.

use std::time::{Duration, Instant};

use recount_log::storage::{Limit, SessionRow, View};
use recount_log::{Error, Maintenance};
use recount_message::jiff::{SignedDuration, Timestamp};
use recount_message::{Event, Json, Object, parse_time};

use crate::app::App;
use crate::duration::parse_duration;
use crate::news::Change;

/// How long it is quiet between two rounds of joining.
const PAUSE: Duration = Duration::from_secs(3_600);
/// How soon it is looked again for sessions whose time is over, at least and at most. In between it takes a hundredth of
/// the time, so that many sessions are looked at less often.
const SOON: Duration = Duration::from_secs(30);
const SHARE: u32 = 100;
const PAGE: usize = 256;

/// Joins what is old, and removes sessions whose time is over.
pub(crate) async fn keep_house(app: App, compact_after: Option<Duration>) {
    let housekeeping = compact_after.map(|age| Maintenance::new(app.log().clone(), age));
    tokio::join!(remove_old(&app), join_old(housekeeping));
}

async fn remove_old(app: &App) {
    let mut pause = SOON;
    loop {
        tokio::time::sleep(pause).await;
        let begun = Instant::now();
        if let Err(error) = expire(app, Timestamp::now()).await {
            tracing::warn!(%error, "old sessions could not be removed");
        }
        pause = (begun.elapsed() * SHARE).clamp(SOON, PAUSE);
    }
}

async fn join_old(housekeeping: Option<Maintenance>) {
    let Some(mut housekeeping) = housekeeping else { return };
    loop {
        tokio::time::sleep(PAUSE).await;
        if let Err(error) = housekeeping.round().await {
            tracing::warn!(%error, "what is old could not be joined");
        }
    }
}

/// Removes the sessions in which nothing was said for as long as they are kept.
pub(crate) async fn expire(app: &App, now: Timestamp) -> Result<usize, Error> {
    let (mut removed, mut after) = (0, None);
    loop {
        let page = app.log().sessions(None, after.take(), PAGE).await?;
        let Some(last) = page.last() else { return Ok(removed) };
        after = Some(last.key.clone());
        for row in page {
            let key = row.key.clone();
            if !app.log().read(move |view| is_over(view, &row, now)).await? {
                continue;
            }
            match app.log().session(key.clone()).delete().await {
                Ok(()) => removed += 1,
                // Somebody was first.
                Err(Error::UnknownSession(_)) => continue,
                Err(error) => return Err(error),
            }
            app.forget(&key);
            app.news().tell(key.tenant(), key.name(), Change::Deleted, None);
        }
    }
}

/// Whether a session has been quiet for as long as it is kept.
fn is_over(view: &dyn View, row: &SessionRow, now: Timestamp) -> Result<bool, Error> {
    let about = Object::parse(&row.properties).unwrap_or_default();
    let kept = about.get("retention").and_then(Json::to_text).and_then(|text| parse_duration(&text).ok());
    let Some(kept) = kept.and_then(|kept| SignedDuration::try_from(kept).ok()) else { return Ok(false) };
    if !view.open_reply_infos(&row.key)?.is_empty() {
        return Ok(false);
    }
    // Times in events are those of whoever made them, perhaps long before they came here.
    let began = now.checked_sub(kept).map_or(i64::MIN, Timestamp::as_millisecond);
    if view.last_settled(&row.key, i64::MAX)? > view.last_settled(&row.key, began)? {
        return Ok(false);
    }
    let last = view.entries(&row.key, row.head.saturating_sub(1), Limit { count: 1, bytes: 0 })?;
    let said = last.first().and_then(|entry| Event::from_slice(&entry.body).ok()?.created());
    let Some(quiet_since) = said.max(parse_time(&row.created_at)) else { return Ok(false) };
    Ok(now.duration_since(quiet_since) > kept)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use recount_log::Log;
    use recount_message::{CustomEvent, Msg};

    use super::*;

    #[tokio::test]
    async fn a_session_is_over_when_it_was_quiet_for_long() {
        let log = Log::in_memory();
        let about = Object::from([("retention", "1d")]);
        let session = log.create_with("s".parse().unwrap(), &about).await.unwrap();
        let row = session.info().await.unwrap();
        for (hours, expected) in [(1, false), (25, true)] {
            let (row, now) = (row.clone(), Timestamp::now() + SignedDuration::from_hours(hours));
            assert_eq!(log.read(move |view| is_over(view, &row, now)).await.unwrap(), expected);
        }
    }

    #[tokio::test]
    async fn what_was_said_long_ago_counts_from_when_it_came() {
        let log = Log::in_memory();
        let about = Object::from([("retention", "1d")]);
        let session = log.create_with("s".parse().unwrap(), &about).await.unwrap();
        let is_over_in = async |hours: i64| {
            let row = session.info().await.unwrap();
            let now = Timestamp::now() + SignedDuration::from_hours(hours);
            log.read(move |view| is_over(view, &row, now)).await.unwrap()
        };
        let old = Msg::user("Alice", "Hello").with_created_at("2020-01-01T00:00:00.000000+00:00".to_owned());
        let event =
            Event::stamped("e1".to_owned(), "2020-01-01T00:00:00.000000+00:00".to_owned(), CustomEvent::message(&old));
        session.append([&event]).await.unwrap();
        assert_eq!((is_over_in(23).await, is_over_in(25).await), (false, true));
    }
}
