//! Images, audio, video and files.

use pretty_assertions::assert_eq;
use recount_message::{Base64Source, DataBlock, LegacyMedia, Msg, UrlSource};
use recount_model::Provider;
use recount_model::format::{Formatter, Media};

use crate::check;

#[test]
fn required_media_lists_only_needed_bytes() {
    let places =
        ["https://example.com/a.png", "file:///a%20b.png", "recount-blob:sha256:00", "data:image/png;base64,cG5n"];
    let blocks = places.map(|place| DataBlock::new(UrlSource::unchecked(place, "image/png")));
    let blocks = blocks.into_iter().chain([DataBlock::new(UrlSource::unchecked(places[0], "image/png"))]);
    let messages = [Msg::user("Alice", blocks.map(Into::into).collect::<Vec<recount_message::MediaBlock>>())];
    let needed = |provider| {
        let wanted = Formatter::new(provider).required_media(&messages);
        wanted.into_iter().map(|wanted| wanted.url).collect::<Vec<_>>()
    };
    assert_eq!(needed(Provider::OpenAi), ["file:///a%20b.png", "recount-blob:sha256:00"]);
    assert_eq!(needed(Provider::Gemini), ["https://example.com/a.png", "file:///a%20b.png", "recount-blob:sha256:00"]);
    assert_eq!(needed(Provider::DeepSeek), [""; 0]);
}

#[test]
fn data_url_needs_no_fetch() {
    let block = DataBlock::new(UrlSource::unchecked("data:image/png;base64,cG5n", "image/png"));
    check(
        &Formatter::new(Provider::Ollama),
        &[Msg::user("Alice", block)],
        &[r#"{"role":"user","content":"","images":["cG5n"]}"#],
        &[],
    );
}

#[test]
fn file_is_found_by_url_and_path() {
    let messages = [Msg::user("Alice", DataBlock::from_path("/photos/my cat.png").unwrap())];
    for place in ["file:///photos/my%20cat.png", "/photos/my cat.png"] {
        let mut media = Media::new();
        media.insert(place, "png");
        let formatted = Formatter::new(Provider::Ollama).format(&messages, &media);
        assert_eq!(formatted.to_value().as_raw(), r#"[{"role":"user","content":"","images":["cG5n"]}]"#);
    }
}

#[test]
fn truncated_base64_adds_a_warning() {
    let block = DataBlock::new(Base64Source::from_base64("iVBORw0KG", "image/png")).with_id("p1");
    check(
        &Formatter::new(Provider::Ollama),
        &[Msg::user("Alice", ("Who is this?", block))],
        &[r#"{"role":"user","content":"Who is this?\n[image/png attached, could not be read]"}"#],
        &["p1: invalid base64 data; replaced by a text"],
    );
}

#[test]
fn unsupported_image_adds_a_warning() {
    let block = DataBlock::new(Base64Source::new("<svg/>", "image/svg+xml")).with_id("p1");
    check(
        &Formatter::new(Provider::Anthropic),
        &[Msg::user("Alice", block)],
        &[
            r#"{"role":"user","content":[{"type":"text","text":"[image/svg+xml attached, not supported by this provider]"}]}"#,
        ],
        &["p1: image/svg+xml is not supported by this provider; replaced by a text"],
    );
}

#[test]
fn oversized_image_adds_a_warning() {
    let block = DataBlock::new(Base64Source::new(vec![0; 4 * 1024 * 1024], "image/png")).with_id("p1");
    check(
        &Formatter::new(Provider::Anthropic),
        &[Msg::user("Alice", block)],
        &[r#"{"role":"user","content":[{"type":"text","text":"[image/png attached, too large for this provider]"}]}"#],
        &["p1: image/png is too large for this provider; replaced by a text"],
    );
}

#[test]
fn legacy_block_type_sets_media_type() {
    let url = DataBlock::new(UrlSource::unchecked("https://example.com/photo", "application/octet-stream"));
    let bytes = DataBlock::new(Base64Source::new(b"GIF89a", ""));
    let blocks = (url.into_legacy(LegacyMedia::Image), bytes.into_legacy(LegacyMedia::Image));
    check(
        &Formatter::new(Provider::DashScope),
        &[Msg::user("Alice", blocks)],
        &[
            r#"{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://example.com/photo"}},{"type":"image_url","image_url":{"url":"data:image/gif;base64,R0lGODlh"}}]}"#,
        ],
        &[],
    );
}

#[test]
fn assistant_image_moves_to_user_message() {
    let block = DataBlock::new(Base64Source::new("png", "image/png")).with_id("p1");
    check(
        &Formatter::new(Provider::OpenAiResponses),
        &[Msg::assistant("Friday", ("Here:", block))],
        &[
            r#"{"role":"assistant","content":[{"type":"output_text","text":"Here:"},{"type":"output_text","text":"<system-reminder>A(n) image file will be presented to you with the identifier [p1].</system-reminder>"}]}"#,
            r#"{"role":"user","content":[{"type":"input_text","text":"<system-reminder>The multimodal data and their identifiers are listed as follows:"},{"type":"input_text","text":"- p1 (image file): "},{"type":"input_image","image_url":"data:image/png;base64,cG5n"},{"type":"input_text","text":"</system-reminder>"}]}"#,
        ],
        &[],
    );
}
