//! A model whose answer follows from what it is shown, so that it does not matter who asks it and how often.

use recount_agent::ChatModel;
use recount_agent::scripted::{FnModel, ScriptedModel};
use recount_message::Msg;

/// A call: id, tool, input.
type Call = (&'static str, &'static str, &'static str);

/// Makes calls, one round after another, until each has its result, and then says something.
pub(crate) fn looker(rounds: Vec<Vec<Call>>, says: &'static str) -> impl ChatModel {
    FnModel::new(move |messages, _| {
        // An id that was used before has something added to it.
        let has_result = |id: &str| {
            messages
                .iter()
                .flat_map(Msg::tool_pairs)
                .any(|(call, result)| result.is_some() && (call.id == id || call.id.starts_with(&format!("{id}_"))))
        };
        let left = rounds.iter().find(|round| round.iter().any(|(id, ..)| !has_result(id)));
        let Some(round) = left else { return ScriptedModel::new().says(says) };
        let missing = round.iter().filter(|(id, ..)| !has_result(id));
        missing.fold(ScriptedModel::new().says("Let me look."), |script, (id, tool, input)| {
            script.calls_as(*id, *tool, *input)
        })
    })
}
