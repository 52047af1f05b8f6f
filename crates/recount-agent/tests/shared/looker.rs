//! A model that calls tools until each call has a result, independent of the number of requests.

use recount_agent::ChatModel;
use recount_agent::scripted::{FnModel, ScriptedModel};
use recount_message::Msg;

/// A call: id, tool, input.
type Call = (&'static str, &'static str, &'static str);

/// Creates a model that makes the calls of each round until they have results, and then writes a text.
pub(crate) fn looker(rounds: Vec<Vec<Call>>, says: &'static str) -> impl ChatModel {
    FnModel::new(move |messages, _| {
        // A repeated id gets a suffix.
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
