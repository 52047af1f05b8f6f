//! What the model is told of the time and of how things go.

use std::time::Duration;

use recount_message::jiff::tz::TimeZone;
use recount_message::jiff::{SignedDuration, Timestamp};
use recount_message::{ContentBlock, HintBlock, HintLabel, Msg, ToolResultState, parse_time};

use crate::driver::ActiveReply;

/// What the model is told of the time and of how things go, before it is asked.
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
    /// The zone in which the time is told. UTC by default.
    pub time_zone: TimeZone,
    /// How old the time may be that the model knows. Half an hour by default.
    pub interval: Duration,
    /// After so many failures of the same call in a row the model is told to try something else. 3 by default.
    pub tool_retries_limit: usize,
    /// Whether it becomes a part of the message, which is the default, or of the request alone.
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
    /// What there is to say now. The model was last told the time `told`.
    fn hint(&self, message: &Msg, told: Option<&str>, now: Timestamp) -> (Option<HintBlock>, bool) {
        let mut lines = Vec::new();
        let is_due = self.is_due(told, now);
        if is_due {
            let local = now.to_zoned(self.time_zone.clone());
            lines.push(format!("<current-time>{}</current-time>", local.strftime("%Y-%m-%dT%H:%M:%S")));
            let zone = self.time_zone.iana_name().map_or_else(|| local.offset().to_string(), str::to_owned);
            lines.push(format!("<timezone>{zone}</timezone>"));
        }
        if let Some(tool) = self.failing(message) {
            let times = self.tool_retries_limit;
            lines.push(format!(
                "<tool-error>`{tool}` has failed {times} times in a row with the same arguments. Read what it says, and \
                 try something else.</tool-error>"
            ));
        }
        if lines.is_empty() {
            return (None, false);
        }
        let text = format!("This is how things are now, whatever was said before:\n{}\n", lines.join("\n"));
        let label = HintLabel::new("System").with_sublabel("Runtime State");
        (Some(HintBlock::reminder(text).with_label(&label)), is_due)
    }

    fn is_due(&self, told: Option<&str>, now: Timestamp) -> bool {
        let Some(told) = told.and_then(parse_time) else { return true };
        let interval = SignedDuration::try_from(self.interval).unwrap_or(SignedDuration::MAX);
        let age = now.duration_since(told);
        age >= interval || age.is_negative()
    }

    /// The tool whose last calls were all the same and all failed.
    fn failing<'m>(&self, message: &'m Msg) -> Option<&'m str> {
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
    /// Tells the model of the time and of how things go, where it is due. What is not to be a part of the message comes back.
    pub(crate) fn tell_runtime_state(&mut self) -> Option<HintBlock> {
        let config = self.shared().config.runtime_state.clone()?;
        let (now, id) = (self.shared().stamps.time(), self.shared().stamps.id());
        let told = self.shared().lock().state.time_hint_sent_at.clone();
        let (hint, has_time) = config.hint(self.message(), told.as_deref(), now);
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
