//! The bodies of the fuzz targets. Each takes any bytes and says which law they break.
//!
//! They are here and not with the targets so that plain tests, too, can run them over the corpora.

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

/// How many events are folded at most. Longer streams only take longer.
const MOST_EVENTS: usize = 40;

/// Any bytes as an event: it survives its own JSON, and the fold says what it does with it.
///
/// # Errors
///
/// When a law is broken.
pub fn event_decode(bytes: &[u8]) -> Verdict {
    let Ok(event) = Event::from_slice(bytes) else { return Ok(()) };
    let event = event.into_owned();
    laws::event_round_trip(&event)?;
    laws::event_in_any_spelling(&event, chance(bytes))?;
    laws::event_accessors(&event)?;
    let start = |reply_id: &str| {
        let kind = ReplyStartEvent::new("s", reply_id.to_owned(), "Friday");
        Event::stamped("e1", "", kind)
    };
    let reply_id = event.reply_id().unwrap_or("r0").to_owned();
    let stream = [start(&reply_id), event.clone(), event];
    laws::reported(&stream)?;
    laws::ways_agree(&stream)?;
    laws::checkpointed(&stream)
}

/// Any bytes as a message or a checkpoint: it survives its own JSON, and every other way that it can go.
///
/// # Errors
///
/// When a law is broken.
pub fn message_decode(bytes: &[u8]) -> Verdict {
    let Ok(text) = std::str::from_utf8(bytes) else { return Ok(()) };
    if let Ok(message) = Msg::from_json(text) {
        laws::message_round_trip(&message)?;
        laws::message_in_any_spelling(&message, chance(bytes))?;
        laws::survives_as_custom_event(&message)?;
        laws::message_accessors(&message)?;
    }
    if let Ok(checkpoint) = Checkpoint::from_json(text) {
        laws::checkpoint_round_trip(&checkpoint)?;
        laws::resumes(checkpoint)?;
    }
    Ok(())
}

/// Any bytes as a stream: JSON lines where they begin with a brace, steps where they do not. The laws of the fold hold.
///
/// # Errors
///
/// When a law is broken.
pub fn fold(bytes: &[u8]) -> Verdict {
    let mut events = match (bytes.first(), std::str::from_utf8(bytes)) {
        (Some(b'{'), Ok(text)) => json_lines(text),
        _ => steps::stream(bytes),
    };
    events.truncate(MOST_EVENTS);
    // Where to cut, and which law to try beside those that find most.
    let chance = chance(bytes);
    let cut = (chance % (events.len() as u64 + 1)) as usize;
    laws::checkpointed_at(&events, cut)?;
    laws::reported(&events)?;
    laws::ways_agree(&events)?;
    match chance % 5 {
        0 => laws::checkpointed_after_every_event(&events),
        1 => laws::taken_in_between(&events, cut),
        2 => laws::idempotent(&events, chance),
        3 => laws::compactable(&events, chance),
        _ => laws::determined(&events),
    }
}

/// A number that the fuzzer changes with any byte.
fn chance(bytes: &[u8]) -> u64 {
    bytes.iter().fold(7, |sum: u64, byte| sum.wrapping_mul(31).wrapping_add((*byte).into()))
}

fn json_lines(text: &str) -> Vec<AgentEvent> {
    text.lines().filter_map(|line| Event::from_json(line).ok()).map(Event::into_owned).collect()
}

/// Any bytes as JSON: the scanner and `serde_json` agree on them.
///
/// # Errors
///
/// When they do not.
pub fn json_scanner(bytes: &[u8]) -> Verdict {
    match std::str::from_utf8(bytes) {
        Ok(text) => laws::scanner_agrees(text),
        Err(_) => Ok(()),
    }
}

/// Any bytes as a message, a block, an event and a stream of AgentScope Java 2.
///
/// # Errors
///
/// When a law is broken.
pub fn dialect_java(bytes: &[u8]) -> Verdict {
    laws::translated(Dialect::Java, bytes)
}

/// Any bytes as a message, a block, an event and a stream of AgentScope Java 1.
///
/// # Errors
///
/// When a law is broken.
pub fn dialect_java1(bytes: &[u8]) -> Verdict {
    laws::translated(Dialect::Java1, bytes)
}

/// Any bytes as a message, a block, an event and a stream of AgentScope's TypeScript package.
///
/// # Errors
///
/// When a law is broken.
pub fn dialect_typescript(bytes: &[u8]) -> Verdict {
    laws::translated(Dialect::TypeScript, bytes)
}

/// Any bytes as a response of OpenAI chat completions.
///
/// # Errors
///
/// When a law is broken.
pub fn openai_decode(bytes: &[u8]) -> Verdict {
    laws::decoded(Provider::OpenAi, bytes, chance(bytes))
}

/// Any bytes as a response of OpenAI Responses.
///
/// # Errors
///
/// When a law is broken.
pub fn responses_decode(bytes: &[u8]) -> Verdict {
    laws::decoded(Provider::OpenAiResponses, bytes, chance(bytes))
}

/// Any bytes as a response of Anthropic.
///
/// # Errors
///
/// When a law is broken.
pub fn anthropic_decode(bytes: &[u8]) -> Verdict {
    laws::decoded(Provider::Anthropic, bytes, chance(bytes))
}

/// Any bytes as a response of Gemini.
///
/// # Errors
///
/// When a law is broken.
pub fn gemini_decode(bytes: &[u8]) -> Verdict {
    laws::decoded(Provider::Gemini, bytes, chance(bytes))
}

/// Any bytes as a response of Ollama.
///
/// # Errors
///
/// When a law is broken.
pub fn ollama_decode(bytes: &[u8]) -> Verdict {
    laws::decoded(Provider::Ollama, bytes, chance(bytes))
}

/// Any bytes as what a model wrote for the arguments of a tool.
///
/// # Errors
///
/// When a law is broken.
#[cfg(feature = "agent")]
pub fn arguments(bytes: &[u8]) -> Verdict {
    let Ok(text) = std::str::from_utf8(bytes) else { return Ok(()) };
    laws::repaired(text)?;
    // Every place where it could break off is tried, so a long text takes long.
    if text.len() < 300 {
        laws::completed(text)?;
    }
    laws::arguments(text, chance(bytes))
}

/// Any bytes as a shell command.
///
/// # Errors
///
/// When a law is broken.
#[cfg(feature = "agent")]
pub fn shell(bytes: &[u8]) -> Verdict {
    let Ok(text) = std::str::from_utf8(bytes) else { return Ok(()) };
    laws::shell(text)
}
