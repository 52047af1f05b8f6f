//! Replies that nobody will go on with.

use std::collections::HashMap;

use recount_log::{Error, Events};
use recount_message::{AgentEvent, FinishedReason, ReplyEnd, ReplyWriter, Stamps, ToolResultState};

use super::Run;
use super::rebuild::{RebuiltReplies, rebuild_replies};

/// What is said of a call that was under way.
const BROKEN: &str = "<system-reminder>The process stopped before this call was done.</system-reminder>";

impl Run<'_> {
    /// Ends what was hosted and is no part of the reply that is gone on with. Calls get results, as every call does.
    pub(super) async fn close_orphans(&mut self) -> Result<(), Error> {
        let main = self.desk.reply().map(|open| open.id);
        let RebuiltReplies { folds, .. } =
            rebuild_replies(&self.host.log, &self.session, |opened| opened.hosted, u64::MAX).await?;
        let parents: HashMap<String, String> =
            folds.iter().filter_map(|(id, fold)| Some((id.clone(), fold.message().parent()?))).collect();
        for (id, fold) in folds {
            if main.as_ref().is_some_and(|main| is_part(&id, main, &parents)) {
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
                let begun = writer.open_result(&id).or_else(|| {
                    let call = writer.unanswered_call(&id)?;
                    Some(writer.tool_result(call))
                });
                if let Some(result) = begun {
                    writer.result_text(&result, BROKEN);
                    writer.end_result(result, ToolResultState::Interrupted);
                }
            }
            writer.end(ReplyEnd::new(FinishedReason::Interrupted));
            self.outbox.push(Events::of(&events), Vec::new());
        }
        self.outbox.committed().await
    }
}

/// Whether a reply is another one, or a part of it.
fn is_part(id: &str, of: &str, parents: &HashMap<String, String>) -> bool {
    let mut id = id;
    // No chain of parents is longer than there are replies.
    for _ in 0..=parents.len() {
        if id == of {
            return true;
        }
        let Some(parent) = parents.get(id) else { return false };
        id = parent;
    }
    false
}
