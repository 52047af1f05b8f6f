//! Generator of texts, names, URLs and times from samples.

use crate::random::Random;

/// The fragments of generated texts, with characters that are difficult for codecs.
const FRAGMENTS: &[&str] = &[
    "Hello, world",
    "the quick brown fox ",
    " ",
    "\n",
    "\r\n\t",
    "\u{8}\u{c}\u{b}",
    "\u{0}",
    "\u{1}\u{1f}\u{7f}",
    "\"quoted\"",
    "back\\slash",
    "\\u0041 \\n",
    "a/b",
    "</script>",
    "\u{2028}\u{2029}",
    "\u{85}\u{a0}",
    "\u{feff}",
    "\u{fffd}\u{ffff}",
    "\u{d7ff}\u{e000}",
    "\u{10ffff}",
    "naïve café",
    "e\u{301}\u{323}",
    "日本語",
    "한국어",
    "שלום مرحبا",
    "\u{202e}txt.exe",
    "🌍",
    "👩‍👩‍👧‍👦",
    "🏳️‍🌈🇩🇪",
    "{\"a\":[1,2",
    "null",
    "data: x\n\n",
    "eight by",
    "seven b",
    "nine byte",
];

const NAMES: &[&str] = &["Friday", "Alice", "Bob 🌍", "agent-1", "Zoë", "研究员", "a\"b", ""];
const TOOLS: &[&str] = &["get_weather", "shell", "read_file", "search", "Müller's \"tool\""];
const MEDIA_TYPES: &[&str] = &["image/png", "audio/mpeg", "video/mp4", "text/plain; charset=utf-8", "application/pdf"];
const URLS: &[&str] = &[
    "https://example.com/image.png",
    "https://example.com/a%20b.png?x=1&y=2#z",
    "http://localhost:8080/",
    "file:///tmp/report.pdf",
    "https://例え.jp/絵",
    "data:text/plain,hello",
    "recount-blob:sha256:0123abcd",
];
const MODELS: &[&str] = &["gpt-5", "claude-4", "qwen-max", "model \"x\"\n"];

/// Generates a text, which may be empty.
pub fn text(random: &mut Random) -> String {
    (0..random.below(5)).map(|_| random.pick(FRAGMENTS)).collect()
}

/// Splits a text into pieces at random character boundaries. Pieces may be empty.
pub fn pieces(random: &mut Random, text: &str) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    let mut cuts: Vec<usize> = (0..random.below(5)).map(|_| random.below(characters.len() + 1)).collect();
    cuts.extend([0, characters.len()]);
    cuts.sort_unstable();
    cuts.windows(2).map(|cut| characters[cut[0]..cut[1]].iter().collect()).collect()
}

/// Generates the name of a sender.
pub fn name(random: &mut Random) -> String {
    random.pick(NAMES).to_owned()
}

/// Generates the name of a tool.
pub fn tool(random: &mut Random) -> String {
    random.pick(TOOLS).to_owned()
}

/// Generates the name of a model.
pub fn model(random: &mut Random) -> String {
    random.pick(MODELS).to_owned()
}

/// Generates a media type.
pub fn media_type(random: &mut Random) -> String {
    random.pick(MEDIA_TYPES).to_owned()
}

/// Generates a URL.
pub fn url(random: &mut Random) -> String {
    random.pick(URLS).to_owned()
}

/// Generates a time in one of the formats in use.
pub fn time(random: &mut Random) -> String {
    let (minute, micro) = (random.below(60), random.below(1_000_000));
    match random.below(10) {
        0 => format!("2026-11-15T19:{minute:02}:53.{micro:06}"),
        1 => format!("2026-11-15T19:{minute:02}:53Z"),
        2 => format!("2026-11-15 19:{minute:02}:53.{:03}", micro / 1_000),
        3 => String::new(),
        _ => format!("2026-11-15T19:{minute:02}:53.{micro:06}+00:00"),
    }
}
