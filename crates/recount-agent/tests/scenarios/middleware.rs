//! What stands around the agent in some scenarios.

use std::sync::atomic::{AtomicBool, Ordering};

use recount_agent::middleware::{Middleware, Next, PermissionCheck};
use recount_agent::permission::Decision;
use recount_agent::scripted::Gate;
use recount_agent::{ActiveReply, BoxFuture, ReplyOutcome};

/// Does not let the first reply end where it would.
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

/// Stands at a gate before a permission is checked: of every call, or of those that the user has agreed to.
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
