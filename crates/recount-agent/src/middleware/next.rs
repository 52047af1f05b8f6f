//! The remaining layers of middleware.

use std::sync::Arc;

use recount_model::client::CallOutcome;

use super::{Middleware, ModelRequest, PermissionCheck, SummaryRequest, ToolRun};
use crate::BoxFuture;
use crate::compress::Summary;
use crate::driver::{ActiveReply, Failure, ReplyOutcome, summarise_with_retry};
use crate::machine::CallPlan;
use crate::permission::Decision;
use crate::tool::{ToolError, ToolOutput};

/// The remaining layers of middleware, ending with the step itself.
#[derive(Clone, Copy)]
pub struct Next<'a> {
    rest: &'a [Arc<dyn Middleware>],
}

impl<'a> Next<'a> {
    pub(crate) fn of(rest: &'a [Arc<dyn Middleware>]) -> Self {
        Self { rest }
    }

    fn split(self) -> Option<(&'a dyn Middleware, Self)> {
        let (first, rest) = self.rest.split_first()?;
        Some((first.as_ref(), Self { rest }))
    }

    /// Runs the reply until it can end or waits.
    pub fn reply<'w>(self, work: &'w mut ActiveReply) -> BoxFuture<'w, ReplyOutcome>
    where
        'a: 'w,
    {
        match self.split() {
            Some((layer, rest)) => layer.reply(work, rest),
            None => Box::pin(work.run_rounds()),
        }
    }

    /// Runs a reasoning round, including retries and fallbacks.
    pub fn reasoning<'w>(self, work: &'w mut ActiveReply, plan: CallPlan) -> BoxFuture<'w, Result<(), Failure>>
    where
        'a: 'w,
    {
        match self.split() {
            Some((layer, rest)) => layer.reasoning(work, plan, rest),
            None => Box::pin(work.reason(plan)),
        }
    }

    /// Calls the model.
    pub fn model_call<'w>(self, work: &'w mut ActiveReply, request: ModelRequest) -> BoxFuture<'w, CallOutcome>
    where
        'a: 'w,
    {
        match self.split() {
            Some((layer, rest)) => layer.model_call(work, request, rest),
            None => Box::pin(work.call_model(request)),
        }
    }

    /// Requests the summary from a model.
    pub fn compress(self, compress: SummaryRequest) -> BoxFuture<'a, Result<Summary, Failure>> {
        match self.split() {
            Some((layer, rest)) => layer.compress(compress, rest),
            None => Box::pin(summarise_with_retry(compress)),
        }
    }

    /// Decides whether the call may run.
    pub fn permission(self, check: PermissionCheck) -> BoxFuture<'a, Decision> {
        match self.split() {
            Some((layer, rest)) => layer.permission(check, rest),
            None => Box::pin(async move {
                let PermissionCheck { tool, arguments, permissions, is_confirmed, .. } = check;
                if is_confirmed {
                    permissions.decide_confirmed(&*tool, &arguments).await
                } else {
                    permissions.decide(&*tool, &arguments).await
                }
            }),
        }
    }

    /// Runs the tool.
    pub fn acting(self, act: ToolRun) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        match self.split() {
            Some((layer, rest)) => layer.acting(act, rest),
            None => Box::pin(async move { act.tool.run(act.arguments, &act.context).await }),
        }
    }
}

impl std::fmt::Debug for Next<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Next").field("layers", &self.rest.len()).finish()
    }
}
