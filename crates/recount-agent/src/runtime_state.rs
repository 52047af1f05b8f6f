//! Informing the model about the current time and repeated tool failures.

use std::time::Duration;

use recount_message::jiff::tz::TimeZone;
use recount_message::jiff::{SignedDuration, Timestamp};
use recount_message::{ContentBlock, HintBlock, HintLabel, Msg, ToolResultState, parse_time};

use crate::driver::ActiveReply;

/// Options for informing the model about the current time and repeated tool failures, before a model call.
///
/// ```
/// use std::time::Duration;
///
/// use recount_agent::RuntimeState;
///
/// let state = RuntimeState { interval: Duration::from_secs(60), ..RuntimeState::default() };
/// assert!(state.in_message);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuntimeState {
    /// The time zone; UTC by default.
    pub time_zone: TimeZone,
    /// The minimum time between two hints with the current time; 30 minutes by default.
    pub interval: Duration,
    /// The number of consecutive failures of the same call after which the model is asked to try something else; 3 by
    /// default. 0 turns this off.
    pub tool_retries_limit: usize,
    /// Whether the hint becomes part of the message, which is the default, or only of the request.
    pub in_message: bool,
}

impl Default for RuntimeState {
    fn default() -> Self {
        Self {
            time_zone: TimeZone::UTC,
            interval: Duration::from_secs(30 * 60),
            tool_retries_limit: 3,
            in_message: true,
        }
    }
}

impl RuntimeState {
    /// Returns the hint that is due, and whether it contains the time. `last_sent` is the time in the last hint.
    fn hint(&self, message: &Msg, last_sent: Option<&str>, now: Timestamp) -> (Option<HintBlock>, bool) {
        let mut lines = Vec::new();
        let is_due = self.is_due(last_sent, now);
        if is_due {
            let local = now.to_zoned(self.time_zone.clone());
            lines.push(format!("<current-time>{}</current-time>", local.strftime("%Y-%m-%dT%H:%M:%S")));
            let zone = self.time_zone.iana_name().map_or_else(|| local.offset().to_string(), str::to_owned);
            lines.push(format!("<timezone>{zone}</timezone>"));
        }
        if let Some(tool) = self.repeated_failure(message) {
            let times = self.tool_retries_limit;
            lines.push(format!(
                "<tool-error>`{tool}` has failed {times} times in a row with the same arguments. Read the error, and \
                 try something else.</tool-error>"
            ));
        }
        if lines.is_empty() {
            return (None, false);
        }
        let text = format!("This is the current state, which replaces earlier information:\n{}\n", lines.join("\n"));
        let label = HintLabel::new("System").with_sublabel("Runtime State");
        (Some(HintBlock::reminder(text).with_label(&label)), is_due)
    }

    fn is_due(&self, last_sent: Option<&str>, now: Timestamp) -> bool {
        let Some(last_sent) = last_sent.and_then(parse_time) else { return true };
        let interval = SignedDuration::try_from(self.interval).unwrap_or(SignedDuration::MAX);
        let age = now.duration_since(last_sent);
        age >= interval || age.is_negative()
    }

    /// Returns the tool whose last calls were identical and have all failed.
    fn repeated_failure<'m>(&self, message: &'m Msg) -> Option<&'m str> {
        let limit = self.tool_retries_limit;
        if limit == 0 || matches!(message.content().last(), Some(ContentBlock::Hint(_))) {
            return None;
        }
        let pairs: Vec<_> = message.tool_pairs().collect();
        let last = pairs.get(pairs.len().checked_sub(limit)?..)?;
        let (first, _) = last.first()?;
        let is_same = last.iter().all(|(call, result)| {
            let has_failed = result.is_some_and(|result| result.state == ToolResultState::Error);
            has_failed && call.name == first.name && call.input == first.input
        });
        is_same.then_some(first.name.as_str())
    }
}

impl ActiveReply {
    /// Writes the runtime state if it is due. Returns the hint if it is only part of the request.
    pub(crate) fn write_runtime_state(&mut self) -> Option<HintBlock> {
        let config = self.shared().config.runtime_state.clone()?;
        let (now, id) = (self.shared().stamps.time(), self.shared().stamps.id());
        let last_sent = self.shared().lock().state.time_hint_sent_at.clone();
        let (hint, has_time) = config.hint(self.message(), last_sent.as_deref(), now);
        let hint = hint?.with_id(id);
        if has_time {
            self.shared().change(|state| state.time_hint_sent_at = Some(recount_message::format_time(now)));
        }
        if config.in_message {
            self.hint(hint);
            return None;
        }
        Some(hint)
    }
}
