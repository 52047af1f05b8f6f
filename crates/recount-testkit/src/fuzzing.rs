//! The bodies of the fuzz targets. Each takes arbitrary bytes and returns an error if they violate a law.
//!
//! They are part of this crate so that ordinary tests can run them over the corpora, too.

use recount_dialect::Dialect;
use recount_message::{AgentEvent, Checkpoint, Event, Msg, ReplyStartEvent};
use recount_model::Provider;

use crate::laws::{self, Verdict};
use crate::steps;

/// A fuzz target: its name, which is also that of its corpus, and its body.
pub type Target = (&'static str, fn(&[u8]) -> Verdict);

/// All fuzz targets.
pub const TARGETS: &[Target] = &[
    ("event_decode", event_decode),
    ("message_decode", message_decode),
    ("fold", fold),
    ("json_scanner", json_scanner),
    ("dialect_java", dialect_java),
    ("dialect_java1", dialect_java1),
    ("dialect_typescript", dialect_typescript),
    ("openai_decode", openai_decode),
    ("responses_decode", responses_decode),
    ("anthropic_decode", anthropic_decode),
    ("gemini_decode", gemini_decode),
    ("ollama_decode", ollama_decode),
    #[cfg(feature = "agent")]
    ("arguments", arguments),
    #[cfg(feature = "agent")]
    ("shell", shell),
];

/// The maximum number of events that are folded.
const MAX_EVENTS: usize = 40;

/// Decodes an event, and checks its JSON, its accessors and how the fold handles it.
///
/// # Errors
///
/// If the law is violated.
pub fn event_decode(bytes: &[u8]) -> Verdict {
    let Ok(event) = Event::from_slice(bytes) else { return Ok(()) };
    let event = event.into_owned();
    laws::event_round_trip(&event)?;
    laws::event_decodes_in_any_formatting(&event, chance(bytes))?;
    laws::event_accessors(&event)?;
    let start = |reply_id: &str| {
        let kind = ReplyStartEvent::new("s", reply_id.to_owned(), "Friday");
        Event::stamped("e1", "", kind)
    };
    let reply_id = event.reply_id().unwrap_or("r0").to_owned();
    let stream = [start(&reply_id), event.clone(), event];
    laws::outcomes_match_changes(&stream)?;
    laws::fold_apis_agree(&stream)?;
    laws::resumes_from_every_checkpoint(&stream)
}

/// Decodes a message or a checkpoint, and checks that it round-trips in every format.
///
/// # Errors
///
/// If the law is violated.
pub fn message_decode(bytes: &[u8]) -> Verdict {
    let Ok(text) = std::str::from_utf8(bytes) else { return Ok(()) };
    if let Ok(message) = Msg::from_json(text) {
        laws::message_round_trip(&message)?;
        laws::message_decodes_in_any_formatting(&message, chance(bytes))?;
        laws::message_round_trip_as_custom_event(&message)?;
        laws::message_accessors(&message)?;
    }
    if let Ok(checkpoint) = Checkpoint::from_json(text) {
        laws::checkpoint_round_trip(&checkpoint)?;
        laws::checkpoint_resumes(checkpoint)?;
    }
    Ok(())
}

/// Decodes a stream, and checks the laws of the fold. Input that starts with a brace is JSON lines; other input is steps.
///
/// # Errors
///
/// If the law is violated.
pub fn fold(bytes: &[u8]) -> Verdict {
    let mut events = match (bytes.first(), std::str::from_utf8(bytes)) {
        (Some(b'{'), Ok(text)) => json_lines(text),
        _ => steps::stream(bytes),
    };
    events.truncate(MAX_EVENTS);
    // The position of the checkpoint, and one additional law.
    let chance = chance(bytes);
    let cut = (chance % (events.len() as u64 + 1)) as usize;
    laws::resumes_from_checkpoint_at(&events, cut)?;
    laws::outcomes_match_changes(&events)?;
    laws::fold_apis_agree(&events)?;
    match chance % 5 {
        0 => laws::resumes_after_every_event(&events),
        1 => laws::taking_ended_preserves_messages(&events, cut),
        2 => laws::applying_again_changes_nothing(&events, chance),
        3 => laws::merging_deltas_preserves_messages(&events, chance),
        _ => laws::folding_is_deterministic(&events),
    }
}

/// Returns a number that depends on every byte.
fn chance(bytes: &[u8]) -> u64 {
    bytes.iter().fold(7, |sum: u64, byte| sum.wrapping_mul(31).wrapping_add((*byte).into()))
}

fn json_lines(text: &str) -> Vec<AgentEvent> {
    text.lines().filter_map(|line| Event::from_json(line).ok()).map(Event::into_owned).collect()
}

/// Checks that the JSON scanner and `serde_json` agree.
///
/// # Errors
///
/// If the law is violated.
pub fn json_scanner(bytes: &[u8]) -> Verdict {
    match std::str::from_utf8(bytes) {
        Ok(text) => laws::scanner_agrees_with_serde_json(text),
        Err(_) => Ok(()),
    }
}

/// Decodes a message, a block, an event and a stream of AgentScope Java 2.
///
/// # Errors
///
/// If the law is violated.
pub fn dialect_java(bytes: &[u8]) -> Verdict {
    laws::dialect_round_trip(Dialect::Java, bytes)
}

/// Decodes a message, a block, an event and a stream of AgentScope Java 1.
///
/// # Errors
///
/// If the law is violated.
pub fn dialect_java1(bytes: &[u8]) -> Verdict {
    laws::dialect_round_trip(Dialect::Java1, bytes)
}

/// Decodes a message, a block, an event and a stream of AgentScope's TypeScript package.
///
/// # Errors
///
/// If the law is violated.
pub fn dialect_typescript(bytes: &[u8]) -> Verdict {
    laws::dialect_round_trip(Dialect::TypeScript, bytes)
}

/// Decodes a response of OpenAI chat completions.
///
/// # Errors
///
/// If the law is violated.
pub fn openai_decode(bytes: &[u8]) -> Verdict {
    laws::decoding_ignores_chunk_boundaries(Provider::OpenAi, bytes, chance(bytes))
}

/// Decodes a response of OpenAI Responses.
///
/// # Errors
///
/// If the law is violated.
pub fn responses_decode(bytes: &[u8]) -> Verdict {
    laws::decoding_ignores_chunk_boundaries(Provider::OpenAiResponses, bytes, chance(bytes))
}

/// Decodes a response of Anthropic.
///
/// # Errors
///
/// If the law is violated.
pub fn anthropic_decode(bytes: &[u8]) -> Verdict {
    laws::decoding_ignores_chunk_boundaries(Provider::Anthropic, bytes, chance(bytes))
}

/// Decodes a response of Gemini.
///
/// # Errors
///
/// If the law is violated.
pub fn gemini_decode(bytes: &[u8]) -> Verdict {
    laws::decoding_ignores_chunk_boundaries(Provider::Gemini, bytes, chance(bytes))
}

/// Decodes a response of Ollama.
///
/// # Errors
///
/// If the law is violated.
pub fn ollama_decode(bytes: &[u8]) -> Verdict {
    laws::decoding_ignores_chunk_boundaries(Provider::Ollama, bytes, chance(bytes))
}

/// Parses and repairs tool arguments.
///
/// # Errors
///
/// If the law is violated.
#[cfg(feature = "agent")]
pub fn arguments(bytes: &[u8]) -> Verdict {
    let Ok(text) = std::str::from_utf8(bytes) else { return Ok(()) };
    laws::repair_keeps_valid_json(text)?;
    // Every truncation is tried, which takes quadratic time.
    if text.len() < 300 {
        laws::repair_completes_truncated_json(text)?;
    }
    laws::repaired_arguments_are_valid(text, chance(bytes))
}

/// Parses a shell command, and checks the laws of permission rules.
///
/// # Errors
///
/// If the law is violated.
#[cfg(feature = "agent")]
pub fn shell(bytes: &[u8]) -> Verdict {
    let Ok(text) = std::str::from_utf8(bytes) else { return Ok(()) };
    laws::shell_rules_cover_commands(text)
}
