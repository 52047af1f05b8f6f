//! Checks that a conversation is valid for every provider.

use recount_message::Msg;
use recount_model::Provider;
use recount_model::format::{Formatter, Media, RequestOptions};

use crate::rules;

/// Panics unless the next request is valid for every provider: calls and results are pairs without repairs by the formatter.
pub(crate) fn presentable(messages: &[Msg]) {
    for provider in Provider::ALL {
        let options = RequestOptions::new("gemini-3-pro");
        let request = Formatter::new(provider).request(messages, &Media::new(), &options).unwrap();
        let body = serde_json::from_str(request.body.as_raw()).unwrap();
        if let Err(broken) = rules::check(provider, &body) {
            panic!("{provider}: {broken}\n{body:#}");
        }
        let loose: Vec<String> = request.warnings.iter().map(ToString::to_string).collect();
        assert!(!loose.iter().any(|note| note.contains("has no result") || note.contains("has no call")), "{loose:?}");
    }
}
