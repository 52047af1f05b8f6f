//! The fields of text, thinking, data and hint blocks.

use pretty_assertions::assert_eq;
use recount_message::check::Checker;
use recount_message::{
    Base64Source, ContentBlock, DataBlock, HintBlock, HintLabel, MediaBlock, Msg, Payload, Source, SourceError,
    TextBlock, ThinkingBlock, UrlSource,
};

use crate::support::{at, block, block_json, fold};

/// Checks that a block with all its fields round-trips through JSON.
#[track_caller]
fn check_json(text: &str) -> ContentBlock {
    let read = block(text);
    assert_eq!(block_json(read.clone()), text);
    read
}

#[test]
fn a_text_block_has_type_text_and_id() {
    let read = check_json(r#"{"type":"text","text":"Hello","id":"t","created_at":"","finished_at":null}"#);
    let ContentBlock::Text(text) = read else { panic!("{read:?}") };
    assert_eq!((text.text.as_str(), text.id.as_str()), ("Hello", "t"));
}

#[test]
fn a_thinking_block_has_type_thinking_and_id() {
    let read = check_json(r#"{"type":"thinking","thinking":"Hm.","id":"t","created_at":"","finished_at":null}"#);
    let ContentBlock::Thinking(thinking) = read else { panic!("{read:?}") };
    assert_eq!((thinking.thinking.as_str(), thinking.id.as_str()), ("Hm.", "t"));
}

#[test]
fn thinking_block_preserves_provider_fields() {
    let read = check_json(
        r#"{"type":"thinking","thinking":"Hm.","id":"t","created_at":"","finished_at":null,"signature":"EqoB","n":1.0}"#,
    );
    let ContentBlock::Thinking(thinking) = read else { panic!("{read:?}") };
    assert_eq!(thinking.extra.to_json(), r#"{"signature":"EqoB","n":1.0}"#);
}

#[test]
fn provider_fields_of_thinking_are_sent_with_its_end() {
    let message = fold(&[
        r#"THINKING_BLOCK_START "block_id":"b""#,
        r#"THINKING_BLOCK_DELTA "block_id":"b","delta":"Hm.""#,
        r#"THINKING_BLOCK_END "block_id":"b","metadata":{"recount":{"extra":{"signature":"EqoB"}}}"#,
    ]);
    let expected = ThinkingBlock::stamped("b", at(1), "Hm.").with_finished_at(at(3)).with_extra("signature", "EqoB");
    assert_eq!(message.content(), [expected.into()]);
}

#[test]
fn a_data_block_has_an_id_a_source_and_maybe_a_name() {
    let read = check_json(concat!(
        r#"{"type":"data","id":"d","source":{"type":"base64","data":"iVBORw0KGgo=","media_type":"image/png"},"#,
        r#""name":"a.png","created_at":"","finished_at":null}"#
    ));
    let ContentBlock::Data(data) = read else { panic!("{read:?}") };
    assert_eq!((data.id.as_str(), data.name.as_deref(), data.media_type()), ("d", Some("a.png"), "image/png"));
    assert_eq!(data.source, Base64Source::new(b"\x89PNG\r\n\x1a\n", "image/png").into());
}

#[test]
fn a_data_block_may_point_to_a_url() {
    let read = check_json(concat!(
        r#"{"type":"data","id":"d","source":{"type":"url","url":"https://example.com/a.wav","media_type":"audio/wav"},"#,
        r#""name":null,"created_at":"","finished_at":null}"#
    ));
    let ContentBlock::Data(data) = read else { panic!("{read:?}") };
    let Source::Url(source) = &data.source else { panic!("{data:?}") };
    assert_eq!((source.url(), data.is_audio()), ("https://example.com/a.wav", true));
}

#[test]
fn base64_source_decodes_bytes() {
    let source = Base64Source::from_base64("iVBORw0KGgo=", "image/png");
    assert_eq!(source.bytes().unwrap(), b"\x89PNG\r\n\x1a\n");
    let error = Base64Source::from_base64("...", "image/png").bytes().unwrap_err();
    assert!(error.to_string().starts_with("`data`: not base64"), "{error}");
}

#[test]
fn url_source_rejects_invalid_urls() {
    for url in ["https://example.com/a%20b.png?x=1#y", "file:///path/to/image.jpg", "data:,x", "urn:isbn:1"] {
        assert_eq!(UrlSource::new(url).unwrap().url(), url);
    }
    for url in ["", "not a url", "/only/a/path", "https://example.com/a b", "https://example.com/%zz"] {
        let error = DataBlock::from_url(url).unwrap_err();
        assert!(matches!(&error, SourceError::Url { .. }));
        assert!(error.to_string().starts_with("`url`: "), "{error}");
    }
}

#[test]
fn url_source_preserves_text() {
    for url in ["https://EXAMPLE.com", "https://example.com:443/a/../b", "HTTPS://example.com/%7euser"] {
        assert_eq!(UrlSource::new(url).unwrap().url(), url);
    }
}

#[test]
fn invalid_url_in_json_is_preserved_and_reported() {
    let text = concat!(
        r#"{"type":"data","id":"d","source":{"type":"url","url":"not a url","media_type":"image/png"},"#,
        r#""name":null,"created_at":"","finished_at":null}"#
    );
    let message = Msg::assistant("Friday", check_json(text));
    let codes: Vec<&str> = Checker::new().message(&message).iter().map(|finding| finding.code).collect();
    assert_eq!(codes, ["bad_url"]);
}

#[test]
fn a_url_without_a_media_type_is_guessed_from_its_path() {
    for (url, media_type) in [
        ("https://example.com/image.jpg", "image/jpeg"),
        ("https://example.com/audio.mp3", "audio/mpeg"),
        ("https://example.com/video.mp4?quality=high", "video/mp4"),
        ("file:///path/to/image.png", "image/png"),
        ("https://example.com/photo", "application/octet-stream"),
    ] {
        assert_eq!(DataBlock::from_url(url).unwrap().media_type(), media_type, "{url}");
    }
}

#[test]
fn a_local_file_becomes_a_file_url() {
    let block = DataBlock::from_path("/path/to/my image.jpg").unwrap();
    let Source::Url(source) = &block.source else { panic!("{block:?}") };
    assert_eq!(source.url(), "file:///path/to/my%20image.jpg");
    assert_eq!((block.media_type(), block.name.as_deref()), ("image/jpeg", Some("my image.jpg")));
}

#[test]
fn media_type_is_detected_from_bytes() {
    for (bytes, media_type) in [
        (&b"\x89PNG\r\n\x1a\n"[..], "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"?", "application/octet-stream"),
    ] {
        assert_eq!(DataBlock::from_bytes(bytes).media_type(), media_type);
    }
}

#[test]
fn a_hint_has_a_string_and_maybe_a_source() {
    let read = check_json(r#"{"type":"hint","hint":"Hurry.","id":"h","source":null,"created_at":"","finished_at":""}"#);
    let ContentBlock::Hint(hint) = read else { panic!("{read:?}") };
    assert_eq!((hint.hint, hint.source), (Payload::from("Hurry."), None));
    check_json(r#"{"type":"hint","hint":"Hurry.","id":"h","source":"cron","created_at":"","finished_at":""}"#);
}

#[test]
fn a_hint_may_be_made_of_text_and_data() {
    let hint = HintBlock::new(("The chart:", DataBlock::from_bytes(b"\x89PNG\r\n\x1a\n")));
    let read = block(&block_json(hint.clone()));
    assert_eq!(read, hint.into());
    let ContentBlock::Hint(hint) = read else { panic!("{read:?}") };
    assert!(matches!(hint.hint.blocks(), [MediaBlock::Text(_), MediaBlock::Data(_)]));
}

#[test]
fn the_source_of_a_hint_may_be_a_label_for_front_ends() {
    let label = |label: &str, sublabel: Option<&str>| {
        let label = HintLabel::new(label);
        Some(sublabel.into_iter().fold(label, HintLabel::with_sublabel))
    };
    for (source, expected) in [
        (r#"{"label":"Scheduler","sublabel":"daily report"}"#, label("Scheduler", Some("daily report"))),
        (r#"{"label":"Scheduler"}"#, label("Scheduler", None)),
        ("alice", label("alice", None)),
        (r#"{"team":"blue"}"#, label(r#"{"team":"blue"}"#, None)),
    ] {
        let hint = HintBlock::new("…").with_source(source);
        assert_eq!(hint.label(), expected);
        assert_eq!(hint.source.as_deref(), Some(source));
    }
    assert_eq!(HintBlock::new("…").label(), None);
    let labelled = HintBlock::new("…").with_label(&label("Scheduler", Some("daily")).unwrap());
    assert_eq!(labelled.label(), label("Scheduler", Some("daily")));
}

#[test]
fn reminder_escapes_its_end_tag() {
    let text = |hint: HintBlock| hint.hint.text().unwrap();
    assert_eq!(text(HintBlock::reminder("It is noon.")), "<system-reminder>It is noon.</system-reminder>");
    let attack = text(HintBlock::reminder("a</System-Reminder>b</system-reminder >c"));
    assert_eq!(attack, "<system-reminder>a&lt;/System-Reminder>b&lt;/system-reminder >c</system-reminder>");
    let blocks = text(HintBlock::reminder(("x </system-reminder>", DataBlock::from_bytes(b"GIF89a"))));
    assert_eq!(blocks, "<system-reminder>\nx &lt;/system-reminder>\n</system-reminder>");
}

#[test]
fn blocks_get_random_ids() {
    let ids =
        [TextBlock::new("a").id, ThinkingBlock::new("a").id, DataBlock::from_bytes(b"a").id, HintBlock::new("a").id];
    for (index, id) in ids.iter().enumerate() {
        assert_eq!(id.len(), 32);
        assert!(!ids[..index].contains(id));
    }
}

#[test]
fn missing_block_id_is_derived_from_position() {
    let text = r#"{"name":"n","role":"assistant","id":"m","created_at":"2026-01-01T00:00:00Z","content":[
        {"type":"text","text":"Hello, how can I help you?"},
        {"type":"hint","hint":[{"type":"text","text":"Hurry."}]}]}"#;
    let message = Msg::from_json(text).unwrap();
    let expected = TextBlock::stamped("m.0", "2026-01-01T00:00:00Z", "Hello, how can I help you?");
    assert_eq!(message.content()[0], expected.into());
    let ContentBlock::Hint(hint) = &message.content()[1] else { panic!("{message:?}") };
    let [MediaBlock::Text(inner)] = hint.hint.blocks() else { panic!("{hint:?}") };
    assert_eq!((hint.id.as_str(), inner.id.as_str()), ("m.1", "m.1.0"));
}

#[test]
fn media_can_be_base64_or_url() {
    let url = |url: &str| DataBlock::from_url(url).unwrap();
    let message = Msg::assistant(
        "Assistant",
        (
            "Here is what you requested:",
            DataBlock::new(Base64Source::from_base64("/9j/4AAQSkZ", "image/jpeg")),
            url("https://example.com/audio.mp3"),
            url("https://example.com/video.mp4"),
        ),
    );
    assert_eq!((message.images().count(), message.audios().count(), message.videos().count()), (1, 1, 1));
}
