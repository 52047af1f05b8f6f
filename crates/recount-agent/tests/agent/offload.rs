//! Offloading content that exceeds the limits of requests.

use pretty_assertions::assert_eq;
use recount_agent::scripted::ScriptedModel;
use recount_agent::tool::{FunctionTool, NoArguments};
use recount_agent::{Compression, Offload, SavedAgent};
use recount_message::{AgentEvent, DataBlock, EventKind, Json, Msg, Object};

use crate::support::{agent, elsewhere, folded, order, say};

fn shouter(name: &'static str) -> FunctionTool<NoArguments> {
    FunctionTool::new(name, "Is loud.", |_: NoArguments| async { Ok("loud ".repeat(100)) })
}

fn offloaded(events: &[AgentEvent]) -> Vec<Object> {
    let custom = events.iter().filter_map(|event| match &event.kind {
        EventKind::Custom(custom) if custom.name == "recount.offloaded" => Some(custom.value.clone()),
        _ => None,
    });
    custom.collect()
}

fn text(value: &Object, key: &str) -> Option<String> {
    value.get(key).and_then(Json::as_str).map(str::to_owned)
}

fn result_shown(model: &ScriptedModel, call: usize) -> String {
    let messages = &model.requests()[call].messages;
    messages.iter().find_map(|message| message.result_of("call_1")).unwrap().output.text().unwrap()
}

#[tokio::test]
async fn long_result_is_offloaded_and_its_path_sent() {
    let directory = tempfile::tempdir().unwrap();
    let model = ScriptedModel::new().calls("shout", "{}").then().says("Quiet now.").then().says("Yes.");
    let here = agent(&model)
        .tool(shouter("shout"))
        .tool_result_limit(20)
        .offload(Offload::to(directory.path().join("offload")))
        .build()
        .unwrap();
    let events = say(&here, "Shout.").await;
    assert!(!order(&events).contains(&"recount.truncated".to_owned()));
    let signals = offloaded(&events);
    assert_eq!(signals.len(), 1);
    assert_eq!(text(&signals[0], "kind").as_deref(), Some("tool_result"));
    assert_eq!(text(&signals[0], "block_id").as_deref(), Some("call_1"));
    let path = text(&signals[0], "path").unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "loud ".repeat(100));

    let shown = result_shown(&model, 1);
    assert!(shown.contains(&path) && shown.len() < 500 && shown.starts_with("loud loud"), "{shown}");
    assert_eq!(folded(&events).result_of("call_1").unwrap().output.text().unwrap(), "loud ".repeat(100));

    // Another process sends the same request, without a second signal.
    let saved = SavedAgent::from_json(&here.save().unwrap().to_json()).unwrap();
    let there = agent(&model)
        .stamps(elsewhere())
        .tool(shouter("shout"))
        .tool_result_limit(20)
        .offload(Offload::to(directory.path().join("offload")))
        .resume(saved)
        .build()
        .unwrap();
    let events = say(&there, "Really?").await;
    assert!(offloaded(&events).is_empty());
    assert_eq!(result_shown(&model, 2), shown);
}

#[tokio::test]
async fn failed_offload_is_signalled_and_the_reply_continues() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let model = ScriptedModel::new().calls("shout", "{}").then().says("Quiet now.");
    let agent = agent(&model)
        .tool(shouter("shout"))
        .tool_result_limit(20)
        // The path is a file, so no directory can be created.
        .offload(Offload::to(file.path()))
        .build()
        .unwrap();
    let events = say(&agent, "Shout.").await;
    let signals = offloaded(&events);
    assert_eq!(text(&signals[0], "path"), None);
    assert!(text(&signals[0], "error").is_some());
    assert!(result_shown(&model, 1).contains("Call the tool again with narrower arguments"));
}

#[tokio::test]
async fn requests_contain_only_the_newest_images() {
    let directory = tempfile::tempdir().unwrap();
    let model = ScriptedModel::new().says("Nice.").then().says("Very nice.");
    let image =
        |index: u8| DataBlock::from_bytes([b"GIF89a".as_slice(), &[index]].concat()).with_id(format!("i{index}"));
    let before = [
        Msg::user("Alice", [image(1).into(), image(2).into()]).with_id("m1"),
        Msg::user("Alice", [image(3).into(), "Look.".into()]).with_id("m2"),
    ];
    let here = agent(&model)
        .conversation(before.clone())
        .max_images(1)
        .offload(Offload::to(directory.path()))
        .build()
        .unwrap();
    let events = say(&here, "Well?").await;
    let signals = offloaded(&events);
    let ids: Vec<_> = signals.iter().map(|signal| text(signal, "block_id").unwrap()).collect();
    assert_eq!(ids, ["i1", "i2"]);
    let path = text(&signals[0], "path").unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"GIF89a\x01");

    let asked = model.requests().remove(0);
    let images = asked.messages.iter().flat_map(Msg::blocks::<DataBlock>).map(|image| image.id.clone());
    assert_eq!(images.collect::<Vec<_>>(), ["i3"]);
    assert!(asked.messages[1].text_or_empty().contains(&path));
    assert_eq!(here.messages()[..2], before);

    // Signalled once.
    assert!(offloaded(&say(&here, "And now?").await).is_empty());
}

#[tokio::test]
async fn summarised_messages_are_written_to_a_transcript() {
    let directory = tempfile::tempdir().unwrap();
    let (model, by) = (ScriptedModel::new().says("Hello."), ScriptedModel::new().says("It was long."));
    let agent = agent(&model)
        .conversation([Msg::user("Alice", "once ".repeat(200)).with_id("m1")])
        .compression(Compression::new(200).summary_model(by))
        .offload(Offload::to(directory.path()))
        .build()
        .unwrap();
    agent.reply("Hi").await.unwrap();
    let state = agent.state().compressed.unwrap();
    let [path] = state.transcript_files.as_slice() else { panic!("{state:?}") };
    let kept = std::fs::read_to_string(path).unwrap();
    assert!(kept.starts_with("## Alice (user)\nonce once"), "{kept}");
    assert!(model.requests()[0].messages[1].text_or_empty().contains(path));
}
