//! The middleware of some scenarios.

use std::sync::atomic::{AtomicBool, Ordering};

use recount_agent::middleware::{Middleware, Next, PermissionCheck};
use recount_agent::permission::Decision;
use recount_agent::scripted::Gate;
use recount_agent::{ActiveReply, BoxFuture, ReplyOutcome};

/// Starts another round when the reply would first end.
#[derive(Default)]
pub(crate) struct SwallowFirstEnd {
    has_swallowed: AtomicBool,
}

impl Middleware for SwallowFirstEnd {
    fn reply<'a>(&'a self, work: &'a mut ActiveReply, next: Next<'a>) -> BoxFuture<'a, ReplyOutcome> {
        Box::pin(async move {
            let ending = next.reply(work).await;
            if self.has_swallowed.swap(true, Ordering::Relaxed) { ending } else { next.reply(work).await }
        })
    }
}

/// Waits at a gate before the permission check of all calls, or only of confirmed ones.
pub(crate) struct GatedPermission {
    pub(crate) gate: Gate,
    pub(crate) only_confirmed: bool,
}

impl Middleware for GatedPermission {
    fn permission<'a>(&'a self, check: PermissionCheck, next: Next<'a>) -> BoxFuture<'a, Decision> {
        Box::pin(async move {
            if check.is_confirmed || !self.only_confirmed {
                self.gate.pass().await;
            }
            next.permission(check).await
        })
    }
}
