//! Interrupts, errors, retries and fallbacks, and the reply after each.

use pretty_assertions::assert_eq;
use recount_agent::Agent;
use recount_message::{AgentEvent, ErrorType, EventKind, FinishedReason, Msg};
use recount_model::Provider;
use recount_model::client::Retries;

use crate::server::{ScriptedResponse, Server};
use crate::support::{agent, body, model, read, recorded, story, streamed};

/// Returns a recorded response as a single incomplete chunk.
fn begin(provider: Provider, case: &str) -> Vec<u8> {
    let body = recorded(provider, case).into_bytes();
    // Up to the first text, because the end of a recorded stream marks its completion.
    let shown = body.len() * 2 / 3;
    body[..shown].to_vec()
}

fn is_text(event: &AgentEvent) -> bool {
    matches!(event.kind, EventKind::TextBlockDelta(_))
}

/// Requests another reply, and validates the request against the rules of the provider.
async fn next_turn(provider: Provider, agent: &Agent, server: &Server) -> Msg {
    let (_, message) = read(agent.reply_stream("And now?").unwrap(), |_| {}).await;
    assert_eq!(message.finished_reason(), Some(FinishedReason::Completed), "{provider}: {}", message.to_json());
    body(provider, server.requests().last().unwrap());
    message
}

#[tokio::test]
async fn interrupt_within_a_text_closes_the_connection() {
    for provider in Provider::ALL {
        let stuck = ScriptedResponse::stuck(begin(provider, "text/deltas"));
        let server = Server::start([stuck, streamed(provider, "text/deltas")]).await;
        let agent = agent(model(provider, &server)).build().unwrap();
        let stopping = agent.clone();
        let stop = move |event: &AgentEvent| {
            if is_text(event) {
                stopping.interrupt();
            }
        };
        let (events, message) = read(agent.reply_stream("Hello").unwrap(), stop).await;
        server.closed().await;
        assert_eq!(message.finished_reason(), Some(FinishedReason::Interrupted), "{provider}");
        assert_eq!(story(&events).last().unwrap(), "REPLY_END interrupted", "{provider}");
        next_turn(provider, &agent, &server).await;
        // The user has seen the text and may refer to it.
        let seen = message.text().unwrap();
        let request = body(provider, server.requests().last().unwrap()).to_string();
        assert!(!seen.is_empty() && request.contains(seen.trim()), "{provider}: {seen}: {request}");
    }
}

#[tokio::test]
async fn interrupt_within_the_arguments_closes_the_call() {
    for provider in [Provider::OpenAi, Provider::OpenAiResponses, Provider::Anthropic] {
        let stuck = ScriptedResponse::stuck(begin(provider, "tool/fragments"));
        let server = Server::start([stuck, streamed(provider, "text/deltas")]).await;
        let agent = agent(model(provider, &server)).build().unwrap();
        let stopping = agent.clone();
        let stop = move |event: &AgentEvent| {
            if matches!(event.kind, EventKind::ToolCallStart(_)) {
                stopping.interrupt();
            }
        };
        let (_, message) = read(agent.reply_stream("Hello").unwrap(), stop).await;
        server.closed().await;
        assert_eq!(message.finished_reason(), Some(FinishedReason::Interrupted), "{provider}");
        assert!(message.tool_pairs().count() == 1 && message.tool_pairs().all(|(_, result)| result.is_some()));
        next_turn(provider, &agent, &server).await;
    }
}

#[tokio::test]
async fn dropped_stream_ends_the_reply_and_closes_the_connection() {
    for provider in [Provider::OpenAi, Provider::Anthropic, Provider::Gemini] {
        let stuck = ScriptedResponse::stuck(begin(provider, "text/deltas"));
        let server = Server::start([stuck, streamed(provider, "text/deltas")]).await;
        let agent = agent(model(provider, &server)).build().unwrap();
        let mut stream = agent.reply_stream("Hello").unwrap();
        while let Some(event) = stream.next().await {
            if is_text(&event) {
                break;
            }
        }
        drop(stream);
        server.closed().await;
        let last = agent.messages().pop().unwrap();
        assert_eq!(last.finished_reason(), Some(FinishedReason::Interrupted), "{provider}");
        next_turn(provider, &agent, &server).await;
    }
}

#[tokio::test]
async fn rejected_request_is_retried() {
    let provider = Provider::OpenAi;
    let server = Server::start([ScriptedResponse::status(503, ""), streamed(provider, "text/deltas")]).await;
    let agent = agent(model(provider, &server)).build().unwrap();
    let (events, message) = read(agent.reply_stream("Hello").unwrap(), |_| {}).await;
    assert_eq!((message.text().as_deref(), server.requests().len()), (Some("One two"), 2));
    assert!(story(&events).contains(&"recount.retry".to_owned()), "{:?}", story(&events));
}

#[tokio::test]
async fn fallback_provider_is_called_after_a_failure() {
    let down = Server::start([ScriptedResponse::status(401, "")]).await;
    let up =
        Server::start([streamed(Provider::Anthropic, "tool/fragments"), streamed(Provider::Anthropic, "text/deltas")])
            .await;
    let agent = agent(model(Provider::OpenAi, &down)).fallback(model(Provider::Anthropic, &up)).build().unwrap();
    let (events, message) = read(agent.reply_stream("Hello").unwrap(), |_| {}).await;
    assert_eq!(message.finished_reason(), Some(FinishedReason::Completed), "{}", message.to_json());
    assert!(message.text().unwrap().ends_with("Hello"));
    assert!(story(&events).contains(&"recount.fallback".to_owned()), "{:?}", story(&events));
    up.requests().iter().for_each(|asked| drop(body(Provider::Anthropic, asked)));
}

#[tokio::test]
async fn broken_stream_is_retried_and_its_output_discarded() {
    for provider in [Provider::OpenAi, Provider::Anthropic, Provider::Gemini, Provider::Ollama] {
        let server =
            Server::start([ScriptedResponse::cut(begin(provider, "text/deltas")), streamed(provider, "text/deltas")])
                .await;
        let agent = agent(model(provider, &server).retries(Retries::none())).max_retries(1).build().unwrap();
        let (_, message) = read(agent.reply_stream("Hi").unwrap(), |_| {}).await;
        assert_eq!(message.finished_reason(), Some(FinishedReason::Completed), "{provider}: {}", message.to_json());
        let asked = server.requests();
        assert_eq!(asked.len(), 2, "{provider}");
        assert_eq!(body(provider, &asked[0]), body(provider, &asked[1]), "{provider} is asked the same");
    }
}

#[tokio::test]
async fn unavailable_provider_fails_the_reply() {
    for provider in Provider::ALL {
        let server = Server::start([ScriptedResponse::status(401, ""), streamed(provider, "text/deltas")]).await;
        let agent = agent(model(provider, &server)).build().unwrap();
        let (events, message) = read(agent.reply_stream("Hello").unwrap(), |_| {}).await;
        assert_eq!(story(&events).last().unwrap(), "REPLY_END error", "{provider}");
        assert_eq!(message.error().unwrap().kind, ErrorType::Authentication, "{provider}");
        next_turn(provider, &agent, &server).await;
    }
}
