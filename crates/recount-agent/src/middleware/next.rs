//! The rest of the layers.

use std::sync::Arc;

use recount_model::client::CallOutcome;

use super::{Middleware, ModelRequest, PermissionCheck, SummaryRequest, ToolRun};
use crate::BoxFuture;
use crate::compress::Summary;
use crate::driver::{ActiveReply, Failure, ReplyOutcome, summarised};
use crate::machine::CallPlan;
use crate::permission::Decision;
use crate::tool::{ToolError, ToolOutput};

/// The rest of the layers around something, with the thing itself at the end.
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

    /// Goes on with the reply until it would end or has to wait.
    pub fn reply<'w>(self, work: &'w mut ActiveReply) -> BoxFuture<'w, ReplyOutcome>
    where
        'a: 'w,
    {
        match self.split() {
            Some((layer, rest)) => layer.reply(work, rest),
            None => Box::pin(work.rounds()),
        }
    }

    /// Asks the model, as often as it takes.
    pub fn reasoning<'w>(self, work: &'w mut ActiveReply, plan: CallPlan) -> BoxFuture<'w, Result<(), Failure>>
    where
        'a: 'w,
    {
        match self.split() {
            Some((layer, rest)) => layer.reasoning(work, plan, rest),
            None => Box::pin(work.reason(plan)),
        }
    }

    /// Makes the model call.
    pub fn model_call<'w>(self, work: &'w mut ActiveReply, request: ModelRequest) -> BoxFuture<'w, CallOutcome>
    where
        'a: 'w,
    {
        match self.split() {
            Some((layer, rest)) => layer.model_call(work, request, rest),
            None => Box::pin(work.ask(request)),
        }
    }

    /// Has a model summarise what is too long.
    pub fn compress(self, compress: SummaryRequest) -> BoxFuture<'a, Result<Summary, Failure>> {
        match self.split() {
            Some((layer, rest)) => layer.compress(compress, rest),
            None => Box::pin(summarised(compress)),
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
