//! A demo model that needs no provider.
//!
//! It is a script: its answer depends on keywords in the message. It shows every kind of block, a tool call, a question to
//! the user and an image, deterministically and without an API key.

mod pace;
mod plan;
mod png;
mod prose;

use std::num::NonZeroU32;
use std::str::FromStr;

use recount_message::{Msg, Usage};
use recount_model::client::{CallOptions, CallOutcome};
use recount_model::decode::{CallEnd, StopReason};
use recount_model::estimate_tokens;

use crate::BoxFuture;
use crate::model::{AgentReplyWriter, ChatModel};
use pace::PacedWriter;
use plan::Part;

/// A scripted model that needs no provider.
///
/// | keyword in the message | answer |
/// |---|---|
/// | `tool` or `shell` | a call of `shell` with a command that asks the user, then its result |
/// | the name of a tool and a JSON object | a call of that tool with these arguments |
/// | `think` | thinking before the answer |
/// | `image` | an image |
/// | `long` | 500 words |
///
/// Keywords can be combined. The model writes 30 words per second, or the number in its name: `demo/2000`.
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

/// The name of the model.
const NAME: &str = "demo";

/// The default pace in words per second, similar to that of a provider.
const DEFAULT_PACE: NonZeroU32 = match NonZeroU32::new(30) {
    Some(words) => words,
    None => NonZeroU32::MIN,
};

impl Default for DemoModel {
    fn default() -> Self {
        Self::new()
    }
}

impl DemoModel {
    /// Creates the model with the default pace, 30 words per second.
    #[must_use]
    pub const fn new() -> Self {
        Self { words_per_second: DEFAULT_PACE }
    }

    /// Sets the pace.
    #[must_use]
    pub const fn words_per_second(mut self, words: NonZeroU32) -> Self {
        self.words_per_second = words;
        self
    }

    /// Returns whether a text names this model, possibly with an invalid pace.
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

    /// The name with the pace. It can be parsed back.
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
        if self.words_per_second == DEFAULT_PACE {
            NAME.to_owned()
        } else {
            format!("{NAME}/{}", self.words_per_second)
        }
    }
}

/// A text that is not a name of the demo model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid name of the demo model `{0}`: expected `demo` or `demo/WORDS_PER_SECOND`")]
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
            let mut writer = PacedWriter::new(self.words_per_second, options.cancel.clone());
            let stopped = writer.write(parts, reply).await.err();
            let usage = Usage::new(estimate_tokens(messages, &options.tools), writer.tokens());
            let end = match stopped {
                None => {
                    let finish = if calls { StopReason::ToolCalls } else { StopReason::Stop };
                    CallEnd::completed(finish, Some(usage), writer.has_output())
                }
                Some(error) => {
                    let mut end = CallEnd::failed(error, writer.has_output());
                    end.usage = Some(usage);
                    end
                }
            };
            end.end_model_call(reply);
            CallOutcome::new(end, self.id())
        })
    }
}
