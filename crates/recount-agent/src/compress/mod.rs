//! Summarising conversations that are too long for the model.
//!
//! The conversation itself is never changed. The state [records](crate::Compressed) which part requests leave out, and
//! the summary that replaces it. The signal `recount.compressed` reports it.

mod cut;
mod summary;
mod transcript;

pub(crate) use cut::{RequestMessage, find_cut};
pub(crate) use summary::{SummaryPrompt, request_summary};
pub(crate) use transcript::transcript;

use std::fmt;
use std::sync::Arc;

use recount_message::Usage;

use crate::model::ChatModel;

/// The context window of a model that does not report one, in tokens.
pub(crate) const DEFAULT_WINDOW: u64 = 128_000;

/// Options for summarising a conversation that is too long for the model.
///
/// By default, the conversation is summarised when a request exceeds 80 % of the context window, and the newest
/// messages are kept, up to 20 % of it.
///
/// ```
/// use recount_agent::Agent;
/// use recount_agent::Compression;
/// use recount_agent::scripted::ScriptedModel;
///
/// let careful = Compression::new(32_000).trigger_ratio(0.7).keep_ratio(0.25).instructions("Keep every file name.");
/// let agent = Agent::builder("Friday").model(ScriptedModel::new()).compression(careful).build()?;
///
/// // Contradicting options are reported when the agent is built.
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
    /// Creates options for a context window of this many tokens. With [`default`](Self::default), the model reports its
    /// window, or 128,000 tokens are assumed.
    pub fn new(window: u64) -> Self {
        Self { window: Some(window), ..Self::default() }
    }

    /// Sets the part of the context window at which the conversation is summarised; 0.8 by default.
    pub fn trigger_ratio(mut self, part: f64) -> Self {
        self.trigger_ratio = part;
        self
    }

    /// Sets the part of the context window that the newest messages may take without being summarised; 0.2 by default.
    pub fn keep_ratio(mut self, part: f64) -> Self {
        self.keep_ratio = part;
        self
    }

    /// Sets the model that writes the summary; the agent's own model by default.
    pub fn summary_model(mut self, model: impl ChatModel) -> Self {
        self.model = Some(Arc::new(model));
        self
    }

    /// Adds instructions to the prompt for the summary.
    pub fn instructions(mut self, text: impl Into<String>) -> Self {
        self.instructions = Some(text.into());
        self
    }

    /// Makes the reply fail if the summary fails. By default the oldest messages are left out without a summary then.
    pub fn fail_on_error(mut self) -> Self {
        self.fail_on_error = true;
        self
    }

    /// Returns the error in these options, if any.
    pub(crate) fn validation_error(&self) -> Option<String> {
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

    /// Returns the limits for requests to a model.
    pub(crate) fn budget(&self, model: &dyn ChatModel) -> ContextBudget {
        let window = self.window.or_else(|| model.context_window()).unwrap_or(DEFAULT_WINDOW);
        ContextBudget { window, trigger: ratio_of(window, self.trigger_ratio), keep: ratio_of(window, self.keep_ratio) }
    }
}

/// Limits for the size of a request, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ContextBudget {
    pub(crate) window: u64,
    pub(crate) trigger: u64,
    pub(crate) keep: u64,
}

/// A summary of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// The text that replaces the summarised messages in requests.
    pub text: String,
    /// The tokens that the summary took. `None` if unknown.
    pub usage: Option<Usage>,
}

impl Summary {
    /// Creates a summary from text, with unknown usage.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), usage: None }
    }
}

#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an estimate")]
fn ratio_of(window: u64, part: f64) -> u64 {
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
