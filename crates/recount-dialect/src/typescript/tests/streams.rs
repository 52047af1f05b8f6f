//! Streams for readers that fold them with the package's own `appendEvent`.

use std::collections::{HashMap, HashSet};

use proptest::prelude::*;
use recount_message::{
    AgentEvent, ContentBlock, EventKind, FinishedReason, Fold, MediaBlock, Msg, Payload, Source, TextBlock,
    ToolCallBlock, ToolCallState,
};
use recount_testkit::strategies::{legal_streams, streams};
use serde_json::{Value, json};

use super::append_event::{append_event, assistant};
use super::*;

fn texts(fold: &Fold) -> Vec<String> {
    fold.messages().map(Msg::to_json).collect()
}

fn apply(fold: &mut Fold, frames: &[String]) {
    for frame in frames {
        let _ = fold.apply(&read_event(frame).unwrap());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases / 4, failure_persistence: None, ..ProptestConfig::default() })]

    /// A reader who joins at any point and parses all frames has the same messages.
    #[test]
    fn parsed_frames_fold_to_the_same_messages(stream in streams()) {
        let whole: Fold = stream.iter().collect();
        let all = frames_of(&stream);
        let mut before = Fold::new();
        for cut in 0..=stream.len() {
            let mut late = Fold::new();
            apply(&mut late, &prelude(&before));
            prop_assert_eq!(texts(&late), texts(&before), "after {} events", cut);
            all[cut..].iter().for_each(|frames| apply(&mut late, frames));
            prop_assert_eq!(texts(&late), texts(&whole), "joined after {} events", cut);
            if let Some(event) = stream.get(cut) {
                let _ = before.apply(event);
            }
        }
    }

    /// After the replies have ended, the package's fold shows the native messages.
    #[test]
    fn package_fold_matches_native_fold(stream in legal_streams(), cut: prop::sample::Index) {
        let whole: Fold = stream.iter().collect();
        let all = frames_of(&stream);
        let cut = cut.index(stream.len() + 1);
        let before: Fold = stream[..cut].iter().collect();
        let from_start: Vec<String> = all.concat();
        let joined: Vec<String> = prelude(&before).into_iter().chain(all[cut..].concat()).collect();
        let (from_start, joined) = (package(&from_start), package(&joined));
        let inexpressible = inexpressible(&stream);
        let comparable = |view: Value| without(&view, &inexpressible);
        for message in whole.messages().filter(|message| message.finished_at().is_some()) {
            let expected = value(&native_view(message).to_string());
            if let Some(package_message) = from_start.get(message.id()) {
                prop_assert_eq!(comparable(package_view(package_message)), comparable(expected.clone()), "from the start");
            }
            if let Some(package_message) = joined.get(message.id()) {
                prop_assert_eq!(comparable(package_view(package_message)), comparable(expected.clone()), "joined after {} events", cut);
            }
        }
    }
}

fn frames_of(stream: &[AgentEvent]) -> Vec<Vec<String>> {
    let mut before = Fold::new();
    let frames = stream.iter().map(|event| {
        let frames = frames(&before, event);
        let _ = before.apply(event);
        frames
    });
    frames.collect()
}

/// Returns the ids of blocks with changes that the package cannot receive: replaced text, arguments edited by the user, a
/// URL for a block that began as bytes or is not the last one, more data for an earlier item, the end of a result whose
/// call is not finished, and the approval of a call by a rule.
fn inexpressible(stream: &[AgentEvent]) -> HashSet<String> {
    let mut before = Fold::new();
    let mut inexpressible = HashSet::new();
    for event in stream {
        let message = event.reply_id().and_then(|id| before.message(id));
        match (&event.kind, message) {
            (EventKind::TextBlockEnd(kind), Some(message)) => {
                let is_it = |text: &&TextBlock| text.id == kind.block_id;
                let text = message.blocks::<TextBlock>().filter(is_it).last().map_or("", |text| &text.text);
                if kind.text.as_ref().is_some_and(|whole| !whole.starts_with(text)) {
                    inexpressible.insert(kind.block_id.to_string());
                }
            }
            (EventKind::UserConfirmResult(kind), Some(message)) => {
                let edits = kind.confirm_results.iter().map(|answer| &answer.tool_call);
                let is_edit =
                    |edit: &&ToolCallBlock| message.call(&edit.id).is_none_or(|call| call.input != edit.input);
                inexpressible.extend(edits.filter(is_edit).map(|edit| edit.id.clone()));
            }
            (EventKind::DataBlockDelta(kind), Some(message)) if kind.url.is_some() => {
                let is_fresh = message.content().last().is_some_and(|block| {
                    matches!(block, ContentBlock::Data(data) if source(&data.source)[1] == "")
                        && block.id() == kind.block_id
                });
                if !is_fresh {
                    inexpressible.insert(kind.block_id.to_string());
                }
            }
            (EventKind::ToolResultDataDelta(kind), Some(message)) => {
                let result = message.result_of(&kind.tool_call_id);
                let items = result.map_or(&[][..], |result| result.output.blocks());
                let is_it = |item: &&MediaBlock| matches!(item, MediaBlock::Data(data) if Some(data.id.as_str()) == kind.block_id.as_deref());
                if items.iter().rev().skip(1).any(|item| is_it(&item)) && !items.last().is_some_and(|last| is_it(&last))
                {
                    inexpressible.insert(kind.tool_call_id.to_string());
                }
            }
            _ => {}
        }
        let _ = before.apply(event);
    }
    let calls = before.messages().flat_map(Msg::blocks::<ToolCallBlock>);
    inexpressible.extend(calls.filter(|call| call.state != ToolCallState::Finished).map(|call| call.id.clone()));
    inexpressible
}

/// Removes the blocks with some ids.
fn without(view: &Value, ids: &HashSet<String>) -> Value {
    let is_expressible = |block: &&Value| {
        let id = block[0].as_str().unwrap_or_default();
        !ids.contains(id.split('~').next().unwrap_or_default())
    };
    json!([view[0], view[1], view[2].as_array().unwrap().iter().filter(is_expressible).collect::<Vec<_>>()])
}

/// Returns the messages that the package's fold makes of some frames.
fn package(frames: &[String]) -> HashMap<String, Value> {
    let mut messages: HashMap<String, Value> = HashMap::new();
    for frame in frames {
        let event = value(frame);
        let Some(id) = event["reply_id"].as_str() else { continue };
        if event["type"] == "REPLY_START" {
            messages.entry(id.to_owned()).or_insert_with(|| assistant(&event));
        } else if let Some(message) = messages.get_mut(id) {
            append_event(message, &event);
        }
    }
    messages
}

/// Returns the visible parts of a message.
fn native_view(message: &Msg) -> Value {
    let mut seen: HashMap<(String, String), usize> = HashMap::new();
    let blocks = message.content().iter().map(|block| {
        let mut id = block.id().to_owned();
        let mut typescript_id = |kind: &str| {
            let count = seen.entry((kind.to_owned(), id.clone())).or_default();
            *count += 1;
            let count = *count;
            // A complete block must not have the id of a result.
            if kind == "data" && seen.contains_key(&("result".to_owned(), id.clone())) {
                id.push_str("~data");
            }
            if count == 1 { id.clone() } else { format!("{id}~{count}") }
        };
        match block {
            ContentBlock::Text(text) => json!([typescript_id("text"), text.text, text.created_at, text.finished_at]),
            ContentBlock::Thinking(text) => {
                json!([typescript_id("thinking"), text.thinking, text.created_at, text.finished_at])
            }
            ContentBlock::Data(data) => {
                json!([typescript_id("data"), source(&data.source), data.name, data.created_at, data.finished_at])
            }
            ContentBlock::Hint(hint) => json!([hint.id, hint.source, hint.created_at, hint.finished_at]),
            ContentBlock::ToolCall(call) => {
                json!([
                    typescript_id("call"),
                    call.name,
                    call.input,
                    call.state.as_str(),
                    call.created_at,
                    call.finished_at
                ])
            }
            ContentBlock::ToolResult(result) => {
                let id = typescript_id("result");
                let output = match &result.output {
                    Payload::Text(text) => json!(text),
                    other => other.blocks().iter().map(item).collect(),
                };
                json!([id, result.name, output, result.state.as_str(), result.created_at, result.finished_at])
            }
            other => value(&other.to_json()),
        }
    });
    json!([message.finished_at(), message.finished_reason().map(FinishedReason::as_str), blocks.collect::<Value>()])
}

fn source(source: &Source) -> Value {
    match source {
        Source::Base64(source) => json!(["base64", source.data, Value::Null, source.media_type]),
        Source::Url(source) => json!(["url", Value::Null, source.url(), source.media_type]),
        other => json!(other.media_type()),
    }
}

fn package_source(source: &Value) -> Value {
    json!([source["type"], source["data"], source["url"], source["media_type"]])
}

fn item(item: &MediaBlock) -> Value {
    match item {
        MediaBlock::Text(text) => json!([text.text]),
        MediaBlock::Data(data) => json!([data.id, source(&data.source), data.created_at]),
        other => value(&ContentBlock::from(other.clone()).to_json()),
    }
}

fn package_view(package_message: &Value) -> Value {
    let item = |item: &Value| match item["type"].as_str() {
        Some("text") => json!([item["text"]]),
        Some("data") => json!([item["id"], package_source(&item["source"]), item["created_at"]]),
        _ => item.clone(),
    };
    let blocks = package_message["content"].as_array().unwrap().iter().map(|block| match block["type"].as_str() {
        Some("text") => json!([block["id"], block["text"], block["created_at"], block["finished_at"]]),
        Some("thinking") => json!([block["id"], block["thinking"], block["created_at"], block["finished_at"]]),
        Some("data") => json!([
            block["id"],
            package_source(&block["source"]),
            block["name"],
            block["created_at"],
            block["finished_at"]
        ]),
        Some("hint") => json!([block["id"], block["source"], block["created_at"], block["finished_at"]]),
        Some("tool_call") => json!([
            block["id"],
            block["name"],
            block["input"],
            block["state"],
            block["created_at"],
            block["finished_at"]
        ]),
        Some("tool_result") => {
            let output = match block["output"].as_array() {
                Some(items) => items.iter().map(item).collect(),
                None => block["output"].clone(),
            };
            json!([block["id"], block["name"], output, block["state"], block["created_at"], block["finished_at"]])
        }
        // The package ends every complete block.
        _ => {
            let mut block = block.clone();
            block.as_object_mut().unwrap().remove("finished_at");
            block
        }
    });
    json!([package_message["finished_at"], package_message["finished_reason"], blocks.collect::<Value>()])
}

/// Returns the frame types of the last event of a stream, and the content that the package then shows.
fn last_frames_and_content(stream: &str) -> (Vec<String>, Value) {
    let events: Vec<AgentEvent> =
        stream.lines().map(str::trim).filter(|line| !line.is_empty()).map(|line| event(line)).collect();
    let frames = frames_of(&events);
    let types = frames.last().unwrap().iter().map(|frame| value(frame)["type"].as_str().unwrap().to_owned()).collect();
    let message = package(&frames.concat()).remove("r").unwrap();
    (types, message["content"].clone())
}

fn event(line: &str) -> AgentEvent {
    Event::from_json(line).unwrap().into_owned()
}

const START: &str = r#"{"type":"REPLY_START","session_id":"s","reply_id":"r","name":"Friday","created_at":"t0"}"#;

#[test]
fn text_end_appends_missing_text() {
    let (types, content) = last_frames_and_content(&format!(
        r#"{START}
        {{"type":"TEXT_BLOCK_START","reply_id":"r","block_id":"b","created_at":"t1"}}
        {{"type":"TEXT_BLOCK_DELTA","reply_id":"r","block_id":"b","delta":"Hel"}}
        {{"type":"TEXT_BLOCK_END","reply_id":"r","block_id":"b","text":"Hello","created_at":"t2"}}"#
    ));
    assert_eq!(types, ["TEXT_BLOCK_DELTA", "TEXT_BLOCK_END"]);
    assert_eq!(content, json!([{"type":"text","id":"b","text":"Hello","created_at":"t1","finished_at":"t2"}]));
}

#[test]
fn data_at_url_is_shown() {
    let (types, content) = last_frames_and_content(&format!(
        r#"{START}
        {{"type":"DATA_BLOCK_START","reply_id":"r","block_id":"b","media_type":"image/png","name":"a.png","created_at":"t1"}}
        {{"type":"DATA_BLOCK_DELTA","reply_id":"r","block_id":"b","media_type":"image/png","url":"https://example.com/a.png","created_at":"t2"}}"#
    ));
    assert_eq!(types, ["EXTERNAL_EXECUTION_RESULT", "CUSTOM"]);
    let source = json!({"type":"url","url":"https://example.com/a.png","media_type":"image/png"});
    let block = json!({"type":"data","id":"b","source":source,"name":"a.png","created_at":"t1","finished_at":"t2"});
    assert_eq!(content, json!([block]));
}

#[test]
fn data_split_within_a_group_is_shown() {
    let (types, content) = last_frames_and_content(&format!(
        r#"{START}
        {{"type":"DATA_BLOCK_START","reply_id":"r","block_id":"b","media_type":"image/png","created_at":"t1"}}
        {{"type":"DATA_BLOCK_DELTA","reply_id":"r","block_id":"b","media_type":"image/png","data":"QUJDR"}}
        {{"type":"DATA_BLOCK_DELTA","reply_id":"r","block_id":"b","media_type":"image/png","data":"EVGRw"}}
        {{"type":"DATA_BLOCK_END","reply_id":"r","block_id":"b","created_at":"t2"}}"#
    ));
    assert_eq!(types, ["DATA_BLOCK_DELTA", "DATA_BLOCK_END"]);
    assert_eq!(content[0]["source"]["data"], "QUJDREVGRw==");
}

#[test]
fn repeated_call_id_gets_a_suffix() {
    let (types, content) = last_frames_and_content(&format!(
        r#"{START}
        {{"type":"TOOL_CALL_START","reply_id":"r","tool_call_id":"call_0","tool_call_name":"f"}}
        {{"type":"TOOL_CALL_END","reply_id":"r","tool_call_id":"call_0"}}
        {{"type":"TOOL_RESULT_START","reply_id":"r","tool_call_id":"call_0","tool_call_name":"f"}}
        {{"type":"TOOL_RESULT_END","reply_id":"r","tool_call_id":"call_0","state":"success"}}
        {{"type":"MODEL_CALL_START","reply_id":"r","model_name":"m"}}
        {{"type":"TOOL_CALL_START","reply_id":"r","tool_call_id":"call_0","tool_call_name":"f"}}
        {{"type":"TOOL_CALL_DELTA","reply_id":"r","tool_call_id":"call_0","delta":"{{}}"}}"#
    ));
    assert_eq!(types, ["TOOL_CALL_DELTA", "CUSTOM"]);
    assert_eq!(
        (&content[0]["input"], &content[2]["id"], &content[2]["input"]),
        (&json!(""), &json!("call_0~2"), &json!("{}"))
    );
}

/// The listed call contains its native id, so that the decision can be mapped back.
#[test]
fn decision_is_mapped_to_native_call_id() {
    let answer = r#"{"id":"1","created_at":"t","type":"USER_CONFIRM_RESULT","reply_id":"r","confirm_results":[{"confirmed":true,
        "tool_call":{"type":"tool_call","id":"call_0~2","name":"f","input":"{}","state":"asking","created_at":"t","recount":{"native":{"id":"call_0"}}}}]}"#;
    let EventKind::UserConfirmResult(kind) = read_event(answer).unwrap().kind else { panic!() };
    assert_eq!(kind.confirm_results[0].tool_call.id, "call_0");
}

#[test]
fn external_result_finishes_its_call() {
    let (types, content) = last_frames_and_content(&format!(
        r#"{START}
        {{"type":"TOOL_CALL_START","reply_id":"r","tool_call_id":"c","tool_call_name":"f"}}
        {{"type":"REQUIRE_EXTERNAL_EXECUTION","reply_id":"r","tool_calls":[{{"type":"tool_call","id":"c","name":"f","input":""}}]}}
        {{"type":"EXTERNAL_EXECUTION_RESULT","reply_id":"r","execution_results":[{{"type":"tool_result","id":"c","name":"f","output":"x","state":"success"}}],"created_at":"t1"}}"#
    ));
    assert_eq!(types, ["EXTERNAL_EXECUTION_RESULT", "TOOL_RESULT_END"]);
    assert_eq!((&content[0]["state"], &content[1]["output"]), (&json!("finished"), &json!("x")));
}

#[test]
fn reply_end_ends_open_blocks() {
    let (types, content) = last_frames_and_content(&format!(
        r#"{START}
        {{"type":"TEXT_BLOCK_START","reply_id":"r","block_id":"b"}}
        {{"type":"REPLY_END","session_id":"s","reply_id":"r","created_at":"t1"}}"#
    ));
    assert_eq!(types, ["TEXT_BLOCK_END", "REPLY_END"]);
    assert_eq!(content[0]["finished_at"], "t1");
}

/// The package's fold would apply events that the native fold ignores.
#[test]
fn ignored_events_have_no_frames() {
    for ignored in [
        r#"{"type":"TEXT_BLOCK_DELTA","reply_id":"r","block_id":"b","delta":"late"}"#,
        r#"{"type":"TEXT_BLOCK_START","reply_id":"other","block_id":"b"}"#,
        r#"{"type":"TOOL_RESULT_END","reply_id":"r","tool_call_id":"c","state":"success"}"#,
    ] {
        let (types, _) = last_frames_and_content(&format!(
            r#"{START}
            {{"type":"TEXT_BLOCK_START","reply_id":"r","block_id":"b"}}
            {{"type":"TEXT_BLOCK_END","reply_id":"r","block_id":"b"}}
            {{"type":"TOOL_CALL_START","reply_id":"r","tool_call_id":"c","tool_call_name":"f"}}
            {ignored}"#
        ));
        assert!(types.is_empty(), "{types:?}");
    }
}

/// Changes that none of the package's events can express.
#[test]
fn package_cannot_show_some_changes() {
    // Replaced text.
    let (_, content) = last_frames_and_content(&format!(
        r#"{START}
        {{"type":"TEXT_BLOCK_START","reply_id":"r","block_id":"b"}}
        {{"type":"TEXT_BLOCK_DELTA","reply_id":"r","block_id":"b","delta":"Hullo"}}
        {{"type":"TEXT_BLOCK_END","reply_id":"r","block_id":"b","text":"Hello"}}"#
    ));
    assert_eq!(content[0]["text"], "Hullo");

    // A call that a rule has allowed, and arguments that the user edited.
    let call = r#"{"type":"TOOL_CALL_START","reply_id":"r","tool_call_id":"c","tool_call_name":"f"}"#;
    let (_, content) = last_frames_and_content(&format!(
        r#"{START}
        {call}
        {{"type":"CUSTOM","name":"recount.call","value":{{"reply_id":"r","tool_call_id":"c","state":"allowed"}}}}"#
    ));
    assert_eq!(content[0]["state"], "pending");
    let (_, content) = last_frames_and_content(&format!(
        r#"{START}
        {call}
        {{"type":"REQUIRE_USER_CONFIRM","reply_id":"r","tool_calls":[{{"type":"tool_call","id":"c","name":"f","input":""}}]}}
        {{"type":"USER_CONFIRM_RESULT","reply_id":"r","confirm_results":[{{"confirmed":true,"tool_call":{{"type":"tool_call","id":"c","name":"f","input":"edited"}}}}]}}"#
    ));
    assert_eq!((&content[0]["state"], &content[0]["input"]), (&json!("allowed"), &json!("")));

    // A URL for data that began as bytes.
    let (_, content) = last_frames_and_content(&format!(
        r#"{START}
        {{"type":"DATA_BLOCK_START","reply_id":"r","block_id":"b","media_type":"image/png"}}
        {{"type":"DATA_BLOCK_DELTA","reply_id":"r","block_id":"b","media_type":"image/png","data":"QUJD"}}
        {{"type":"DATA_BLOCK_DELTA","reply_id":"r","block_id":"b","media_type":"image/png","url":"https://example.com/"}}"#
    ));
    assert_eq!(content[0]["source"]["data"], "QUJD");

    // A result that is ended by the end of the reply, if its call is not finished. Ending it would also finish the call.
    let (_, content) = last_frames_and_content(&format!(
        r#"{START}
        {call}
        {{"type":"TOOL_RESULT_START","reply_id":"r","tool_call_id":"c","tool_call_name":"f"}}
        {{"type":"REPLY_END","session_id":"s","reply_id":"r","created_at":"t1"}}"#
    ));
    assert_eq!((&content[0]["finished_at"], content[1].get("finished_at")), (&json!("t1"), None));
}
