//! The requests that are sent.

use http::{HeaderName, HeaderValue};
use pretty_assertions::assert_eq;
use recount_message::{Json, Msg};
use recount_model::Provider;
use recount_model::client::{CallOptions, Model};
use recount_model::format::{Formatter, Media, RequestOptions, StructuredMethod, Tool, ToolChoice, ToolMode};
use serde_json::Value;

use crate::server::{ReceivedRequest, ScriptedResponse, Server};
use crate::support::{KEY, call, call_with, chat, hello_response, model, model_without_server};

/// Calls a provider that responds with an error, and returns the request.
async fn sent_request(provider: Provider, options: &CallOptions) -> ReceivedRequest {
    let server = Server::start([ScriptedResponse::status(404, "{}")]).await;
    let messages = [Msg::system("system", "Be brief."), Msg::user("Alice", "Hello")];
    call_with(&model(provider, &server), &messages, options).await;
    server.only_request()
}

#[tokio::test]
async fn request_has_path_key_and_body_of_provider() {
    let bearer = ("authorization", format!("Bearer {KEY}"));
    for (provider, path, (header, key)) in [
        (Provider::OpenAi, "/chat/completions", bearer.clone()),
        (Provider::OpenAiResponses, "/responses", bearer.clone()),
        (Provider::Anthropic, "/v1/messages", ("x-api-key", KEY.to_owned())),
        (Provider::DashScope, "/chat/completions", bearer.clone()),
        (Provider::Gemini, "/v1beta/models/model-x:streamGenerateContent?alt=sse", ("x-goog-api-key", KEY.to_owned())),
        (Provider::Ollama, "/api/chat", bearer.clone()),
        (Provider::DeepSeek, "/chat/completions", bearer.clone()),
        (Provider::Moonshot, "/chat/completions", bearer.clone()),
        (Provider::Xai, "/chat/completions", bearer.clone()),
        (Provider::MiniMax, "/v1/messages", ("x-api-key", KEY.to_owned())),
        (Provider::Volcengine, "/chat/completions", bearer.clone()),
    ] {
        let request = sent_request(provider, &CallOptions::new()).await;
        assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", path));
        assert_eq!(request.headers.get(header), Some(&key), "{provider}");
        assert_eq!(request.headers["content-type"], "application/json");
        assert!(request.headers["user-agent"].starts_with("recount/"));
        assert!(!request.path.contains(KEY) && !request.body.contains(KEY));
        let messages = [Msg::system("system", "Be brief."), Msg::user("Alice", "Hello")];
        let expected =
            Formatter::new(provider).request(&messages, &Media::new(), &RequestOptions::new("model-x")).unwrap();
        assert_eq!(request.body, expected.body.as_raw());
    }
}

#[tokio::test]
async fn anthropic_request_has_version_header() {
    for provider in [Provider::Anthropic, Provider::MiniMax] {
        assert_eq!(sent_request(provider, &CallOptions::new()).await.headers["anthropic-version"], "2023-06-01");
    }
}

#[tokio::test]
async fn unstreamed_option_disables_streaming() {
    let request = sent_request(Provider::Gemini, &CallOptions::new().unstreamed()).await;
    assert_eq!(request.path, "/v1beta/models/model-x:generateContent");
    let request = sent_request(Provider::OpenAi, &CallOptions::new().unstreamed()).await;
    assert!(request.body.contains(r#""stream":false"#), "{}", request.body);
}

#[tokio::test]
async fn call_options_are_sent() {
    let schema = Json::parse(r#"{"type":"object","properties":{"n":{"type":"integer"}}}"#).unwrap();
    let options = CallOptions::new().tools([Tool::new("look")]).tool_choice(ToolChoice::named("look"));
    let request = sent_request(Provider::OpenAi, &options).await;
    assert!(
        request.body.contains(r#""tool_choice":{"type":"function","function":{"name":"look"}}"#),
        "{}",
        request.body
    );

    let native = sent_request(Provider::OpenAi, &CallOptions::new().structured(schema.clone())).await;
    assert!(native.body.contains(r#""response_format""#), "{}", native.body);
    let called = sent_request(Provider::Anthropic, &CallOptions::new().structured(schema.clone())).await;
    assert!(called.body.contains("generate_structured_output"), "{}", called.body);
    let request = CallOptions::new().structured_with(schema, StructuredMethod::ToolWithoutChoice);
    assert!(sent_request(Provider::OpenAi, &request).await.body.contains("generate_structured_output"));

    let cached = sent_request(Provider::Anthropic, &CallOptions::new().cache_key("s1")).await;
    assert!(cached.body.contains("cache_control"), "{}", cached.body);
}

#[tokio::test]
async fn unknown_tool_choice_sends_no_request() {
    let server = Server::start([ScriptedResponse::ok(hello_response())]).await;
    let options = CallOptions::new().tools([Tool::new("look")]).tool_choice(ToolChoice::named("other"));
    let result = call_with(&model(Provider::OpenAi, &server), &[Msg::user("Alice", "Hi")], &options).await;
    assert_eq!(result.error().1, "invalid_request");
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn model_settings_are_sent() {
    let server = Server::start([ScriptedResponse::ok(hello_response())]).await;
    let settings = RequestOptions::new("").max_tokens(77);
    call(&model(Provider::DeepSeek, &server).settings(settings)).await;
    let body = server.only_request().body;
    assert!(body.contains(r#""max_tokens":77"#) && body.contains(r#""model":"model-x""#), "{body}");
}

#[tokio::test]
async fn custom_headers_override_defaults() {
    let server = Server::start([ScriptedResponse::ok(hello_response())]).await;
    let model = model(Provider::OpenAi, &server)
        .header(HeaderName::from_static("api-key"), HeaderValue::from_static("of the proxy"))
        .header(HeaderName::from_static("authorization"), HeaderValue::from_static("Basic abc"));
    call(&model).await;
    let headers = server.only_request().headers;
    assert_eq!((headers["api-key"].as_str(), headers["authorization"].as_str()), ("of the proxy", "Basic abc"));
}

#[tokio::test]
async fn environment_sets_key_and_base_url() {
    let server = Server::start([ScriptedResponse::ok(hello_response())]).await;
    let url = server.url();
    let model = Model::with_environment(Provider::OpenAi, "model-x", |name| match name {
        "OPENAI_API_KEY" => Some(format!(" {KEY}\n")),
        "OPENAI_BASE_URL" => Some(format!("{url}/v9")),
        _ => None,
    });
    assert_eq!(call(&model).await.text(), "Hello");
    let request = server.only_request();
    assert_eq!(
        (request.path.as_str(), request.headers["authorization"].clone()),
        ("/v9/chat/completions", format!("Bearer {KEY}"))
    );
}

#[tokio::test]
async fn custom_base_url_needs_no_key() {
    let server = Server::start([ScriptedResponse::ok(hello_response())]).await;
    let model = model(Provider::OpenAi, &server).key("");
    assert_eq!(call(&model).await.text(), "Hello");
    assert!(!server.only_request().headers.contains_key("authorization"));
}

#[tokio::test]
async fn missing_key_error_names_variables() {
    let result = call(&model_without_server(Provider::Gemini).key("")).await;
    assert_eq!(result.error().1, "authentication");
    assert_eq!(result.error().2, "no API key for `gemini`: set GEMINI_API_KEY or GOOGLE_API_KEY");
    assert_eq!(result.outcome.requests, 0);
}

#[tokio::test]
async fn invalid_base_url_in_environment_fails_the_call() {
    let model = Model::with_environment(Provider::OpenAi, "model-x", |name| {
        (name == "OPENAI_BASE_URL").then(|| "nowhere".to_owned())
    });
    assert_eq!(call(&model).await.error().1, "setup");
}

#[tokio::test]
async fn prompt_mode_parses_calls_from_text() {
    let call = r#"<tool_call>{\"name\": \"look\", \"arguments\": {}}</tool_call>"#;
    let server = Server::start([ScriptedResponse::ok(chat(&[call]))]).await;
    let model = model(Provider::OpenAi, &server).tool_mode(ToolMode::Prompt);
    let options = CallOptions::new().tools([Tool::new("look")]);
    let result = call_with(&model, &[Msg::user("Alice", "Hi")], &options).await;
    assert_eq!(result.message.tool_pairs().count(), 1);
    assert!(!server.only_request().body.contains(r#""tools""#));
}

/// A structured output method that the provider rejects is replaced by the next one.
#[tokio::test]
async fn rejected_structured_output_is_retried_with_next_method() {
    let refused =
        r#"{"error":{"message":"response_format is not supported by this model","type":"invalid_request_error"}}"#;
    let server = Server::start([
        ScriptedResponse::status(400, refused),
        ScriptedResponse::status(400, refused),
        ScriptedResponse::ok(hello_response()),
    ])
    .await;
    let options = CallOptions::new().structured(Json::parse(r#"{"type":"object","properties":{}}"#).unwrap());
    let result = call_with(&model(Provider::OpenAi, &server), &[Msg::user("Alice", "Hello")], &options).await;
    assert_eq!((result.text().as_str(), result.outcome.requests), ("Hello", 3));
    let retries = result.event_summary().into_iter().filter(|event| event.starts_with("recount.retry")).count();
    assert_eq!(retries, 2);
    let bodies: Vec<Value> =
        server.requests().iter().map(|request| serde_json::from_str(&request.body).unwrap()).collect();
    assert!(bodies[0].get("response_format").is_some());
    assert_eq!(bodies[1]["tool_choice"]["function"]["name"], "generate_structured_output");
    assert_eq!(bodies[2]["tool_choice"], "auto");

    // A method chosen by the caller is the only one, and other errors are not retried.
    for (status, options) in [(400, CallOptions::new()), (404, options.clone())] {
        let server = Server::start([ScriptedResponse::status(status, refused)]).await;
        let result = call_with(&model(Provider::OpenAi, &server), &[Msg::user("Alice", "Hello")], &options).await;
        assert_eq!(result.outcome.requests, 1);
    }
}
