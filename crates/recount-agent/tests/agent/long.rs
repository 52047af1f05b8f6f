//! Conversations that exceed the context window.

use pretty_assertions::assert_eq;
use recount_agent::middleware::{Middleware, Next, SummaryRequest};
use recount_agent::scripted::{Answer, Gate, RecordedRequest, ScriptedModel};
use recount_agent::tool::STRUCTURED_OUTPUT;
use recount_agent::{Agent, AgentBuilder, BoxFuture, Compression, Error, Failure, SavedAgent, Summary};
use recount_message::{
    AgentEvent, ContentBlock, ErrorType, EventKind, FinishedReason, Json, Msg, Object, ThinkingBlock, ToolResultBlock,
};

use recount_model::decode::{CallError, CallErrorKind};

use crate::support::{Kept, agent, drain, echo, elsewhere, folded, order, say};

/// A text of this many tokens, with four bytes each.
fn words(tokens: usize, of: &str) -> String {
    of.repeat(tokens * 4 / of.len())
}

fn summary(text: &str) -> String {
    let mut fields = Object::new();
    for field in ["task_overview", "current_state", "important_discoveries", "next_steps", "context_to_preserve"] {
        fields.insert(field, if field == "current_state" { text } else { "" });
    }
    fields.to_json()
}

/// A model that returns these summaries, one after another.
fn summariser(texts: &[&str]) -> ScriptedModel {
    texts.iter().fold(ScriptedModel::new().named("summariser"), |model, text| {
        model.calls(STRUCTURED_OUTPUT, summary(text)).tokens(90, 9).then()
    })
}

/// A conversation of five messages with a hundred tokens each.
fn talk() -> Vec<Msg> {
    let who = |index: usize, text: &str| {
        if index.is_multiple_of(2) { Msg::user("Alice", text) } else { Msg::assistant("Friday", text) }
    };
    let said = |index: usize| who(index, &words(100, &format!("word{index} "))).with_id(format!("m{index}"));
    (0..5).map(said).collect()
}

fn small(model: &ScriptedModel, by: &ScriptedModel) -> AgentBuilder {
    agent(model).conversation(talk()).compression(Compression::new(500).summary_model(by.clone()))
}

fn signals<'e>(events: &'e [AgentEvent], wanted: &str) -> Vec<&'e Object> {
    let custom = events.iter().filter_map(|event| match &event.kind {
        EventKind::Custom(custom) if custom.name == wanted => Some(&custom.value),
        _ => None,
    });
    custom.collect()
}

fn shown(asked: &RecordedRequest) -> Vec<String> {
    asked.messages.iter().map(Msg::text_or_empty).collect()
}

fn number(value: &Object, key: &str) -> Option<u64> {
    value.get(key).and_then(|number| number.as_raw().parse().ok())
}

#[tokio::test]
async fn oldest_messages_are_summarised_and_stay_in_the_conversation() {
    let (model, by) = (ScriptedModel::new().says("Hello."), summariser(&["They counted words."]));
    let before = talk();
    let agent = small(&model, &by).conversation(before.clone()).build().unwrap();
    let events = say(&agent, "Hi").await;

    assert_eq!(order(&events)[..3], ["REPLY_START", "recount.compressed", "MODEL_CALL_START"]);
    let signal = signals(&events, "recount.compressed");
    let [signal] = signal.as_slice() else { panic!("{signal:?}") };
    assert_eq!(signal.get("how").and_then(Json::as_str), Some("summary"));
    assert_eq!((number(signal, "window"), number(signal, "tokens")), (Some(500), Some(499)));
    assert!(signal.get("usage").is_some_and(|usage| usage.as_raw().contains("90")));

    // The summarised messages are left out, and the newest fifth is kept.
    let asked = model.requests().remove(0);
    let texts = shown(&asked);
    assert_eq!(texts.len(), 4, "{texts:#?}");
    assert!(texts[1].contains("They counted words.") && !texts[1].contains("word3"));
    assert!(texts[2].starts_with("word4") && texts[3] == "Hi");
    let question = by.requests().remove(0);
    assert!(question.messages[1].text_or_empty().contains("word3"));
    assert!(!question.messages[1].text_or_empty().contains("word4"));
    assert_eq!(question.tools, [STRUCTURED_OUTPUT]);

    // The conversation is unchanged, and the reply is the fold of its events.
    assert_eq!(agent.messages()[..5], before);
    assert_eq!(agent.messages()[6], folded(&events));
    assert_eq!(agent.messages()[6].usage(), None, "the usage of the summary is only reported by its signal");
}

#[tokio::test]
async fn summary_applies_after_resume() {
    let (model, by) = (ScriptedModel::new().says("Hello.").then().says("Again."), summariser(&["All of it."]));
    let here = small(&model, &by).build().unwrap();
    here.reply("Hi").await.unwrap();
    let saved = here.save().unwrap().to_json();

    let there = agent(&model)
        .stamps(elsewhere())
        .compression(Compression::new(500).summary_model(by.clone()))
        .resume(SavedAgent::from_json(&saved).unwrap())
        .build()
        .unwrap();
    let events = say(&there, "And now?").await;
    assert!(signals(&events, "recount.compressed").is_empty());
    let texts = shown(&model.requests()[1]);
    assert!(texts[1].contains("All of it.") && texts[2].starts_with("word4"), "{texts:#?}");
    assert_eq!(texts[3..], ["Hi", "Hello.", "And now?"]);
}

#[tokio::test]
async fn next_summary_includes_the_previous_one() {
    let (model, by) =
        (ScriptedModel::new().says("Hello.").then().says("Again."), summariser(&["First part.", "Both parts."]));
    let agent = small(&model, &by).build().unwrap();
    agent.reply("Hi").await.unwrap();
    agent.reply(words(300, "more ").as_str()).await.unwrap();
    let question = by.requests()[1].messages[1].text_or_empty();
    assert!(question.contains("First part.") && question.contains("word4") && !question.contains("word3"));
    let texts = shown(&model.requests()[1]);
    assert!(texts[1].contains("Both parts.") && !texts[1].contains("First part."), "{texts:#?}");
    assert!(texts[2].starts_with("more "), "what was asked last stays, however long it is");
}

#[tokio::test]
async fn long_reply_is_cut_between_rounds() {
    let model = (0..6)
        .fold(ScriptedModel::new(), |model, round| {
            model.thinks("hm").says(words(40, &format!("round{round} "))).calls("tool", "{}").then()
        })
        .says("Done.");
    let by = summariser(&["Some rounds.", "More rounds."]);
    let agent = agent(&model)
        .tool(echo("tool"))
        .compression(Compression::new(200).keep_ratio(0.3).summary_model(by.clone()))
        .build()
        .unwrap();
    let events = say(&agent, "Work.").await;
    assert!(!signals(&events, "recount.compressed").is_empty());
    let reply = folded(&events);
    assert_eq!(reply.finished_reason(), Some(FinishedReason::Completed));
    assert_eq!(reply.tool_pairs().filter(|(_, result)| result.is_some()).count(), 6);

    for asked in model.requests() {
        let blocks: Vec<&ContentBlock> = asked.messages.iter().flat_map(Msg::content).collect();
        let calls = blocks.iter().filter(|block| matches!(block, ContentBlock::ToolCall(_))).count();
        let results = blocks.iter().filter(|block| matches!(block, ContentBlock::ToolResult(_))).count();
        assert_eq!(calls, results, "a call and its result stay together");
        // A round starts with its thinking.
        let first = asked.messages.iter().find(|message| message.has::<ToolResultBlock>());
        assert!(first.is_none_or(|message| matches!(message.content()[0], ContentBlock::Thinking(_))));
    }
}

#[tokio::test]
async fn old_thinking_is_left_out_of_requests_only() {
    let mut before = talk();
    let thinking = [ThinkingBlock::new("a thought").into(), ContentBlock::from("So it is.")];
    before.push(Msg::assistant("Friday", thinking).with_id("thought"));
    let (model, by) = (ScriptedModel::new().says("Hello."), summariser(&["Words."]));
    let agent = small(&model, &by).conversation(before.clone()).build().unwrap();
    agent.reply("Hi").await.unwrap();
    let asked = model.requests().remove(0);
    assert!(!asked.messages.iter().any(Msg::has::<ThinkingBlock>));
    assert!(shown(&asked).contains(&"So it is.".to_owned()));
    assert_eq!(agent.messages()[..6], before);
}

#[tokio::test]
async fn oldest_messages_are_left_out_if_the_summary_fails() {
    let model = ScriptedModel::new().says("Hello.");
    let by = ScriptedModel::new().fails("too long").then().fails("still too long");
    let agent = small(&model, &by).build().unwrap();
    let events = say(&agent, "Hi").await;
    let signal = signals(&events, "recount.compressed")[0].clone();
    assert_eq!(signal.get("how").and_then(Json::as_str), Some("truncation"));
    assert_eq!(signal.get("error").and_then(Json::as_str), Some("too long"));
    let texts = shown(&model.requests()[0]);
    assert!(texts[1].contains("left out without a summary") && texts[2].starts_with("word4"), "{texts:#?}");
    // The summary was requested a second time with fewer messages.
    let asked = by.requests();
    assert_eq!(asked.len(), 2);
    let second = asked[1].messages[1].text_or_empty();
    assert!(!second.contains("word0") && second.contains("word3"));
}

#[tokio::test]
async fn fail_on_error_ends_the_reply_if_the_summary_fails() {
    let (model, by) = (ScriptedModel::new().says("Hello."), ScriptedModel::new());
    let strict = Compression::new(500).summary_model(by).fail_on_error();
    let agent = small(&model, &model).compression(strict).build().unwrap();
    let Err(Error::Failed { error, message }) = agent.reply("Hi").await else { panic!() };
    assert!(error.message.starts_with("the conversation cannot be summarised"), "{error:?}");
    assert_eq!(message.finished_reason(), Some(FinishedReason::Error));
    assert_eq!(agent.state().compressed, None);
}

#[tokio::test]
async fn plain_text_is_accepted_as_summary() {
    let (model, by) = (ScriptedModel::new().says("Hello."), ScriptedModel::new().says("In plain words."));
    let agent = small(&model, &by).build().unwrap();
    agent.reply("Hi").await.unwrap();
    assert!(shown(&model.requests()[0])[1].contains("In plain words."));
}

#[tokio::test]
async fn interrupt_during_the_summary_ends_the_reply() {
    let gate = Gate::new();
    let (model, by) = (ScriptedModel::new().says("Hello."), ScriptedModel::new().waits(&gate).says("Late."));
    let agent = small(&model, &by).build().unwrap();
    let stream = agent.reply_stream("Hi").unwrap();
    let other = agent.clone();
    let interrupt = async {
        gate.reached().await;
        assert!(other.interrupt());
    };
    let (events, ()) = tokio::join!(drain(stream), interrupt);
    assert_eq!(order(&events), ["REPLY_START", "REPLY_END interrupted"]);
    assert_eq!((agent.state().compressed, model.requests().len()), (None, 0));
}

#[tokio::test]
async fn provider_token_count_triggers_the_summary() {
    // By its length the conversation fits, but the provider counts more tokens.
    let model = ScriptedModel::new().says("Hello.").tokens(790, 5).then().says("Again.");
    let by = summariser(&["Words."]);
    let agent = small(&model, &by).compression(Compression::new(1_000).summary_model(by.clone())).build().unwrap();
    let first = say(&agent, "Hi").await;
    assert!(signals(&first, "recount.compressed").is_empty());
    let second = say(&agent, words(20, "more ").as_str()).await;
    let signal = signals(&second, "recount.compressed");
    assert_eq!(signal.len(), 1);
    assert!(number(signal[0], "tokens").unwrap() >= 800);
}

#[tokio::test]
async fn no_summary_if_the_system_prompt_alone_is_too_long() {
    // The system prompt alone is too long, so a summary does not help.
    let (model, by) = (ScriptedModel::new().says("Hello."), ScriptedModel::new());
    let agent = agent(&model)
        .system_prompt(words(900, "obey "))
        .compression(Compression::new(1_000).summary_model(by.clone()))
        .build()
        .unwrap();
    agent.reply("Hi").await.unwrap();
    assert!(by.requests().is_empty());
}

#[tokio::test]
async fn compression_none_never_summarises() {
    let model = ScriptedModel::new().says("Hello.");
    let agent = small(&model, &model).compression(None).build().unwrap();
    agent.reply("Hi").await.unwrap();
    assert_eq!(model.requests()[0].messages.len(), 7);
}

#[tokio::test]
async fn middleware_can_replace_the_summary() {
    struct Diary;
    impl Middleware for Diary {
        fn compress<'a>(&'a self, compress: SummaryRequest, _: Next<'a>) -> BoxFuture<'a, Result<Summary, Failure>> {
            Box::pin(async move { Ok(Summary::new(format!("{} messages are in the diary.", compress.messages.len()))) })
        }
    }
    let (model, by) = (ScriptedModel::new().says("Hello."), ScriptedModel::new());
    let agent = small(&model, &by).middleware(Diary).build().unwrap();
    agent.reply("Hi").await.unwrap();
    assert!(shown(&model.requests()[0])[1].contains("4 messages are in the diary."));
}

#[tokio::test]
async fn summary_is_persisted_with_its_event() {
    let kept = Kept::default();
    let (model, by) = (ScriptedModel::new().says("Hello."), summariser(&["Words."]));
    let agent: Agent = small(&model, &by).sink(kept.clone()).build().unwrap();
    agent.reply("Hi").await.unwrap();
    let entries = kept.0.lock().unwrap();
    let at = entries
        .iter()
        .position(|(event, _)| event.kind.recount_name().is_some_and(|name| name.as_str() == "recount.compressed"));
    let state = entries[at.unwrap()].1.clone().expect("the state comes along");
    assert!(state.compressed.is_some_and(|compressed| compressed.until.message_id == "m3"));
    // The round was not counted yet, so a crash here does not use up a round.
    assert_eq!(state.reply.unwrap().iteration, 0);
}

#[tokio::test]
async fn compress_requests_a_summary() {
    let (model, by) = (ScriptedModel::new().says("Hello.").then().says("Again."), summariser(&["They counted words."]));
    let agent = small(&model, &by).compression(Compression::new(100_000).summary_model(by.clone())).build().unwrap();
    agent.compress();
    let events = say(&agent, "Hi").await;
    assert_eq!(order(&events)[..3], ["REPLY_START", "recount.compressed", "MODEL_CALL_START"]);
    let signal = signals(&events, "recount.compressed")[0];
    assert_eq!(signal.get("because").and_then(Json::as_str), Some("wanted"));
    let texts = shown(&model.requests()[0]);
    assert!(texts.len() < 6 && texts[1].contains("They counted words."), "{texts:#?}");
    assert_eq!(folded(&events).text().as_deref(), Some("Hello."));
    // The request for a summary applies once.
    assert!(!order(&say(&agent, "Hi").await).contains(&"recount.compressed".to_owned()));
}

#[tokio::test]
async fn requested_summary_keeps_the_latest_user_message() {
    let (model, by) = (ScriptedModel::new().says("Hello."), summariser(&["A short summary."]));
    let agent = agent(&model).compression(Compression::new(100_000).summary_model(by.clone())).build().unwrap();
    agent.compress();
    let events = say(&agent, "Hi").await;
    assert!(signals(&events, "recount.compressed").is_empty());
    assert_eq!((shown(&model.requests()[0]).last().map(String::as_str), by.requests().len()), (Some("Hi"), 0));
}

#[tokio::test]
async fn failed_requested_summary_leaves_the_request_unchanged() {
    let (model, by) = (ScriptedModel::new().says("Hello."), ScriptedModel::new().fails("no").then().fails("no"));
    let agent =
        agent(&model).conversation(talk()).compression(Compression::new(100_000).summary_model(by)).build().unwrap();
    agent.compress();
    let events = say(&agent, "Hi").await;
    let signal = signals(&events, "recount.compressed")[0];
    assert_eq!(signal.get("how").and_then(Json::as_str), Some("nothing"));
    assert!(signal.get("error").is_some());
    // The system prompt, five messages, and the latest input.
    assert_eq!(model.requests()[0].messages.len(), 7);
    assert_eq!(agent.state().compressed, None);
}

fn too_long() -> Answer {
    let said = "400: prompt is too long: 208310 tokens > 200000 maximum";
    Answer::new().fail_with(CallError::new(CallErrorKind::Provider, ErrorType::InvalidRequest, said))
}

#[tokio::test]
async fn too_long_request_is_summarised_and_retried() {
    let (model, by) = (ScriptedModel::new().answer(too_long()).says("Hello."), summariser(&["They counted words."]));
    let agent = small(&model, &by).compression(Compression::new(100_000).summary_model(by.clone())).build().unwrap();
    let events = say(&agent, "Hi").await;
    let first = order(&events);
    assert_eq!(
        first[..6],
        [
            "REPLY_START",
            "MODEL_CALL_START",
            "MODEL_CALL_END interrupted",
            "recount.compressed",
            "recount.retry",
            "MODEL_CALL_START"
        ]
    );
    let signal = signals(&events, "recount.compressed")[0];
    assert_eq!(signal.get("because").and_then(Json::as_str), Some("refused"));
    let asked = model.requests();
    assert!(asked[1].messages.len() < asked[0].messages.len());
    assert_eq!(folded(&events).text().as_deref(), Some("Hello."));
}

#[tokio::test]
async fn still_too_long_request_fails_the_reply() {
    let model = ScriptedModel::new().answer(too_long()).answer(too_long()).says("Never.");
    let by = summariser(&["They counted words."]);
    let agent = small(&model, &by).compression(Compression::new(100_000).summary_model(by.clone())).build().unwrap();
    let Err(Error::Failed { error, .. }) = agent.reply("Hi").await else { panic!() };
    assert!(error.message.contains("too long"), "{}", error.message);
    assert_eq!(model.requests().len(), 2);
}
