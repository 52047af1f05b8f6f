//! Streamed data.

use pretty_assertions::assert_eq;
use recount_message::{Base64Source, DataBlock, MediaBlock, Msg, Outcome, Reason, Source, ToolResultBlock, UrlSource};
use serde_json::json;

use crate::support::{at, content, first, fold, fold_to_last};

const START: &str = r#"DATA_BLOCK_START "block_id":"d","media_type":"image/png""#;
const CALL: &str = r#"TOOL_CALL_START "tool_call_id":"c","tool_call_name":"plot""#;
const RESULT: &str = r#"TOOL_RESULT_START "tool_call_id":"c","tool_call_name":"plot""#;

fn delta(data: &str) -> String {
    format!(r#"DATA_BLOCK_DELTA "block_id":"d","media_type":"image/png","data":"{data}""#)
}

fn item(block_id: &str, source: &str) -> String {
    format!(r#"TOOL_RESULT_DATA_DELTA "tool_call_id":"c","block_id":"{block_id}","media_type":"image/png",{source}"#)
}

/// Compares the bytes of joined pieces.
#[track_caller]
fn check_pieces(pieces: &[&str], expected: &[u8]) {
    let mut lines = vec![START.to_owned()];
    lines.extend(pieces.iter().map(|piece| delta(piece)));
    let message = fold(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    let Source::Base64(source) = &first::<DataBlock>(&message).source else { panic!("{message:?}") };
    assert_eq!(source.bytes().unwrap(), expected, "{pieces:?}");
}

fn items(message: &Msg) -> Vec<(&str, &Source)> {
    let output = first::<ToolResultBlock>(message).output.blocks().iter();
    output
        .map(|item| match item {
            MediaBlock::Data(data) => (data.id.as_str(), &data.source),
            other => panic!("{other:?}"),
        })
        .collect()
}

#[test]
fn a_data_start_appends_an_empty_block() {
    assert_eq!(
        content(&fold(&[r#"DATA_BLOCK_START "block_id":"d","media_type":"image/png","name":"chart.png""#])),
        json!([{
            "type": "data",
            "id": "d",
            "source": {"type": "base64", "data": "", "media_type": "image/png"},
            "name": "chart.png",
            "created_at": at(1),
            "finished_at": null,
        }])
    );
}

#[test]
fn data_pieces_split_anywhere_are_joined() {
    for cut in 0..="AAECAwQFBgc=".len() {
        let (before, after) = "AAECAwQFBgc=".split_at(cut);
        check_pieces(&[before, after], &[0, 1, 2, 3, 4, 5, 6, 7]);
    }
    check_pieces(&["A", "A", "E", "C"], &[0, 1, 2]);
}

#[test]
fn complete_data_pieces_are_joined_as_bytes() {
    check_pieces(&["AAECAw==", "BAU=", "Bgc="], &[0, 1, 2, 3, 4, 5, 6, 7]);
}

#[test]
fn a_data_block_keeps_the_media_type_of_its_start() {
    let message = fold(&[START, r#"DATA_BLOCK_DELTA "block_id":"d","media_type":"image/jpeg","data":"AAEC""#]);
    assert_eq!(first::<DataBlock>(&message).media_type(), "image/png");
}

#[test]
fn url_replaces_data() {
    let message =
        fold(&[START, r#"DATA_BLOCK_DELTA "block_id":"d","media_type":"image/jpeg","url":"https://a.b/c.jpg""#]);
    assert_eq!(first::<DataBlock>(&message).source, UrlSource::unchecked("https://a.b/c.jpg", "image/jpeg").into());
}

#[test]
fn invalid_base64_is_reported_without_effect() {
    for bad in ["AA AA", "-_-_", "é", "AAEC===="] {
        let (message, outcome) = fold_to_last(&[START, &delta("AAEC"), &delta(bad)]);
        assert!(
            matches!(&outcome, Outcome::Ignored(Reason::BadData { block_id, .. }) if block_id == "d"),
            "{bad}: {outcome:?}"
        );
        assert_eq!(message, fold(&[START, &delta("AAEC")]));
    }
}

#[test]
fn the_data_of_a_result_is_appended_under_a_new_id() {
    let message = fold(&[CALL, RESULT, &item("i1", r#""data":"AAEC""#), &item("i2", r#""url":"https://a.b/c.png""#)]);
    let (bytes, url) = (
        Base64Source::new([0, 1, 2], "image/png").into(),
        UrlSource::unchecked("https://a.b/c.png", "image/png").into(),
    );
    assert_eq!(items(&message), [("i1", &bytes), ("i2", &url)]);
}

#[test]
fn result_data_with_known_id_is_continued() {
    let message = fold(&[
        CALL,
        RESULT,
        &item("i1", r#""data":"AAE""#),
        &item("i2", r#""data":"BAUG""#),
        &item("i1", r#""data":"C""#),
    ]);
    let (one, two) =
        (Base64Source::new([0, 1, 2], "image/png").into(), Base64Source::new([4, 5, 6], "image/png").into());
    assert_eq!(items(&message), [("i1", &one), ("i2", &two)]);
}

#[test]
fn result_text_and_data_keep_their_order() {
    let text = |delta: &str| format!(r#"TOOL_RESULT_TEXT_DELTA "tool_call_id":"c","delta":"{delta}""#);
    let message = fold(&[CALL, RESULT, &text("a"), &text("b"), &item("i", r#""data":"AAEC""#), &text("c")]);
    let output = content(&message)[1]["output"].take();
    let kinds: Vec<(&str, &str)> = output
        .as_array()
        .unwrap()
        .iter()
        .map(|item| (item["type"].as_str().unwrap(), item["id"].as_str().unwrap()))
        .collect();
    assert_eq!(kinds, [("text", "c.0"), ("data", "i"), ("text", "c.2")]);
    assert_eq!(first::<ToolResultBlock>(&message).output.text().as_deref(), Some("ab\nc"));
}

#[test]
fn the_data_of_a_result_may_have_a_name() {
    let named = item("i", r#""data":"AAEC","metadata":{"recount":{"name":"chart.png"}}"#);
    let message = fold(&[CALL, RESULT, &named]);
    let [MediaBlock::Data(data)] = first::<ToolResultBlock>(&message).output.blocks() else { panic!("{message:?}") };
    assert_eq!(data.name.as_deref(), Some("chart.png"));
}

#[test]
fn url_host_is_not_a_file_extension() {
    let block = DataBlock::from_url("https://example.com/").unwrap();
    assert_eq!(block.media_type(), "application/octet-stream");
}
