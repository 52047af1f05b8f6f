//! How many tokens a session has taken.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use recount_log::storage::{Show, View};
use recount_log::{Cursor, Error, Session, SessionKey};
use recount_message::{Msg, Usage};

/// Totals of sessions, as they were last counted.
#[derive(Debug, Default)]
pub(crate) struct Usages {
    counted: Mutex<HashMap<SessionKey, (Cursor, Usage)>>,
}

/// How many totals are remembered.
const KEPT: usize = 4_096;
/// How many messages are read at once.
const PAGE: usize = 256;

impl Usages {
    /// The tokens of all complete messages of a session at its head.
    pub(crate) async fn of(&self, session: &Session, head: Cursor) -> Result<Usage, Error> {
        if let Some((at, usage)) = self.counted().get(session.key())
            && *at == head
        {
            return Ok(usage.clone());
        }
        let key = session.key().clone();
        let usage = session.log().look(move |view| count(view, &key)).await?;
        let mut counted = self.counted();
        if counted.len() >= KEPT {
            counted.clear();
        }
        counted.insert(session.key().clone(), (head, usage.clone()));
        Ok(usage)
    }

    fn counted(&self) -> std::sync::MutexGuard<'_, HashMap<SessionKey, (Cursor, Usage)>> {
        self.counted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn count(view: &dyn View, key: &SessionKey) -> Result<Usage, Error> {
    let mut total = Usage::new(0, 0);
    let mut before = u64::MAX;
    loop {
        let page = view.finished(key, before, Show::All, PAGE)?;
        let Some(oldest) = page.first() else { return Ok(total) };
        before = oldest.place;
        let of_page = page.iter().filter_map(|message| Msg::from_json(&message.body).ok()?.usage().cloned());
        total = of_page.chain([total]).sum();
    }
}
