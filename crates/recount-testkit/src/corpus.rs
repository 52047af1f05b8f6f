//! The initial corpora of the fuzz targets: a few dozen small inputs each, one for each feature.

use std::collections::BTreeMap;

use recount_dialect::Dialect;
use recount_message::{AgentEvent, Event, Fold};
use recount_model::Provider;

use crate::random::Random;
use crate::{fuzzing, illegal, json_text, legal, messages, responses};

/// Returns the named inputs of a target. Empty for an unknown target.
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
        "arguments" => arguments(),
        "shell" => commands(),
        _ => Vec::new(),
    }
}

/// Returns the names of all targets.
pub fn targets() -> impl Iterator<Item = &'static str> {
    fuzzing::TARGETS.iter().map(|(name, _)| *name)
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

/// Events of every type, with and without carried values.
fn events() -> Vec<(String, Vec<u8>)> {
    let mut shortest = Shortest::default();
    for event in (0..100).flat_map(|seed| legal(seed).into_iter().chain(illegal(seed))) {
        let own = event.kind.recount_name().map(|name| format!("-{name}")).unwrap_or_default();
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

/// Messages of every role and type of the first block, and checkpoints.
fn documents() -> Vec<(String, Vec<u8>)> {
    let mut shortest = Shortest::default();
    for message in (0..200).flat_map(messages) {
        let block = message.content().first().map(|block| block.type_name().to_owned());
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

/// Streams of steps with every event mix, and some streams as JSON lines.
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

/// Valid and invalid JSON.
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
            let name = if name.is_empty() { "unnamed" } else { name };
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

/// Shell commands: literal lists, and one text for each construct that can hide another command.
fn commands() -> Vec<(String, Vec<u8>)> {
    let texts = [
        ("plain", "ls -la src"),
        ("literal", "cargo test 2>&1 | tail -n 5 && git commit -m 'a; b' || echo \"it's\""),
        ("discarded", "a >/dev/null 2> /dev/null; b &>/dev/null; >/dev/null c"),
        ("descriptors", "a 12>/dev/null; b 2'' >/dev/null; c 2 >/dev/null; d2>/dev/null"),
        ("elsewhere", "cd sub && ./run"),
        ("hidden", "a 'b\u{202e}c' \u{a0}d"),
        ("list", "a; b & c && d || e | f"),
        ("subshell", "(a; { b; })"),
        ("substitution", "echo $(a \"$(b)\") `c`"),
        ("process", "diff <(a) >(b)"),
        ("here-document", "cat <<E\n$(a) `b` ${x:-$(c)}\nE\nd"),
        ("quoted-here-document", "cat <<'E'\n$(a)\nE\n"),
        ("tabs", "cat <<-E\n\ta\n\tE\n"),
        ("here-string", "cat <<< \"$(a)\""),
        ("quotes", "r\\m 'a'\\''b' \"c $d\" $'e\\'f'"),
        ("branches", "if a; then b; elif c; then d; else e; fi"),
        ("loops", "for x in 1 2; do a; done; while b; do c; done"),
        ("case", "case $x in (a|b) c;; *) d;; esac"),
        ("function", "f() { a; }; function g { b; }; f"),
        ("condition", "[[ -f a && b == $(c) ]]"),
        ("arithmetic", "echo $((1 + 2)) $((x))"),
        ("variables", "PATH=x A=1 a; b=2; export LD_PRELOAD=c"),
        ("redirections", "a > b 2>&1 >> c &> d < e >&2"),
        ("eval", "eval 'a; b' c"),
        ("shell", "bash -c 'a; sh -c \"b\"'"),
        ("wrappers", "sudo -u x env A=b timeout -s KILL 5 nice a"),
        ("find", "find . -name '*.rs' -exec a {} + -delete"),
        ("xargs", "ls | xargs -0 -I{} a {}"),
        ("trap", "trap 'a' EXIT"),
        ("comment", "a # b\nc#d"),
        ("continued", "a\\\nb \\\n c"),
        ("unclear", "$X a | sh"),
        ("braces", "{a,b} {} a{1..3}"),
        ("globs", "ls *.rs /bin/r? [a-z]"),
        ("edits", "mkdir -p a && sed -i 's/a/b/g' c > d"),
        ("git", "git -c x=y log; git log --output=z"),
        ("reading", "cd src && cat a | head -5 && git status"),
    ];
    texts.into_iter().map(|(name, text)| (name.to_owned(), text.as_bytes().to_vec())).collect()
}

/// Tool arguments of models: valid JSON, and one text for each kind of error.
fn arguments() -> Vec<(String, Vec<u8>)> {
    let texts = [
        ("json", r#"{"a": 1, "b": 25.0, "é": true}"#),
        ("blank", " "),
        ("string", r#""{\"a\": 1}""#),
        ("array", "[1,2]"),
        ("words", "this is not json"),
        ("cut-in-string", r#"{"a": "x\ud83c"#),
        ("cut-in-number", r#"{"a": 12."#),
        ("cut-in-word", r#"{"a": [1, fal"#),
        ("cut-in-key", r#"{"a": {}, "b"#),
        ("fence", "```json\n{\"a\": 1}\n```"),
        ("words-after", r#"{"a": 1} and so on"#),
        ("two-objects", r#"{"a": 1}{"a": 2}"#),
        ("python", "{'a': True, 'b': None, 'c': 'it\\'s'}"),
        ("javascript", "{a: 1, /* two */ b: .5, // three\n c: [1, 2,],}"),
        ("escapes", r#"{"a": "\d \u12 \ud83c"}"#),
        ("line-break", "{\"a\": \"x\ny\"}"),
        ("quotes", "{\u{201c}a\u{201d}: \u{201c}b\u{201d}}"),
        ("repeated-key", r#"{"a": 1, "a": "2"}"#),
        ("number-in-string", r#"{"a": "42", "b": "-1.5e3"}"#),
        ("boolean-in-string", r#"{"a": "true", "é": "False"}"#),
        ("string-wanted", r#"{"a": 12345678901234567890123, "b": true}"#),
        ("list-wanted", r#"{"a": "1", "b": "null"}"#),
        ("list-in-string", r#"{"a": "[1, \"2\"]"}"#),
        ("object-in-string", r#"{"a": "{\"a\": \"true\", \"b\": {\"a\": false}}"}"#),
        ("null", r#"{"a": null, "b": null}"#),
        ("enum", r#"{"a": "1", "b": "2"}"#),
        ("large-number", r#"{"a": 1e400}"#),
        ("deep", "{\"a\":{\"a\":{\"a\":{\"a\":[[[[{\"a\":"),
    ];
    texts.into_iter().map(|(name, text)| (name.to_owned(), text.as_bytes().to_vec())).collect()
}
