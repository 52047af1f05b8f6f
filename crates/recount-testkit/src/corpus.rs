//! What the fuzz targets begin with: a few dozen small inputs each, one for every thing that there is.

use std::collections::BTreeMap;

use recount_dialect::Dialect;
use recount_message::{AgentEvent, Event, Fold};
use recount_model::Provider;

use crate::random::Random;
use crate::{fuzzing, illegal, json_text, legal, messages, responses};

/// The inputs for a target, each with a name. An unknown target has none.
pub fn seeds(target: &str) -> Vec<(String, Vec<u8>)> {
    match target {
        "event_decode" => events(),
        "message_decode" => documents(),
        "fold" => streams(),
        "json_scanner" => texts(),
        "dialect_java" => translations(Dialect::Java),
        "dialect_java1" => translations(Dialect::Java1),
        "dialect_typescript" => translations(Dialect::TypeScript),
        "openai_decode" => answers(Provider::OpenAi),
        "responses_decode" => answers(Provider::OpenAiResponses),
        "anthropic_decode" => answers(Provider::Anthropic),
        "gemini_decode" => answers(Provider::Gemini),
        "ollama_decode" => answers(Provider::Ollama),
        _ => Vec::new(),
    }
}

/// The names of all targets.
pub fn targets() -> impl Iterator<Item = &'static str> {
    fuzzing::TARGETS.into_iter().map(|(name, _)| name)
}

/// The shortest text for each name.
#[derive(Default)]
struct Shortest(BTreeMap<String, String>);

impl Shortest {
    fn offer(&mut self, name: &str, text: String) {
        let shortest = self.0.entry(name.to_owned()).or_insert_with(|| text.clone());
        if text.len() < shortest.len() {
            *shortest = text;
        }
    }

    fn into_files(self) -> Vec<(String, Vec<u8>)> {
        self.0.into_iter().map(|(name, text)| (name, text.into_bytes())).collect()
    }
}

/// Every type of event: one that says little, and one that carries something beside its fields.
fn events() -> Vec<(String, Vec<u8>)> {
    let mut shortest = Shortest::default();
    for event in (0..100).flat_map(|seed| legal(seed).into_iter().chain(illegal(seed))) {
        let own = event.kind.own_name().map(|name| format!("-{name}")).unwrap_or_default();
        let name = format!("{}{own}", if event.type_name().is_empty() { "unnamed" } else { event.type_name() });
        shortest.offer(&name, event.to_json());
        if event.metadata.contains_key("recount") {
            shortest.offer(&format!("{name}-carrying"), event.to_json());
        }
        if !event.extra.is_empty() {
            shortest.offer("unknown-fields", event.to_json());
        }
    }
    shortest.into_files()
}

/// Messages of every role with every first block, and checkpoints.
fn documents() -> Vec<(String, Vec<u8>)> {
    let mut shortest = Shortest::default();
    for message in (0..200).flat_map(messages) {
        let block = message.content().first().map(|block| block.type_name().into_owned());
        let block = block.filter(|name| !name.is_empty()).unwrap_or_else(|| "nothing".to_owned());
        shortest.offer(&format!("{}-{block}", message.role()), message.to_json());
    }
    for seed in 0..6 {
        let mut fold = Fold::new();
        fold.extend(legal(seed).iter().take(12));
        shortest.offer(&format!("checkpoint-{seed}"), fold.checkpoint().to_json());
    }
    shortest.into_files()
}

/// Streams of steps of every theme, and some as JSON.
fn streams() -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for theme in 0..8_u8 {
        for number in 0..4_u8 {
            let mut random = Random::new(u64::from(theme) * 4 + u64::from(number));
            let mut bytes = vec![theme];
            bytes.extend((0..96).map(|_| random.number() as u8));
            files.push((format!("steps-{theme}-{number}"), bytes));
        }
    }
    for seed in 0..6 {
        let lines: Vec<String> = legal(seed).iter().take(20).map(Event::to_json).collect();
        files.push((format!("legal-{seed}"), lines.join("\n").into_bytes()));
        let stream: Vec<AgentEvent> = illegal(seed);
        let lines: Vec<String> = stream.iter().take(20).map(Event::to_json).collect();
        files.push((format!("illegal-{seed}"), lines.join("\n").into_bytes()));
    }
    files
}

/// JSON, and what almost is.
fn texts() -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for seed in 0..24 {
        let mut random = Random::new(seed);
        let text = json_text::json_text(&mut random);
        let broken = json_text::mutated(&mut random, &text);
        files.push((format!("sound-{seed}"), text.into_bytes()));
        files.push((format!("broken-{seed}"), broken.into_bytes()));
    }
    for depth in [127, 128, 129, 136, 137] {
        files.push((format!("depth-{depth}"), json_text::nested(&mut Random::new(1), depth).into_bytes()));
    }
    files.into_iter().filter(|(_, text)| text.len() < 2_000).collect()
}

/// Messages, blocks, events and streams of a dialect.
fn translations(dialect: Dialect) -> Vec<(String, Vec<u8>)> {
    let mut shortest = Shortest::default();
    for message in (0..60).flat_map(messages) {
        shortest.offer(&format!("message-{}", message.role()), dialect.write_message(&message));
        for block in message.content() {
            let name = block.type_name();
            let name = if name.is_empty() { "unnamed".into() } else { name };
            shortest.offer(&format!("block-{name}"), dialect.write_block(block));
        }
    }
    for seed in 0..40 {
        let mut fold = Fold::new();
        let mut stream = String::new();
        for event in legal(seed).iter().take(20) {
            let name = if event.type_name().is_empty() { "unnamed" } else { event.type_name() };
            shortest.offer(&format!("event-{name}"), dialect.write_event(event));
            for frame in dialect.frames(&fold, event) {
                stream.push_str(&frame);
                stream.push('\n');
            }
            let _ = fold.apply(event);
        }
        shortest.offer(&format!("stream-{}", seed % 4), stream);
    }
    shortest.into_files()
}

/// Responses of a provider.
fn answers(provider: Provider) -> Vec<(String, Vec<u8>)> {
    let all = (0..60).map(|seed| (format!("response-{seed}"), responses::response(provider, seed)));
    all.filter(|(_, bytes)| bytes.len() < 2_000).take(30).collect()
}
