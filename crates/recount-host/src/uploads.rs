//! A middleware that replaces the URLs of uploads with their bytes, for the model.

use recount_agent::middleware::{Middleware, ModelRequest, Next};
use recount_agent::{ActiveReply, BoxFuture};
use recount_log::{Digest, Log, SessionKey};
use recount_message::{Base64Source, ContentBlock, DataBlock, MediaBlock, Msg, Payload, Source};
use recount_model::client::CallOutcome;

/// The media type of URLs that specify none.
const UNSPECIFIED: &str = "application/octet-stream";

/// Inlines uploads into the messages of each model request, because the provider cannot fetch their URLs. The session's
/// messages keep the URLs.
#[derive(Debug)]
pub(crate) struct InlineUploads {
    log: Log,
    /// The tenant whose uploads the session may use.
    tenant: String,
}

impl InlineUploads {
    pub(crate) fn new(log: &Log, session: &SessionKey) -> Self {
        Self { log: log.clone(), tenant: session.tenant().to_owned() }
    }

    async fn inline(&self, message: Msg) -> Msg {
        let mut parts = message.into_parts();
        for data in parts.content.iter_mut().flat_map(data_blocks) {
            let Source::Url(url) = &data.source else { continue };
            let Some(digest) = Digest::in_url(url.url()) else { continue };
            match self.log.uploaded(&self.tenant, digest).await {
                Ok(Some(upload)) => {
                    let is_specified = url.media_type != UNSPECIFIED;
                    let media_type = if is_specified { url.media_type.clone() } else { upload.media_type };
                    data.source = Base64Source::new(&upload.bytes, media_type).into();
                }
                // The URL stays, so the model can see that something was attached.
                Ok(None) => {}
                Err(error) => tracing::warn!(%error, %digest, "cannot read an upload"),
            }
        }
        Msg::from_parts_lenient(parts)
    }
}

impl Middleware for InlineUploads {
    fn model_call<'a>(
        &'a self,
        work: &'a mut ActiveReply,
        mut request: ModelRequest,
        next: Next<'a>,
    ) -> BoxFuture<'a, CallOutcome> {
        Box::pin(async move {
            let mut messages = Vec::with_capacity(request.messages.len());
            for message in request.messages {
                messages.push(self.inline(message).await);
            }
            request.messages = messages;
            next.model_call(work, request).await
        })
    }
}

/// Returns the data blocks that a block is or contains.
fn data_blocks(block: &mut ContentBlock) -> Vec<&mut DataBlock> {
    let payload = match block {
        ContentBlock::Data(data) => return vec![data],
        ContentBlock::ToolResult(result) => &mut result.output,
        ContentBlock::Hint(hint) => &mut hint.hint,
        _ => return Vec::new(),
    };
    let Payload::Blocks(items) = payload else { return Vec::new() };
    let data = items.iter_mut().filter_map(|item| match item {
        MediaBlock::Data(data) => Some(data),
        _ => None,
    });
    data.collect()
}
