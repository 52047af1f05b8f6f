//! Property test: any history becomes a request that follows the published rules of every provider.
//!
//! The histories come from legal streams, arbitrary messages, and calls and results in any order with conflicting ids.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "rules/histories.rs"]
mod histories;
#[path = "rules/mod.rs"]
mod rules;

use histories::{MARKER, any_history};
use proptest::prelude::*;
use recount_message::Msg;
use recount_model::Provider;
use recount_model::format::{Cache, Formatter, Media, MultiAgent, RequestOptions, Tool, ToolMode};
use serde_json::Value;

/// Returns every variant of a formatter for a provider.
fn formatters(provider: Provider) -> [Formatter; 5] {
    let plain = Formatter::new(provider);
    [
        plain.clone().multi_agent(MultiAgent::History),
        plain.clone().multi_agent(MultiAgent::Brackets),
        plain.clone().input_types(["text/plain", "application/x-thinking"]),
        plain.clone().tool_mode(ToolMode::Prompt),
        plain,
    ]
}

/// Provides the required media, except for unavailable ones.
fn bring(formatter: &Formatter, messages: &[Msg]) -> Media {
    let mut media = Media::new();
    for wanted in formatter.required_media(messages) {
        if wanted.url.len() % 3 != 0 {
            media.insert(wanted.url, "bytes");
        }
    }
    media
}

fn hold_to_the_rules(messages: &[Msg]) -> Result<(), TestCaseError> {
    let options = RequestOptions::new("gemini-3-pro").tools([Tool::new("look")]).cache(Cache::Marked { key: None });
    for provider in Provider::ALL {
        for formatter in formatters(provider) {
            let media = bring(&formatter, messages);
            let request = formatter.request(messages, &media, &options).unwrap();
            prop_assert_eq!(&request, &formatter.request(messages, &media, &options).unwrap());
            prop_assert!(!request.body.as_raw().contains(MARKER), "{} lets metadata out", provider);
            // Numbers keep their digits, even if the parser of this test cannot represent them.
            let body: Value = serde_json::from_str(&request.body.as_raw().replace("1e400", "1")).unwrap();
            if let Err(broken) = rules::check(provider, &body) {
                let form = format!("{formatter:?}");
                return Err(TestCaseError::fail(format!("{provider}: {broken}\n{form}\n{body:#}")));
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn requests_follow_the_rules_of_every_provider(messages in any_history()) {
        hold_to_the_rules(&messages)?;
    }
}
