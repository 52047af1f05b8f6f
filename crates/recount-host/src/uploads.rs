//! Uploads, as models are shown them: by their bytes.

use recount_agent::middleware::{Middleware, ModelRequest, Next};
use recount_agent::{ActiveReply, BoxFuture};
use recount_log::{Digest, Log, SessionKey};
use recount_message::{Base64Source, ContentBlock, DataBlock, MediaBlock, Msg, Payload, Source};
use recount_model::client::CallOutcome;

/// The media type of a URL that says nothing about it.
const UNSAID: &str = "application/octet-stream";

/// Puts the bytes of uploads in place of their URLs, which nobody but the log could fetch, before a model is asked. Messages
/// go on naming them by URL.
#[derive(Debug)]
pub(crate) struct Uploads {
    log: Log,
    /// Whose uploads a session may name.
    tenant: String,
}

impl Uploads {
    pub(crate) fn of(log: &Log, session: &SessionKey) -> Self {
        Self { log: log.clone(), tenant: session.tenant().to_owned() }
    }

    async fn put_in(&self, message: Msg) -> Msg {
        let mut parts = message.into_parts();
        for data in parts.content.iter_mut().flat_map(data_of) {
            let Source::Url(named) = &data.source else { continue };
            let Some(digest) = Digest::in_url(named.url()) else { continue };
            match self.log.uploaded(&self.tenant, digest).await {
                Ok(Some(upload)) => {
                    let is_said = named.media_type != UNSAID;
                    let media_type = if is_said { named.media_type.clone() } else { upload.media_type };
                    data.source = Base64Source::new(&upload.bytes, media_type).into();
                }
                // The model is told that something was there.
                Ok(None) => {}
                Err(error) => tracing::warn!(%error, %digest, "an upload cannot be read"),
            }
        }
        Msg::as_received(parts)
    }
}

impl Middleware for Uploads {
    fn model_call<'a>(
        &'a self,
        work: &'a mut ActiveReply,
        mut request: ModelRequest,
        next: Next<'a>,
    ) -> BoxFuture<'a, CallOutcome> {
        Box::pin(async move {
            let mut messages = Vec::with_capacity(request.messages.len());
            for message in request.messages {
                messages.push(self.put_in(message).await);
            }
            request.messages = messages;
            next.model_call(work, request).await
        })
    }
}

/// The data that a block is or holds.
fn data_of(block: &mut ContentBlock) -> Vec<&mut DataBlock> {
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
