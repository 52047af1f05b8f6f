//! Round after round, until the reply ends or has to wait.

use std::sync::Arc;

use recount_message::jiff::SignedDuration;
use recount_message::{CustomName, FinishedReason, GenerateReason, Json, Msg, Object, ReplyEnd, format_time};

use super::active_reply::{ActiveReply, Failure, ReplyOutcome, Stage};
use super::closing::Why;
use crate::agent::OpenReply;
use crate::error::Error;
use crate::machine::{EndReason, PendingCalls, Step};
use crate::middleware::Next;
use crate::state::Phase;

impl ActiveReply {
    /// Goes on until the reply ends or has to wait, and writes how it did.
    pub(super) async fn run(mut self) -> Result<Msg, Error> {
        let layers = Arc::clone(&self.shared.config.middleware);
        loop {
            let ending = Next::of(&layers).reply(&mut self).await;
            let ReplyOutcome::Waiting(waiting) = ending else { return self.conclude(ending).await };
            if let Some(outcome) = self.wait(&waiting).await {
                return outcome;
            }
        }
    }

    /// Ends the reply, since it cannot go on.
    pub(super) async fn run_into(mut self, failure: Failure) -> Result<Msg, Error> {
        self.conclude(ReplyOutcome::Failed(failure)).await
    }

    /// The rounds themselves. Once they have come to an end, going on means that another answer is wanted.
    pub(crate) async fn rounds(&mut self) -> ReplyOutcome {
        if self.endings > 0 {
            if !self.has_worked {
                let message = "a middleware wants another round, and there is nothing left to do in one";
                return ReplyOutcome::Failed(Failure::internal(message));
            }
            self.change(|reply| reply.phase = Phase::Idle);
        }
        self.has_worked = false;
        let ending = self.until_end().await;
        self.endings += 1;
        self.stage = Stage::Between;
        ending
    }

    async fn until_end(&mut self) -> ReplyOutcome {
        let layers = Arc::clone(&self.shared.config.middleware);
        loop {
            self.take_deliveries();
            if let Err(failure) = self.run_again().await {
                return ReplyOutcome::Failed(failure);
            }
            if self.cancel.is_cancelled() {
                return self.cancelled_by();
            }
            let done = match self.step() {
                Step::CallModel(plan) => {
                    self.stage = Stage::Reasoning;
                    Next::of(&layers).reasoning(self, plan).await
                }
                Step::RunTools(calls) => {
                    self.stage = Stage::Acting;
                    self.act(calls).await
                }
                Step::Wait(waiting) => return ReplyOutcome::Waiting(waiting),
                Step::End(end) => return ReplyOutcome::Ended(end),
            };
            self.has_worked = true;
            if let Err(failure) = done {
                return ReplyOutcome::Failed(failure);
            }
        }
    }

    /// A run is cancelled by somebody, or because nothing that it says is kept any more.
    fn cancelled_by(&self) -> ReplyOutcome {
        match self.shared.take_failure() {
            Some(error) => ReplyOutcome::Failed(Failure::internal(format!("the events cannot be kept: {error}"))),
            None => ReplyOutcome::Interrupted,
        }
    }

    async fn conclude(&mut self, ending: ReplyOutcome) -> Result<Msg, Error> {
        match ending {
            ReplyOutcome::Ended(end) => {
                let message = self.end(end);
                self.kept(message).await
            }
            // A reply that waits is left open before it comes to this.
            ReplyOutcome::Interrupted | ReplyOutcome::Waiting(_) => {
                let message = self.close(Why::Interrupted, ReplyEnd::new(FinishedReason::Interrupted));
                let message = self.kept(message).await?;
                if self.shared.config.raise_on_interrupt {
                    return Err(Error::Interrupted { message: Box::new(message) });
                }
                Ok(message)
            }
            ReplyOutcome::Failed(failure) => self.fail(failure).await,
        }
    }

    async fn fail(&mut self, Failure { error }: Failure) -> Result<Msg, Error> {
        let message = self.close(Why::Failed, ReplyEnd::failed(error.clone()));
        let message = Box::new(self.kept(message).await?);
        Err(Error::Failed { error, message })
    }

    /// A reply has ended when its end is kept.
    async fn kept(&mut self, message: Msg) -> Result<Msg, Error> {
        match self.shared.commit().await {
            Ok(()) => Ok(message),
            Err(error) => {
                self.shared.take_failure();
                let Failure { error } = Failure::internal(format!("the end of the reply cannot be kept: {error}"));
                Err(Error::Failed { error, message: Box::new(message) })
            }
        }
    }

    fn end(&mut self, end: EndReason) -> Msg {
        match end {
            EndReason::Completed => self.close(Why::Ended, ReplyEnd::completed()),
            EndReason::Structured => {
                let output = self.state().structured_output.unwrap_or_default();
                let reason = because(GenerateReason::StructuredOutput);
                self.close(Why::Ended, ReplyEnd::completed().with_structured_output(output).with_metadata(reason))
            }
            EndReason::Exceeded => {
                self.reply.exceed_max_iters();
                self.close(Why::Ended, ReplyEnd::new(FinishedReason::ExceedMaxIters))
            }
            EndReason::Stopped(stop) => {
                let reason = because(stop.after.generate_reason());
                self.close(Why::Stopped, ReplyEnd::completed().with_metadata(reason))
            }
        }
    }

    /// Notes until when calls can be confirmed, if that is limited. The first time comes back.
    fn expire_later(&self, confirmations: &[String]) -> Option<String> {
        let within = SignedDuration::try_from(self.shared.config.confirm_within?).ok()?;
        let time = format_time(self.shared.stamps.time().checked_add(within).ok()?);
        let mut first = None;
        self.change(|reply| {
            reply.expiries.retain(|call, _| confirmations.contains(call));
            for call in confirmations {
                reply.expiries.entry(call.clone()).or_insert_with(|| time.clone());
            }
            first = reply.expiries.values().min().cloned();
        });
        first
    }

    /// The reply waits: nothing is written any more until somebody answers. Nothing comes back when somebody has meanwhile.
    async fn wait(&mut self, waiting: &PendingCalls) -> Option<Result<Msg, Error>> {
        let expires_at = self.expire_later(&waiting.confirmations);
        let mut told = Object::from([("reply_id", self.message().id())]);
        let calls: Vec<Json> = {
            // What an agent waits for that works for this one, it has told itself.
            let inner = self.shared.lock();
            let own = |call: &&String| !inner.state.sub_agents.contains_key(*call);
            let calls = waiting.confirmations.iter().chain(waiting.results.iter().filter(own));
            calls.map(|call| Json::from(call.as_str())).collect()
        };
        told.insert("calls", calls);
        told.insert("expires_at", expires_at.map_or_else(Json::null, Json::from));
        self.reply.signal(CustomName::Waiting.as_str(), told);
        if let Err(error) = self.shared.commit().await {
            self.shared.take_failure();
            return Some(self.fail(Failure::internal(format!("the events cannot be kept: {error}"))).await);
        }
        let mut inner = self.shared.lock();
        // Answers are sent under the same lock, so none can come in between and be lost.
        let delivery = self.inbox.try_recv().ok();
        if delivery.is_some() || self.cancel.is_cancelled() {
            drop(inner);
            delivery.into_iter().for_each(|delivery| self.deliver(delivery));
            self.has_worked = true;
            return None;
        }
        let message = self.reply.message().clone();
        inner.open = Some(OpenReply { fold: self.reply.pause(), place: self.place });
        inner.running = None;
        drop(inner);
        self.is_done = true;
        Some(Ok(message))
    }
}

/// The reason, where it is kept.
fn because(reason: GenerateReason) -> Object {
    Object::from([("agentscope_generate_reason", reason.as_str())])
}
