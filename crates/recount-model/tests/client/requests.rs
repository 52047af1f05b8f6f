//! What is sent.

use http::{HeaderName, HeaderValue};
use pretty_assertions::assert_eq;
use recount_message::{Json, Msg};
use recount_model::Provider;
use recount_model::client::{CallOptions, Model};
use recount_model::format::{Formatter, Media, RequestOptions, StructuredMethod, Tool, ToolChoice, ToolMode};
use serde_json::Value;

use crate::asking::{KEY, ask, ask_with, bare, chat, hello, model};
use crate::server::{Answer, Asked, Server};

/// Asks a provider that answers with nothing of use, and gives the request.
async fn request(provider: Provider, options: &CallOptions) -> Asked {
    let server = Server::start([Answer::status(404, "{}")]).await;
    let messages = [Msg::system("system", "Be brief."), Msg::user("Alice", "Hello")];
    ask_with(&model(provider, &server), &messages, options).await;
    server.only()
}

#[tokio::test]
async fn each_provider_gets_its_path_its_key_and_its_body() {
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
        let asked = request(provider, &CallOptions::new()).await;
        assert_eq!((asked.method.as_str(), asked.path.as_str()), ("POST", path));
        assert_eq!(asked.headers.get(header), Some(&key), "{provider}");
        assert_eq!(asked.headers["content-type"], "application/json");
        assert!(asked.headers["user-agent"].starts_with("recount/"));
        assert!(!asked.path.contains(KEY) && !asked.body.contains(KEY));
        let messages = [Msg::system("system", "Be brief."), Msg::user("Alice", "Hello")];
        let expected =
            Formatter::new(provider).request(&messages, &Media::new(), &RequestOptions::new("model-x")).unwrap();
        assert_eq!(asked.body, expected.body.as_str());
    }
}

#[tokio::test]
async fn anthropic_is_told_the_version() {
    for provider in [Provider::Anthropic, Provider::MiniMax] {
        assert_eq!(request(provider, &CallOptions::new()).await.headers["anthropic-version"], "2023-06-01");
    }
}

#[tokio::test]
async fn an_answer_in_one_piece_is_asked_for_as_such() {
    let asked = request(Provider::Gemini, &CallOptions::new().unstreamed()).await;
    assert_eq!(asked.path, "/v1beta/models/model-x:generateContent");
    let asked = request(Provider::OpenAi, &CallOptions::new().unstreamed()).await;
    assert!(asked.body.contains(r#""stream":false"#), "{}", asked.body);
}

#[tokio::test]
async fn tools_choice_and_form_are_passed_on() {
    let schema = Json::parse(r#"{"type":"object","properties":{"n":{"type":"integer"}}}"#).unwrap();
    let options = CallOptions::new().tools([Tool::new("look")]).tool_choice(ToolChoice::named("look"));
    let asked = request(Provider::OpenAi, &options).await;
    assert!(asked.body.contains(r#""tool_choice":{"type":"function","function":{"name":"look"}}"#), "{}", asked.body);

    let native = request(Provider::OpenAi, &CallOptions::new().structured(schema.clone())).await;
    assert!(native.body.contains(r#""response_format""#), "{}", native.body);
    let called = request(Provider::Anthropic, &CallOptions::new().structured(schema.clone())).await;
    assert!(called.body.contains("generate_structured_output"), "{}", called.body);
    let asked = CallOptions::new().structured_with(schema, StructuredMethod::ToolWithoutChoice);
    assert!(request(Provider::OpenAi, &asked).await.body.contains("generate_structured_output"));

    let cached = request(Provider::Anthropic, &CallOptions::new().cache_key("s1")).await;
    assert!(cached.body.contains("cache_control"), "{}", cached.body);
}

#[tokio::test]
async fn a_choice_of_a_tool_that_is_not_there_is_not_sent() {
    let server = Server::start([Answer::ok(hello())]).await;
    let options = CallOptions::new().tools([Tool::new("look")]).tool_choice(ToolChoice::named("other"));
    let answered = ask_with(&model(Provider::OpenAi, &server), &[Msg::user("Alice", "Hi")], &options).await;
    assert_eq!(answered.error().1, "invalid_request");
    assert!(server.asked().is_empty());
}

#[tokio::test]
async fn settings_belong_to_the_model() {
    let server = Server::start([Answer::ok(hello())]).await;
    let settings = RequestOptions::new("").max_tokens(77);
    ask(&model(Provider::DeepSeek, &server).settings(settings)).await;
    let body = server.only().body;
    assert!(body.contains(r#""max_tokens":77"#) && body.contains(r#""model":"model-x""#), "{body}");
}

#[tokio::test]
async fn headers_of_ones_own_win() {
    let server = Server::start([Answer::ok(hello())]).await;
    let model = model(Provider::OpenAi, &server)
        .header(HeaderName::from_static("api-key"), HeaderValue::from_static("of the proxy"))
        .header(HeaderName::from_static("authorization"), HeaderValue::from_static("Basic abc"));
    ask(&model).await;
    let headers = server.only().headers;
    assert_eq!((headers["api-key"].as_str(), headers["authorization"].as_str()), ("of the proxy", "Basic abc"));
}

#[tokio::test]
async fn the_environment_has_key_and_address() {
    let server = Server::start([Answer::ok(hello())]).await;
    let url = server.url();
    let model = Model::with_environment(Provider::OpenAi, "model-x", |name| match name {
        "OPENAI_API_KEY" => Some(format!(" {KEY}\n")),
        "OPENAI_BASE_URL" => Some(format!("{url}/v9")),
        _ => None,
    });
    assert_eq!(ask(&model).await.text(), "Hello");
    let asked = server.only();
    assert_eq!(
        (asked.path.as_str(), asked.headers["authorization"].clone()),
        ("/v9/chat/completions", format!("Bearer {KEY}"))
    );
}

#[tokio::test]
async fn an_endpoint_of_ones_own_needs_no_key() {
    let server = Server::start([Answer::ok(hello())]).await;
    let model = model(Provider::OpenAi, &server).key("");
    assert_eq!(ask(&model).await.text(), "Hello");
    assert!(!server.only().headers.contains_key("authorization"));
}

#[tokio::test]
async fn without_a_key_the_variable_is_named() {
    let answered = ask(&bare(Provider::Gemini).key("")).await;
    assert_eq!(answered.error().1, "authentication");
    assert_eq!(answered.error().2, "no API key for `gemini`: set GEMINI_API_KEY or GOOGLE_API_KEY");
    assert_eq!(answered.outcome.requests, 0);
}

#[tokio::test]
async fn a_bad_address_in_the_environment_is_told_when_it_is_used() {
    let model = Model::with_environment(Provider::OpenAi, "model-x", |name| {
        (name == "OPENAI_BASE_URL").then(|| "nowhere".to_owned())
    });
    assert_eq!(ask(&model).await.error().1, "setup");
}

#[tokio::test]
async fn tools_in_the_prompt_are_read_from_the_text() {
    let call = r#"<tool_call>{\"name\": \"look\", \"arguments\": {}}</tool_call>"#;
    let server = Server::start([Answer::ok(chat(&[call]))]).await;
    let model = model(Provider::OpenAi, &server).tool_mode(ToolMode::Prompt);
    let options = CallOptions::new().tools([Tool::new("look")]);
    let answered = ask_with(&model, &[Msg::user("Alice", "Hi")], &options).await;
    assert_eq!(answered.message.tool_pairs().count(), 1);
    assert!(!server.only().body.contains(r#""tools""#));
}

/// What a provider refuses in one way, it may take in the next.
#[tokio::test]
async fn a_form_that_is_refused_is_asked_for_in_another_way() {
    let refused =
        r#"{"error":{"message":"response_format is not supported by this model","type":"invalid_request_error"}}"#;
    let server = Server::start([Answer::status(400, refused), Answer::status(400, refused), Answer::ok(hello())]).await;
    let options = CallOptions::new().structured(Json::parse(r#"{"type":"object","properties":{}}"#).unwrap());
    let answered = ask_with(&model(Provider::OpenAi, &server), &[Msg::user("Alice", "Hello")], &options).await;
    assert_eq!((answered.text().as_str(), answered.outcome.requests), ("Hello", 3));
    let told = answered.story().into_iter().filter(|event| event.starts_with("recount.retry")).count();
    assert_eq!(told, 2);
    let bodies: Vec<Value> = server.asked().iter().map(|asked| serde_json::from_str(&asked.body).unwrap()).collect();
    assert!(bodies[0].get("response_format").is_some());
    assert_eq!(bodies[1]["tool_choice"]["function"]["name"], "generate_structured_output");
    assert_eq!(bodies[2]["tool_choice"], "auto");

    // A way that was asked for is the only one, and what is no matter of the form is refused at once.
    for (status, options) in [(400, CallOptions::new()), (404, options.clone())] {
        let server = Server::start([Answer::status(status, refused)]).await;
        let answered = ask_with(&model(Provider::OpenAi, &server), &[Msg::user("Alice", "Hello")], &options).await;
        assert_eq!(answered.outcome.requests, 1);
    }
}
