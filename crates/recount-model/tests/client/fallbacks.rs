//! Fallback models.

use pretty_assertions::assert_eq;
use recount_model::Provider;
use recount_model::client::Retries;
use recount_model::format::RequestOptions;

use crate::server::{ScriptedResponse, Server};
use crate::support::{call, chunk, hello_response, model, model_without_server};

#[tokio::test]
async fn fallback_is_called_and_signalled() {
    let first = Server::start([ScriptedResponse::status(401, "")]).await;
    let second = Server::start([ScriptedResponse::ok(hello_response())]).await;
    let fallback = model(Provider::DeepSeek, &second).settings(RequestOptions::new("other"));
    let result = call(&model(Provider::Anthropic, &first).fallback(fallback)).await;
    assert_eq!((result.text().as_str(), result.outcome.model.as_str()), ("Hello", "deepseek/other"));
    assert_eq!(
        result.event_summary()[..5],
        [
            "REPLY_START",
            "MODEL_CALL_START model-x",
            "MODEL_CALL_END",
            r#"recount.fallback {"from":"anthropic/model-x","to":"deepseek/other"}"#,
            "MODEL_CALL_START other",
        ]
    );
    assert_eq!(first.only_request().path, "/v1/messages");
    assert_eq!(second.only_request().path, "/chat/completions");
}

#[tokio::test]
async fn fallback_is_called_if_stream_breaks_before_output() {
    let server =
        Server::start([ScriptedResponse::cut("data: {\"choices\":[]}\n\n"), ScriptedResponse::ok(hello_response())])
            .await;
    let model = model(Provider::OpenAi, &server).retries(Retries::none()).fallback(model(Provider::OpenAi, &server));
    assert_eq!(call(&model).await.text(), "Hello");
}

#[tokio::test]
async fn fallback_is_not_called_after_output() {
    let server = Server::start([ScriptedResponse::cut(chunk("Hel")), ScriptedResponse::ok(hello_response())]).await;
    let model = model(Provider::OpenAi, &server).fallback(model(Provider::OpenAi, &server));
    assert_eq!((call(&model).await.text().as_str(), server.requests().len()), ("Hel", 1));
}

#[tokio::test]
async fn fallbacks_share_the_retry_limit() {
    let server = Server::start([ScriptedResponse::status(503, "")]).await;
    let one = || model(Provider::OpenAi, &server);
    let result = call(&one().fallback(one()).fallback(one())).await;
    assert_eq!((result.outcome.requests, server.requests().len()), (5, 5));
    assert_eq!(result.error().1, "upstream");
}

#[tokio::test]
async fn model_without_key_falls_back() {
    let server = Server::start([ScriptedResponse::ok(hello_response())]).await;
    let model = model_without_server(Provider::OpenAi).key("").fallback(model(Provider::OpenAi, &server));
    let result = call(&model).await;
    assert_eq!((result.text().as_str(), result.outcome.requests), ("Hello", 1));
}
