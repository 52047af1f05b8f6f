//! Who is asked when a model fails.

use pretty_assertions::assert_eq;
use recount_model::Provider;
use recount_model::client::Retries;
use recount_model::format::RequestOptions;

use crate::asking::{ask, bare, chunk, hello, model};
use crate::server::{Answer, Server};

#[tokio::test]
async fn the_next_model_answers_and_is_named() {
    let first = Server::start([Answer::status(401, "")]).await;
    let second = Server::start([Answer::ok(hello())]).await;
    let fallback = model(Provider::DeepSeek, &second).settings(RequestOptions::new("other"));
    let answered = ask(&model(Provider::Anthropic, &first).fallback(fallback)).await;
    assert_eq!((answered.text().as_str(), answered.outcome.model.as_str()), ("Hello", "deepseek/other"));
    assert_eq!(
        answered.story()[..5],
        [
            "REPLY_START",
            "MODEL_CALL_START model-x",
            "MODEL_CALL_END",
            r#"recount.fallback {"from":"anthropic/model-x","to":"deepseek/other"}"#,
            "MODEL_CALL_START other",
        ]
    );
    assert_eq!(first.only().path, "/v1/messages");
    assert_eq!(second.only().path, "/chat/completions");
}

#[tokio::test]
async fn a_stream_that_breaks_before_anything_was_shown_falls_back_too() {
    let server = Server::start([Answer::cut("data: {\"choices\":[]}\n\n"), Answer::ok(hello())]).await;
    let model = model(Provider::OpenAi, &server).retries(Retries::none()).fallback(model(Provider::OpenAi, &server));
    assert_eq!(ask(&model).await.text(), "Hello");
}

#[tokio::test]
async fn a_stream_that_breaks_later_does_not() {
    let server = Server::start([Answer::cut(chunk("Hel")), Answer::ok(hello())]).await;
    let model = model(Provider::OpenAi, &server).fallback(model(Provider::OpenAi, &server));
    assert_eq!((ask(&model).await.text().as_str(), server.asked().len()), ("Hel", 1));
}

#[tokio::test]
async fn all_models_share_the_retries() {
    let server = Server::start([Answer::status(503, "")]).await;
    let one = || model(Provider::OpenAi, &server);
    let answered = ask(&one().fallback(one()).fallback(one())).await;
    assert_eq!((answered.outcome.requests, server.asked().len()), (5, 5));
    assert_eq!(answered.error().1, "upstream");
}

#[tokio::test]
async fn a_model_without_a_key_is_passed_over() {
    let server = Server::start([Answer::ok(hello())]).await;
    let model = bare(Provider::OpenAi).key("").fallback(model(Provider::OpenAi, &server));
    let answered = ask(&model).await;
    assert_eq!((answered.text().as_str(), answered.outcome.requests), ("Hello", 1));
}
