//! Laws of decoding model responses.

use recount_message::check::Checker;
use recount_message::{AgentEvent, Fold, Msg, ReplyEnd, ReplyWriter, Stamps};
use recount_model::Provider;
use recount_model::decode::{CallEnd, DecodeOptions, Decoder};

use super::{Verdict, ensure, ensure_same};
use crate::random::Random;

/// The events do not depend on how the response is split into chunks. They are legal, close their blocks, and fold to the
/// message of the writer.
///
/// # Errors
///
/// If the law is violated.
pub fn decoding_ignores_chunk_boundaries(provider: Provider, bytes: &[u8], seed: u64) -> Verdict {
    let mut random = Random::new(seed);
    let options = options(&mut random);
    let (events, message, end) = decode(provider, bytes, options, |_| usize::MAX);
    let most = random.pick(&[1, 3, 40]);
    let (cut_events, _, cut_end) = decode(provider, bytes, options, |_| random.between(1, most));
    ensure_same!(events, cut_events, "split into chunks of up to {most} bytes");
    ensure_same!(end, cut_end, "split into chunks of up to {most} bytes");

    let mut checker = Checker::new();
    for event in &events {
        let findings = checker.event(event);
        ensure!(findings.is_empty(), "{findings:?}: {}", event.to_json());
    }
    let findings = checker.finish();
    ensure!(findings.is_empty(), "{findings:?} at the end");

    let mut fold = Fold::new();
    fold.extend(&events);
    ensure_same!(fold.messages().collect::<Vec<_>>(), vec![&message], "the fold of the events");
    let has_content = !message.content().is_empty();
    ensure_same!(end.has_output, has_content, "whether something was written");
    Ok(())
}

/// Returns random options, sometimes with limits that the response exceeds.
fn options(random: &mut Random) -> DecodeOptions {
    let default = DecodeOptions::default();
    DecodeOptions {
        think_tags: random.chance(80),
        prompt_tools: random.chance(40),
        max_event_bytes: if random.chance(10) { random.below(400) } else { default.max_event_bytes },
        max_response_bytes: if random.chance(10) { random.below(2_000) } else { default.max_response_bytes },
        max_blocks: if random.chance(10) { random.below(5) } else { default.max_blocks },
    }
}

fn decode(
    provider: Provider,
    bytes: &[u8],
    options: DecodeOptions,
    mut next_cut: impl FnMut(usize) -> usize,
) -> (Vec<AgentEvent>, Msg, CallEnd) {
    let mut events = Vec::new();
    let mut reply = ReplyWriter::start(|event| events.push(event), Stamps::repeatable(), "s1", "Friday");
    reply.model_call("model");
    let mut decoder = Decoder::new(provider, options);
    let mut rest = bytes;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(next_cut(rest.len()).min(rest.len()));
        rest = after;
        if decoder.push(piece, &mut reply).is_err() {
            break;
        }
    }
    let end = decoder.finish(&mut reply);
    end.end_model_call(&mut reply);
    let message = reply.end(match &end.error {
        None => ReplyEnd::completed(),
        Some(error) => ReplyEnd::failed(error.info()),
    });
    (events, message, end)
}
