//! Answers to an agent: to the reply that is under way, and until when one that waits can be answered.

use recount_message::jiff::Timestamp;
use recount_message::{AgentEvent, EventKind};
use tokio::sync::oneshot;

use super::{Agent, Delivery};
use crate::input::{Input, InputRejection, Said};

impl Agent {
    /// Gives an answer to the reply that is under way, such as a confirmation while other tools still run.
    ///
    /// # Errors
    ///
    /// When no reply is under way, or it does not take the answer.
    pub async fn answer(&self, input: impl Into<Input>) -> Result<(), InputRejection> {
        let (event, is_recorded) = input.into().into_event()?;
        if let Some(sub_agent) = self.running_sub_agent(&event) {
            let mut input = Input::from(event.clone());
            input.is_recorded = is_recorded;
            // A helper that has just come to wait is answered like any other.
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
            let delivery = Delivery { event, is_recorded, answer };
            running.inbox.send(delivery).map_err(|_| InputRejection::NothingWaiting)?;
            // Nobody looks at answers while a model is asked, and an interrupt cannot wait for that.
            if is_interrupt {
                running.cancel.cancel();
            }
        }
        // A reply that ends first does not take it.
        taken.await.unwrap_or(Err(InputRejection::ReplyEnded { reply_id }))
    }

    /// The agent that works for this one and that an event is for, if it runs.
    fn running_sub_agent(&self, event: &AgentEvent) -> Option<Self> {
        let inner = self.shared.lock();
        let call_id = inner.sub_agent_call(event.reply_id()?)?;
        let shared = inner.running_sub_agents.get(&call_id)?.upgrade()?;
        Some(Self { shared })
    }

    /// Until when the reply that waits can be [confirmed](crate::AgentBuilder::confirm_within), here or with an agent that works for
    /// this one. After that, an input of nothing goes on with it: what nobody has confirmed in time counts as refused.
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
    /// let model = ScriptedModel::new().calls("deploy", "{}").then().says("Nobody was there.");
    /// // A clock on which an hour passes each time somebody looks at it.
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
    /// assert_eq!(message.text().as_deref(), Some("Nobody was there."));
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
    /// The event in it, for a reply that is under way.
    fn into_event(self) -> Result<(AgentEvent, bool), InputRejection> {
        match self.said {
            Said::Event(event) => Ok((*event, self.is_recorded)),
            Said::Messages(_) | Said::Interrupt => {
                Err(InputRejection::UnsupportedEvent { type_name: "message".to_owned() })
            }
        }
    }
}
