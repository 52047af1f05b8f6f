//! Ending of orphaned replies: hosted replies that are open but that no agent will resume.

use std::collections::HashMap;

use recount_log::{Error, Events, RebuiltReply};
use recount_message::{AgentEvent, FinishedReason, ReplyEnd, ReplyWriter, Stamps, ToolResultState};

use super::Run;

/// The result of a tool call that was interrupted, for the model.
const INTERRUPTED_RESULT: &str = "<system-reminder>The process stopped before this call was done.</system-reminder>";

impl Run<'_> {
    /// Ends the hosted replies that are neither the open reply nor part of it. Their unanswered calls get a result.
    pub(super) async fn end_orphaned_replies(&mut self) -> Result<(), Error> {
        let current = self.state.reply().map(|open| open.id);
        let replies = self.session.rebuild_open_replies(|info| info.hosted, u64::MAX).await?.replies;
        let parents: HashMap<String, String> = replies
            .iter()
            .filter_map(|RebuiltReply { info, fold }| Some((info.id.clone(), fold.message().parent()?)))
            .collect();
        for RebuiltReply { info, fold } in replies {
            if current.as_ref().is_some_and(|current| is_same_or_descendant(&info.id, current, &parents)) {
                continue;
            }
            let mut events: Vec<AgentEvent> = Vec::new();
            let session_id = self.session.key().name();
            let mut writer = ReplyWriter::resume(|event| events.push(event), Stamps::default(), session_id, fold);
            writer.interrupt_model_call(None);
            let unanswered: Vec<String> = writer
                .message()
                .tool_pairs()
                .filter(|(_, result)| result.is_none_or(|result| result.finished_at.is_none()))
                .map(|(call, _)| call.id.clone())
                .collect();
            for id in unanswered {
                let result = writer.open_result(&id).or_else(|| {
                    let call = writer.unanswered_call(&id)?;
                    Some(writer.tool_result(call))
                });
                if let Some(result) = result {
                    writer.result_text(&result, INTERRUPTED_RESULT);
                    writer.end_result(result, ToolResultState::Interrupted);
                }
            }
            writer.end(ReplyEnd::new(FinishedReason::Interrupted));
            self.queue.push(Events::of(&events), Vec::new());
        }
        self.queue.flush().await
    }
}

/// Whether a reply is `ancestor` or one of its direct or indirect sub-agent replies.
fn is_same_or_descendant(id: &str, ancestor: &str, parents: &HashMap<String, String>) -> bool {
    let mut id = id;
    // The bound ends the loop even if the parents form a cycle.
    for _ in 0..=parents.len() {
        if id == ancestor {
            return true;
        }
        let Some(parent) = parents.get(id) else { return false };
        id = parent;
    }
    false
}
