//! Conversations that are too long for their model.
//!
//! Nothing is taken out of a conversation. What a request leaves out is a [mark](crate::Compressed) in the state, with a
//! summary that the model is shown in its place; whoever reads the session is told by `recount.compressed`.

mod cut;
mod summary;
mod transcript;

pub(crate) use cut::{Shown, best_cut};
pub(crate) use summary::{SummaryPrompt, summarise};
pub(crate) use transcript::transcript;

use std::fmt;
use std::sync::Arc;

use recount_message::Usage;

use crate::model::ChatModel;

/// The window of a model of which nothing is known.
pub(crate) const USUAL_WINDOW: u64 = 128_000;

/// When a conversation is summarised for the model, and how.
///
/// By default that is at four fifths of what the model can read, and the newest fifth stays as it is.
///
/// ```
/// use recount_agent::Agent;
/// use recount_agent::Compression;
/// use recount_agent::scripted::ScriptedModel;
///
/// let careful = Compression::new(32_000).trigger_ratio(0.7).keep_ratio(0.25).instructions("Keep every file name.");
/// let agent = Agent::builder("Friday").model(ScriptedModel::new()).compression(careful).build()?;
///
/// // What does not fit together is found out when the agent is built.
/// let wrong = Compression::new(32_000).trigger_ratio(0.5).keep_ratio(0.9);
/// assert!(Agent::builder("Friday").model(ScriptedModel::new()).compression(wrong).build().is_err());
/// # Ok::<(), recount_agent::BuildError>(())
/// ```
#[derive(Clone)]
#[must_use]
pub struct Compression {
    pub(crate) window: Option<u64>,
    trigger_ratio: f64,
    keep_ratio: f64,
    pub(crate) model: Option<Arc<dyn ChatModel>>,
    pub(crate) instructions: Option<String>,
    pub(crate) fail_on_error: bool,
}

impl Default for Compression {
    fn default() -> Self {
        Self {
            window: None,
            trigger_ratio: 0.8,
            keep_ratio: 0.2,
            model: None,
            instructions: None,
            fail_on_error: false,
        }
    }
}

impl Compression {
    /// For a model that can read so many tokens at once. Without that word, the model itself knows, or it is taken for
    /// 128,000.
    pub fn new(window: u64) -> Self {
        Self { window: Some(window), ..Self::default() }
    }

    /// At which part of the window a conversation is summarised.
    pub fn trigger_ratio(mut self, part: f64) -> Self {
        self.trigger_ratio = part;
        self
    }

    /// How much of the window the newest messages may have that stay as they are.
    pub fn keep_ratio(mut self, part: f64) -> Self {
        self.keep_ratio = part;
        self
    }

    /// Who writes the summary; the agent's own model by default.
    pub fn summary_model(mut self, model: impl ChatModel) -> Self {
        self.model = Some(Arc::new(model));
        self
    }

    /// What the summary has to heed.
    pub fn instructions(mut self, text: impl Into<String>) -> Self {
        self.instructions = Some(text.into());
        self
    }

    /// Lets the reply fail where nobody can summarise. By default the oldest messages are left out then.
    pub fn fail_on_error(mut self) -> Self {
        self.fail_on_error = true;
        self
    }

    /// What is wrong with it.
    pub(crate) fn problem(&self) -> Option<String> {
        let is_part = |part: f64| part > 0.0 && part <= 1.0;
        if self.window == Some(0) {
            return Some("the context window must not be 0".to_owned());
        }
        if !is_part(self.trigger_ratio) || !(0.0..1.0).contains(&self.keep_ratio) {
            return Some(format!(
                "`trigger_ratio` {} and `keep_ratio` {} must be between 0 and 1",
                self.trigger_ratio, self.keep_ratio
            ));
        }
        (self.keep_ratio >= self.trigger_ratio).then(|| {
            format!("`keep_ratio` {} must be less than `trigger_ratio` {}", self.keep_ratio, self.trigger_ratio)
        })
    }

    /// How much a request to a model may have before the conversation is summarised, and how much of it stays.
    pub(crate) fn budget(&self, model: &dyn ChatModel) -> ContextBudget {
        let window = self.window.or_else(|| model.context_window()).unwrap_or(USUAL_WINDOW);
        ContextBudget { window, trigger: part_of(window, self.trigger_ratio), keep: part_of(window, self.keep_ratio) }
    }
}

/// How much a request may have, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ContextBudget {
    pub(crate) window: u64,
    pub(crate) trigger: u64,
    pub(crate) keep: u64,
}

/// What a conversation was summarised to.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// What the model is shown in place of what was summarised.
    pub text: String,
    /// How many tokens that took, if anybody said.
    pub usage: Option<Usage>,
}

impl Summary {
    /// A summary that somebody else has written.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), usage: None }
    }
}

#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an estimate")]
fn part_of(window: u64, part: f64) -> u64 {
    (window as f64 * part) as u64
}

impl fmt::Debug for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Compression")
            .field("window", &self.window)
            .field("trigger_ratio", &self.trigger_ratio)
            .field("keep_ratio", &self.keep_ratio)
            .field("model", &self.model.as_ref().map(|model| model.name()))
            .field("instructions", &self.instructions)
            .field("fail_on_error", &self.fail_on_error)
            .finish()
    }
}
