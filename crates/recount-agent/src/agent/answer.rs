//! Answers to a reply in progress, and the time until which a waiting reply can be answered.

use recount_message::jiff::Timestamp;
use recount_message::{AgentEvent, EventKind};
use tokio::sync::oneshot;

use super::{Agent, QueuedAnswer};
use crate::input::{Input, InputKind, InputRejection};

impl Agent {
    /// Sends an answer to the reply in progress, for example a confirmation while other tools still run.
    ///
    /// # Errors
    ///
    /// Fails if no reply is in progress, or if the reply rejects the answer.
    pub async fn answer(&self, input: impl Into<Input>) -> Result<(), InputRejection> {
        let (event, is_recorded) = input.into().into_event()?;
        if let Some(sub_agent) = self.running_sub_agent(&event) {
            let mut input = Input::from(event.clone());
            input.is_recorded = is_recorded;
            // A sub-agent that stops running meanwhile is answered through this agent, as any waiting reply is.
            match Box::pin(sub_agent.answer(input)).await {
                Err(InputRejection::NothingWaiting | InputRejection::ReplyEnded { .. }) => {}
                answered => {
                    if answered.is_ok() && is_recorded {
                        self.shared.lock().record_for_sub_agents(&event);
                    }
                    return answered;
                }
            }
        }
        let (answer, taken) = oneshot::channel();
        let mut reply_id = String::new();
        {
            let inner = self.shared.lock();
            let running = inner.running.as_ref().ok_or(InputRejection::NothingWaiting)?;
            let is_interrupt =
                matches!(&event.kind, EventKind::UserInterrupt(kind) if kind.reply_id == running.reply_id);
            reply_id.clone_from(&running.reply_id);
            let delivery = QueuedAnswer { event, is_recorded, answer };
            running.inbox.send(delivery).map_err(|_| InputRejection::NothingWaiting)?;
            // The queue is not read during a model call, so an interrupt also cancels the call.
            if is_interrupt {
                running.cancel.cancel();
            }
        }
        // The response channel closes without a response if the reply ends first.
        taken.await.unwrap_or(Err(InputRejection::ReplyEnded { reply_id }))
    }

    /// Returns the running sub-agent that an event is for. `None` if it is not running.
    fn running_sub_agent(&self, event: &AgentEvent) -> Option<Self> {
        let inner = self.shared.lock();
        let call_id = inner.sub_agent_call(event.reply_id()?)?;
        let shared = inner.running_sub_agents.get(&call_id)?.upgrade()?;
        Some(Self { shared })
    }

    /// Returns the time until which the calls of the waiting reply can be
    /// [confirmed](crate::AgentBuilder::confirm_within), including the calls of sub-agents. `None` if no reply waits or
    /// there is no limit. An empty input after this time resumes the reply and denies the calls that were not
    /// confirmed.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use recount_agent::Agent;
    /// use recount_agent::scripted::ScriptedModel;
    /// use recount_agent::tool::{FunctionTool, NoArguments};
    /// use recount_message::jiff::{SignedDuration, Timestamp};
    /// use recount_message::{CountingIds, Stamps, SteppingClock};
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
    /// let deploy = FunctionTool::new("deploy", "Deploys.", |_: NoArguments| async { Ok("deployed") });
    /// let model = ScriptedModel::new().calls("deploy", "{}").then().says("No confirmation arrived.");
    /// // A clock that advances by one hour with every reading.
    /// let clock = SteppingClock::new(Timestamp::UNIX_EPOCH, SignedDuration::from_hours(1));
    /// let agent = Agent::builder("Friday")
    ///     .model(model)
    ///     .tool(deploy)
    ///     .confirm_within(Duration::from_secs(60))
    ///     .stamps(Stamps::new(CountingIds::new("id-"), clock))
    ///     .build()?;
    ///
    /// agent.reply("Deploy it.").await?;
    /// assert!(agent.expires_at().is_some());
    /// let message = agent.reply(()).await?;
    /// assert_eq!(message.text().as_deref(), Some("No confirmation arrived."));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn expires_at(&self) -> Option<Timestamp> {
        let inner = self.shared.lock();
        inner.open.as_ref()?;
        inner.state.expires_at()
    }
}

impl Input {
    /// Returns the event of this input, and whether it is already recorded. Fails for other kinds of input.
    fn into_event(self) -> Result<(AgentEvent, bool), InputRejection> {
        match self.kind {
            InputKind::Event(event) => Ok((*event, self.is_recorded)),
            InputKind::Messages(_) | InputKind::Interrupt => {
                Err(InputRejection::UnsupportedEvent { type_name: "message".to_owned() })
            }
        }
    }
}
