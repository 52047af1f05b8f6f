//! Properties of the decoder for arbitrary responses and chunk boundaries.

use std::collections::BTreeSet;

use proptest::prelude::{ProptestConfig, TestCaseError, any, proptest};
use proptest::sample::select;
use proptest::strategy::Strategy;
use recount_message::{ContentBlock, ReplyWriter, Stamps};
use recount_model::Provider;
use recount_model::decode::{CallErrorKind, DecodeOptions, Decoder};
use recount_testkit::{laws, responses};

fn providers() -> impl Strategy<Value = Provider> {
    select(Provider::ALL.to_vec())
}

fn hold(verdict: laws::Verdict) -> Result<(), TestCaseError> {
    verdict.map_err(|broken| TestCaseError::fail(broken.to_string()))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn chunks_decode_to_a_legal_stream(provider in providers(), seed in any::<u64>(), cuts in any::<u64>()) {
        let response = responses::response(provider, seed);
        hold(laws::decoding_ignores_chunk_boundaries(provider, &response, cuts))?;
    }

    /// A response for the decoder of another provider.
    #[test]
    fn chunks_of_other_providers_decode_to_a_legal_stream(provider in providers(), other in providers(), seed in any::<u64>(), cuts in any::<u64>()) {
        hold(laws::decoding_ignores_chunk_boundaries(provider, &responses::response(other, seed), cuts))?;
    }

    #[test]
    fn arbitrary_bytes_decode_to_a_legal_stream(provider in providers(), bytes in any::<Vec<u8>>(), cuts in any::<u64>()) {
        hold(laws::decoding_ignores_chunk_boundaries(provider, &bytes, cuts))?;
    }
}

/// The generator must cover the features that the properties are about.
#[test]
fn generated_responses_cover_every_feature() {
    for provider in Provider::ALL {
        let mut seen = BTreeSet::new();
        for seed in 0..400 {
            let mut reply = ReplyWriter::start(|_event| {}, Stamps::repeatable(), "s1", "Friday");
            let mut decoder = Decoder::new(provider, DecodeOptions::default());
            let _ = decoder.push(&responses::response(provider, seed), &mut reply);
            let end = decoder.finish(&mut reply);
            seen.insert(end.error.map_or("whole", |error| match error.kind() {
                CallErrorKind::Provider => "reported",
                CallErrorKind::Malformed => "malformed",
                CallErrorKind::Truncated => "truncated",
                _ => "another error",
            }));
            seen.extend(reply.message().content().iter().map(|block| match block {
                ContentBlock::Text(_) => "text",
                ContentBlock::Thinking(_) => "thinking",
                ContentBlock::ToolCall(_) => "call",
                _ => "another block",
            }));
            seen.extend(end.usage.map(|_| "usage"));
        }
        for wanted in ["whole", "reported", "malformed", "truncated", "text", "thinking", "call", "usage"] {
            assert!(seen.contains(wanted), "{provider}: {wanted} in {seen:?}");
        }
    }
}
