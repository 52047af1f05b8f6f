//! Tests of uploads in model requests.

use pretty_assertions::assert_eq;
use recount_agent::Agent;
use recount_agent::scripted::ScriptedModel;
use recount_host::OnBusy;
use recount_message::{Base64Source, DataBlock, Msg, Source};

use crate::common::{TestReader, host, memory_session};

#[tokio::test]
async fn model_request_inlines_uploads_of_own_tenant() {
    let (log, session) = memory_session().await;
    let own = log.upload("", "image/png", &b"\x89PNG"[..]).await.unwrap();
    let foreign = log.upload("another", "image/png", &b"\x89PNG, too"[..]).await.unwrap();
    let model = ScriptedModel::new().says("I see.");
    let host = host(&log, {
        let model = model.clone();
        move || Agent::builder("Friday").model(model.clone())
    })
    .await;
    let named = [own, foreign].map(|digest| DataBlock::from_url(digest.url()).unwrap());
    let message = Msg::user("Alice", (named[0].clone(), named[1].clone())).with_id("m1");
    let posted = host.post(session.key(), message, OnBusy::Reject).await.unwrap();
    let mut reader = TestReader::new(&session);
    reader.wait_for_end(&posted.reply_id).await;

    let sources = |message: &Msg| message.blocks::<DataBlock>().map(|data| data.source.clone()).collect::<Vec<_>>();
    let asked = model.requests();
    let shown = asked[0].messages.iter().find(|message| message.id() == "m1").unwrap();
    let bytes = Source::from(Base64Source::new(b"\x89PNG", "image/png"));
    assert_eq!(sources(shown), [bytes, named[1].source.clone()], "uploads of other tenants are not inlined");
    let kept = reader.fold.message("m1").unwrap();
    assert_eq!(sources(kept), named.map(|data| data.source), "the log keeps the URLs");
}
