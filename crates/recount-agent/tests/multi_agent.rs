//! Several agents in one conversation.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::sync::{Arc, Mutex};

use pretty_assertions::assert_eq;
use recount_agent::multi_agent::{Hub, HubError, fanout_pipeline, sequential_pipeline};
use recount_agent::scripted::ScriptedModel;
use recount_agent::tool::{FunctionTool, NoArguments};
use recount_agent::{Agent, AgentBuilder, AgentState, BoxFuture, Error, Sink, SinkError};
use recount_message::{AgentEvent, ConfirmResult, EventKind, Fold, Msg, UserConfirmResultEvent};
use recount_model::Provider;
use recount_model::format::{Formatter, Media, MultiAgent};

/// A log that several agents share.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<AgentEvent>>>);

impl Sink for Log {
    fn append(&mut self, event: &AgentEvent, _: Option<&AgentState>) -> Result<(), SinkError> {
        self.0.lock().unwrap().push(event.clone());
        Ok(())
    }

    fn commit(&mut self) -> BoxFuture<'static, Result<(), SinkError>> {
        Box::pin(async { Ok(()) })
    }
}

impl Log {
    fn events(&self) -> Vec<AgentEvent> {
        self.0.lock().unwrap().clone()
    }

    /// Returns the agents that have joined (`+`) and left (`-`).
    fn members(&self) -> Vec<String> {
        let reported = self.events().into_iter().filter_map(|event| match event.kind {
            EventKind::Custom(custom) if custom.name == "recount.agent" => Some(custom.value),
            _ => None,
        });
        let sign = |joined: bool| if joined { "+" } else { "-" };
        let reported = reported.map(|value| {
            let joined = value.get("joined").unwrap().as_bool().unwrap();
            format!("{}{}", sign(joined), value.get("name").unwrap().as_str().unwrap())
        });
        reported.collect()
    }
}

fn member(name: &str, model: &ScriptedModel) -> AgentBuilder {
    Agent::builder(name).model(model.clone()).runtime_state(None)
}

fn said(messages: &[Msg]) -> Vec<String> {
    messages.iter().map(|message| format!("{}: {}", message.name(), message.text_or_empty())).collect()
}

#[tokio::test]
async fn hub_members_receive_each_others_messages() {
    let of_a = ScriptedModel::new().thinks("hm").says("View A").then().says("Then I agree.");
    let of_b = ScriptedModel::new().says("View B");
    let (log_a, log_b) = (Log::default(), Log::default());
    let a = member("AgentA", &of_a).sink(log_a.clone()).build().unwrap();
    let b = member("AgentB", &of_b).sink(log_b.clone()).build().unwrap();
    let hub = Hub::new();
    hub.join(&a).unwrap();
    hub.join(&b).unwrap();
    assert!(matches!(hub.join(&a), Err(HubError::DuplicateName { .. })));
    hub.broadcast([Msg::user("Alice", "Well?")]).unwrap();
    hub.reply("AgentA", ()).await.unwrap();
    hub.reply("AgentB", ()).await.unwrap();
    assert_eq!(said(&of_b.requests()[0].messages), ["Alice: Well?", "AgentA: View A"]);
    hub.reply("AgentA", ()).await.unwrap();
    assert_eq!(said(&of_a.requests()[1].messages), ["Alice: Well?", "AgentA: View A", "AgentB: View B"]);
    let both = ["Alice: Well?", "AgentA: View A", "AgentB: View B", "AgentA: Then I agree."];
    assert_eq!(said(&a.messages()), both);
    assert_eq!(said(&b.messages()), both);

    // Every member has the whole conversation in its own log, without the thinking of the others.
    let fold: Fold = log_b.events().iter().collect();
    assert_eq!(said(&fold.messages().cloned().collect::<Vec<_>>()), both);
    assert!(!b.messages().iter().any(Msg::has::<recount_message::ThinkingBlock>));

    assert!(hub.leave("AgentB"));
    assert!(!hub.leave("AgentB"));
    assert_eq!(hub.names(), ["AgentA"]);
    let Err(HubError::UnknownAgent { members, .. }) = hub.reply("AgentB", ()).await else { panic!() };
    assert_eq!(members, ["AgentA"]);
    assert_eq!(log_a.members(), ["+AgentA", "+AgentB", "-AgentB"]);
    assert_eq!(log_b.members(), ["+AgentB", "-AgentB"]);
}

#[tokio::test]
async fn shared_log_records_each_message_once() {
    let log = Log::default();
    let of_a = ScriptedModel::new().says("View A");
    let of_b = ScriptedModel::new().says("View B");
    let a = member("AgentA", &of_a).session_id("s1").sink(log.clone()).build().unwrap();
    let b = member("AgentB", &of_b).session_id("s1").sink(log.clone()).build().unwrap();
    let hub = Hub::new().with_shared_log();
    hub.join(&a).unwrap();
    hub.join(&b).unwrap();
    hub.broadcast([Msg::user("Alice", "Well?")]).unwrap();
    hub.reply("AgentA", ()).await.unwrap();
    hub.reply("AgentB", ()).await.unwrap();
    let mut fold = Fold::new();
    for event in log.events() {
        assert_eq!(fold.apply(&event).reason(), None, "{}", event.to_json());
    }
    let all = ["Alice: Well?", "AgentA: View A", "AgentB: View B"];
    assert_eq!(said(&fold.messages().cloned().collect::<Vec<_>>()), all);
    assert_eq!(
        (said(&a.messages()), said(&b.messages())),
        (all.map(str::to_owned).to_vec(), all.map(str::to_owned).to_vec())
    );
    assert_eq!(log.members(), ["+AgentA", "+AgentB"]);
}

#[tokio::test]
async fn waiting_member_is_broadcast_after_its_reply_ends() {
    let of_a = ScriptedModel::new().calls_as("c1", "launch", "{}").then().says("Launched.");
    let launch = FunctionTool::new("launch", "Launches.", |_: NoArguments| async { Ok("liftoff") });
    let a = member("AgentA", &of_a).tool(launch).build().unwrap();
    let b = member("AgentB", &ScriptedModel::new()).build().unwrap();
    let hub = Hub::new();
    hub.join(&a).unwrap();
    hub.join(&b).unwrap();
    let waiting = hub.reply("AgentA", "Launch.").await.unwrap();
    assert!(b.messages().is_empty());
    let yes = ConfirmResult::allow(waiting.call("c1").unwrap().clone());
    hub.reply("AgentA", UserConfirmResultEvent::new(waiting.id().to_owned(), [yes])).await.unwrap();
    assert_eq!(said(&b.messages()), ["AgentA: Launched."]);
}

#[tokio::test]
async fn requests_of_all_providers_name_the_speakers() {
    let of_a = ScriptedModel::new().says("View A").then().says("Then I agree.");
    let of_b = ScriptedModel::new().says("View B");
    let a = member("AgentA", &of_a).system_prompt("You are AgentA.").build().unwrap();
    let b = member("AgentB", &of_b).build().unwrap();
    let hub = Hub::new();
    hub.join(&a).unwrap();
    hub.join(&b).unwrap();
    hub.broadcast([Msg::user("Alice", "Well?")]).unwrap();
    for name in ["AgentA", "AgentB", "AgentA"] {
        hub.reply(name, ()).await.unwrap();
    }
    let shown = of_a.requests().pop().unwrap().messages;
    for provider in Provider::ALL {
        let formatter = Formatter::new(provider).multi_agent(MultiAgent::History);
        let request = formatter.format(&shown, &Media::new()).to_value();
        // Each name precedes the message of its speaker.
        let mut rest = request.as_raw();
        for word in ["Alice", "Well?", "AgentA", "View A", "AgentB", "View B"] {
            let Some((_, after)) = rest.split_once(word) else {
                panic!("{provider}: {word} is missing in {request:?}")
            };
            rest = after;
        }
    }
}

#[tokio::test]
async fn sequential_pipeline_passes_output_to_the_next_agent() {
    let of_writer = ScriptedModel::new().thinks("hm").says("Es regnet.");
    let of_translator = ScriptedModel::new().says("It rains.");
    let agents = [member("Writer", &of_writer).build().unwrap(), member("Translator", &of_translator).build().unwrap()];
    let message = sequential_pipeline(&agents, "How is the weather?").await.unwrap();
    assert_eq!(said(&[message]), ["Translator: It rains."]);
    assert_eq!(said(&of_translator.requests()[0].messages), ["Writer: Es regnet."]);

    let failing = [member("A", &ScriptedModel::new()).build().unwrap(), agents[1].clone()];
    assert!(matches!(sequential_pipeline(&failing, "Hi").await, Err(Error::Failed { .. })));
    assert!(matches!(sequential_pipeline(&[], "Hi").await, Err(Error::Rejected(_))));
}

#[tokio::test]
async fn fanout_pipeline_returns_results_in_agent_order() {
    let gate = recount_agent::scripted::Gate::new();
    // The first agent finishes after the second one.
    let first = member("First", &ScriptedModel::new().waits(&gate).says("one")).build().unwrap();
    let second = member("Second", &ScriptedModel::new().says("two")).build().unwrap();
    let agents = [first, second.clone()];
    let opened = async {
        gate.reached().await;
        while second.messages().len() < 2 {
            tokio::task::yield_now().await;
        }
        gate.open();
    };
    let (answers, ()) = tokio::join!(fanout_pipeline(&agents, "Count."), opened);
    let messages: Vec<Msg> = answers.into_iter().map(Result::unwrap).collect();
    assert_eq!(said(&messages), ["First: one", "Second: two"]);
}
