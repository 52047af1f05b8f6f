//! A model that needs no provider, for trying things out.
//!
//! It is a script and says so: what it answers depends on words in the message. That is enough to see every kind of block,
//! a tool call, a question to the user and an image, without a key and always the same.

mod plan;
mod png;
mod prose;
mod speak;

use std::num::NonZeroU32;
use std::str::FromStr;

use recount_message::{Msg, Usage};
use recount_model::client::{CallOptions, CallOutcome};
use recount_model::decode::{CallEnd, StopReason};
use recount_model::estimate_tokens;

use crate::BoxFuture;
use crate::model::{AgentReplyWriter, ChatModel};
use plan::Part;
use speak::Speaker;

/// A model that needs no provider.
///
/// | word in the message | what comes |
/// |---|---|
/// | `tool` or `shell` | a call of `shell` with a command that asks; when it has run, what came of it |
/// | a tool's name and a JSON object | a call of that tool with these arguments |
/// | `think` | thinking first |
/// | `image` | a picture |
/// | `long` | 500 words |
///
/// Several of them together are all heeded. It speaks thirty words a second, or as many as its name says: `demo/2000`.
///
/// ```
/// use recount_agent::Agent;
/// use recount_agent::demo::DemoModel;
/// use recount_message::{DataBlock, ThinkingBlock};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let model: DemoModel = "demo/100000".parse()?;
/// let agent = Agent::builder("demo").model(model).build()?;
/// let message = agent.reply("Please think, and show me an image.").await?;
/// assert!(message.has::<ThinkingBlock>() && message.has::<DataBlock>());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DemoModel {
    words_per_second: NonZeroU32,
}

/// What the model is called.
const NAME: &str = "demo";

/// About as fast as a provider's.
const USUAL_PACE: NonZeroU32 = match NonZeroU32::new(30) {
    Some(words) => words,
    None => NonZeroU32::MIN,
};

impl Default for DemoModel {
    fn default() -> Self {
        Self::new()
    }
}

impl DemoModel {
    /// The model at its usual pace.
    #[must_use]
    pub const fn new() -> Self {
        Self { words_per_second: USUAL_PACE }
    }

    /// The same at another pace.
    #[must_use]
    pub const fn words_per_second(mut self, words: NonZeroU32) -> Self {
        self.words_per_second = words;
        self
    }

    /// Whether a text is meant as the name of this model, if maybe with a pace that is none.
    ///
    /// ```
    /// use recount_agent::demo::DemoModel;
    ///
    /// assert!(DemoModel::is_named("demo") && DemoModel::is_named("demo/90"));
    /// assert!(!DemoModel::is_named("openai/demo"));
    /// ```
    #[must_use]
    pub fn is_named(name: &str) -> bool {
        name == NAME || name.split_once('/').is_some_and(|(provider, _)| provider == NAME)
    }

    /// Its name, as it can be read again.
    ///
    /// ```
    /// use recount_agent::demo::DemoModel;
    ///
    /// assert_eq!(DemoModel::new().id(), "demo");
    /// assert_eq!("demo/90".parse::<DemoModel>()?.id(), "demo/90");
    /// # Ok::<(), recount_agent::demo::ParseDemoModelError>(())
    /// ```
    #[must_use]
    pub fn id(&self) -> String {
        if self.words_per_second == USUAL_PACE { NAME.to_owned() } else { format!("{NAME}/{}", self.words_per_second) }
    }
}

/// Why a text does not name the demo model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not of the form `demo` or `demo/WORDS_PER_SECOND`")]
pub struct ParseDemoModelError(String);

impl FromStr for DemoModel {
    type Err = ParseDemoModelError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        if name == NAME {
            return Ok(Self::new());
        }
        let pace =
            name.split_once('/').filter(|(provider, _)| *provider == NAME).and_then(|(_, pace)| pace.parse().ok());
        pace.map(|pace| Self::new().words_per_second(pace)).ok_or_else(|| ParseDemoModelError(name.to_owned()))
    }
}

impl ChatModel for DemoModel {
    fn name(&self) -> &str {
        NAME
    }

    fn call<'a>(
        &'a self,
        messages: &'a [Msg],
        options: &'a CallOptions,
        reply: &'a mut AgentReplyWriter,
    ) -> BoxFuture<'a, CallOutcome> {
        Box::pin(async move {
            reply.model_call(NAME);
            let parts = plan::plan(messages, options);
            let calls = parts.iter().any(|part| matches!(part, Part::Call { .. }));
            let mut speaker = Speaker::new(self.words_per_second, options.cancel.clone());
            let stopped = speaker.say(parts, reply).await.err();
            let usage = Usage::new(estimate_tokens(messages, &options.tools), speaker.tokens());
            let end = match stopped {
                None => {
                    let finish = if calls { StopReason::ToolCalls } else { StopReason::Stop };
                    CallEnd::completed(finish, Some(usage), speaker.has_spoken())
                }
                Some(error) => {
                    let mut end = CallEnd::failed(error, speaker.has_spoken());
                    end.usage = Some(usage);
                    end
                }
            };
            end.end_model_call(reply);
            CallOutcome::new(end, self.id())
        })
    }
}
