//! Formatting of messages for each provider.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "format/agents.rs"]
mod agents;
#[path = "format/media.rs"]
mod media;
#[path = "format/requests.rs"]
mod requests;
#[path = "format/thinking.rs"]
mod thinking;
#[path = "format/tools.rs"]
mod tools;

use pretty_assertions::assert_eq;
use recount_message::Msg;
use recount_model::Provider;
use recount_model::format::{Formatter, Media, RequestOptions};

/// Formats messages and compares the result and the warnings.
#[track_caller]
pub(crate) fn check(formatter: &Formatter, messages: &[Msg], expected: &[&str], warnings: &[&str]) {
    let formatted = formatter.format(messages, &Media::new());
    let sent: Vec<String> = formatted.messages.iter().map(ToString::to_string).collect();
    assert_eq!(sent, expected);
    let actual: Vec<String> = formatted.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(actual, warnings);
}

/// Returns the body of a request with one message.
pub(crate) fn body(provider: Provider, options: &RequestOptions) -> String {
    let request = Formatter::new(provider).request(&[Msg::user("Alice", "Hello")], &Media::new(), options);
    request.unwrap().body.to_string()
}
