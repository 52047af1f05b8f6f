//! The published server through the whole agent.

use pretty_assertions::assert_eq;
use recount_agent::Agent;
use recount_agent::mcp::{McpConfig, McpServer};
use recount_agent::permission::{Mode, Permissions};
use recount_agent::scripted::ScriptedModel;
use recount_agent::tool::Toolkit;
use recount_message::{Fold, MediaBlock, ToolResultState};

use super::support::everything;

#[tokio::test]
async fn mcp_result_with_image_is_folded() {
    let config = McpConfig::command("node", [everything().to_str().unwrap(), "stdio"]);
    let server = McpServer::connect("everything", config).await.unwrap();
    let model = ScriptedModel::new()
        .calls("everything__get-tiny-image", "{}")
        .calls("everything__get-sum", r#"{"a": 2, "b": 3}"#)
        .then()
        .says("A picture and a sum.");

    let agent = Agent::builder("Friday")
        .model(model)
        .toolkit(Toolkit::new().with_source(server.clone()).unwrap())
        .permissions(Permissions::new(Mode::Bypass))
        .build()
        .unwrap();
    let mut stream = agent.reply_stream("Show me.").unwrap();
    let mut fold = Fold::new();
    while let Some(event) = stream.next().await {
        assert_eq!(fold.apply(&event).reason(), None, "{}", event.to_json());
    }
    let message = stream.into_msg().await.unwrap();
    assert_eq!(fold.messages().next().map(recount_message::Msg::to_json), Some(message.to_json()));
    let image = message.result_of("call_1").unwrap();
    assert_eq!(image.state, ToolResultState::Success);
    let pictures =
        image.output.blocks().iter().filter(|block| matches!(block, MediaBlock::Data(data) if data.is_image()));
    assert_eq!(pictures.count(), 1);
    assert_eq!(message.result_of("call_2").unwrap().output.text().as_deref(), Some("The sum of 2 and 3 is 5."));
    assert_eq!(message.text().as_deref(), Some("A picture and a sum."));
}
