//! Running rounds until the reply ends or waits.

use std::sync::Arc;

use recount_message::jiff::SignedDuration;
use recount_message::{CustomName, FinishedReason, GenerateReason, Json, Msg, Object, ReplyEnd, format_time};

use super::active_reply::{ActiveReply, Failure, ReplyOutcome, Stage};
use super::closing::CloseReason;
use crate::agent::OpenReply;
use crate::error::Error;
use crate::machine::{EndReason, PendingCalls, Step};
use crate::middleware::Next;
use crate::state::Phase;

impl ActiveReply {
    /// Runs the reply until it has ended or waits.
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

    /// Ends the reply with an error.
    pub(super) async fn run_into(mut self, failure: Failure) -> Result<Msg, Error> {
        self.conclude(ReplyOutcome::Failed(failure)).await
    }

    /// Runs rounds until the reply can end. If a middleware calls this again, the model is called for another answer.
    pub(crate) async fn run_rounds(&mut self) -> ReplyOutcome {
        if self.ended_rounds > 0 {
            if !self.has_worked {
                let message = "a middleware requested another round, but the last one did nothing";
                return ReplyOutcome::Failed(Failure::internal(message));
            }
            self.change(|reply| reply.phase = Phase::Idle);
        }
        self.has_worked = false;
        let ending = self.run_until_outcome().await;
        self.ended_rounds += 1;
        self.stage = Stage::Between;
        ending
    }

    async fn run_until_outcome(&mut self) -> ReplyOutcome {
        let layers = Arc::clone(&self.shared.config.middleware);
        loop {
            self.process_queued_answers();
            if let Err(failure) = self.rerun_calls().await {
                return ReplyOutcome::Failed(failure);
            }
            if self.cancel.is_cancelled() {
                return self.cancellation_outcome();
            }
            let done = match self.step() {
                Step::CallModel(plan) => {
                    self.stage = Stage::Reasoning;
                    Next::of(&layers).reasoning(self, plan).await
                }
                Step::RunTools(calls) => {
                    self.stage = Stage::Acting;
                    self.run_calls(calls).await
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

    /// Returns the reason for the cancellation: an error of the sink, or an interrupt.
    fn cancellation_outcome(&self) -> ReplyOutcome {
        match self.shared.take_sink_error() {
            Some(error) => ReplyOutcome::Failed(Failure::internal(format!("cannot persist the events: {error}"))),
            None => ReplyOutcome::Interrupted,
        }
    }

    async fn conclude(&mut self, ending: ReplyOutcome) -> Result<Msg, Error> {
        match ending {
            ReplyOutcome::Ended(end) => {
                let message = self.end(end);
                self.commit_end(message).await
            }
            // A waiting reply does not reach this function, because it is left open.
            ReplyOutcome::Interrupted | ReplyOutcome::Waiting(_) => {
                let message = self.close(CloseReason::Interrupted, ReplyEnd::new(FinishedReason::Interrupted));
                let message = self.commit_end(message).await?;
                if self.shared.config.raise_on_interrupt {
                    return Err(Error::Interrupted { message: Box::new(message) });
                }
                Ok(message)
            }
            ReplyOutcome::Failed(failure) => self.fail(failure).await,
        }
    }

    async fn fail(&mut self, Failure { error }: Failure) -> Result<Msg, Error> {
        let message = self.close(CloseReason::Failed, ReplyEnd::failed(error.clone()));
        let message = Box::new(self.commit_end(message).await?);
        Err(Error::Failed { error, message })
    }

    /// Waits until the end of the reply is persisted.
    async fn commit_end(&mut self, message: Msg) -> Result<Msg, Error> {
        match self.shared.commit().await {
            Ok(()) => Ok(message),
            Err(error) => {
                self.shared.take_sink_error();
                let Failure { error } = Failure::internal(format!("cannot persist the end of the reply: {error}"));
                Err(Error::Failed { error, message: Box::new(message) })
            }
        }
    }

    fn end(&mut self, end: EndReason) -> Msg {
        match end {
            EndReason::Completed => self.close(CloseReason::Ended, ReplyEnd::completed()),
            EndReason::Structured => {
                let output = self.state().structured_output.unwrap_or_default();
                let reason = generate_reason_metadata(GenerateReason::StructuredOutput);
                self.close(
                    CloseReason::Ended,
                    ReplyEnd::completed().with_structured_output(output).with_metadata(reason),
                )
            }
            EndReason::Exceeded => {
                self.reply.exceed_max_iters();
                self.close(CloseReason::Ended, ReplyEnd::new(FinishedReason::ExceedMaxIters))
            }
            EndReason::Stopped(stop) => {
                let reason = generate_reason_metadata(stop.after.generate_reason());
                self.close(CloseReason::Stopped, ReplyEnd::completed().with_metadata(reason))
            }
        }
    }

    /// Sets the expiry of calls that wait for a confirmation, if it is limited. Returns the earliest one.
    fn set_expiries(&self, confirmations: &[String]) -> Option<String> {
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

    /// Leaves the reply open until it is answered. Returns `None` if an answer has arrived meanwhile.
    async fn wait(&mut self, waiting: &PendingCalls) -> Option<Result<Msg, Error>> {
        let expires_at = self.set_expiries(&waiting.confirmations);
        let mut fields = Object::from([("reply_id", self.message().id())]);
        let calls: Vec<Json> = {
            // Sub-agents write this signal for their own calls.
            let inner = self.shared.lock();
            let own = |call: &&String| !inner.state.sub_agents.contains_key(*call);
            let calls = waiting.confirmations.iter().chain(waiting.results.iter().filter(own));
            calls.map(|call| Json::from(call.as_str())).collect()
        };
        fields.insert("calls", calls);
        fields.insert("expires_at", expires_at.map_or_else(Json::null, Json::from));
        self.reply.signal(CustomName::Waiting.as_str(), fields);
        if let Err(error) = self.shared.commit().await {
            self.shared.take_sink_error();
            return Some(self.fail(Failure::internal(format!("cannot persist the events: {error}"))).await);
        }
        let mut inner = self.shared.lock();
        // Answers are queued under the same lock, so an answer is either seen here or finds the reply waiting.
        let queued = self.inbox.try_recv().ok();
        if queued.is_some() || self.cancel.is_cancelled() {
            drop(inner);
            queued.into_iter().for_each(|queued| self.process_answer(queued));
            self.has_worked = true;
            return None;
        }
        let message = self.reply.message().clone();
        inner.open = Some(OpenReply { fold: self.reply.pause(), position: self.position });
        inner.running = None;
        drop(inner);
        self.is_done = true;
        Some(Ok(message))
    }
}

/// Returns metadata with the reason for the end of the reply.
fn generate_reason_metadata(reason: GenerateReason) -> Object {
    Object::from([("agentscope_generate_reason", reason.as_str())])
}
