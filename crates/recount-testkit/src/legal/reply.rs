//! One reply, from its start to its end.

use recount_message::{
    CustomEvent, ExceedMaxItersEvent, FinishedReason, ModelCallEndEvent, ModelCallStartEvent, ModelFinishedReason,
    ReplyEndEvent, ReplyStartEvent, UserInterruptEvent,
};

use super::{blocks, foreign, told};
use crate::messages::{count, error};
use crate::stream::{Desk, Draft};
use crate::{free, words};

/// What the events of a reply have in common.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) id: String,
    session_id: String,
    name: String,
    /// Whether blocks of different kinds may have the same id.
    shares_ids: bool,
    /// How many blocks of each kind there are: text, thinking, data, hints, calls.
    counts: [usize; 5],
    /// Whether blocks may be left open for the end of the reply to close.
    pub(super) leaves_open: bool,
    /// Whether the ids of calls come again in every round, as with some providers.
    pub(super) counts_calls_anew: bool,
}

/// The kinds of blocks that are counted.
#[derive(Debug, Clone, Copy)]
pub(super) enum Counted {
    Text,
    Thinking,
    Data,
    Hint,
    Call,
}

impl Reply {
    /// Writes all events of a reply. Every tenth stays open.
    pub(super) fn write(desk: &mut Desk, number: usize) -> Vec<Draft> {
        let ends = desk.random.chance(90);
        let mut reply = Self {
            id: format!("r{number}"),
            session_id: desk.random.pick(&["s1", "session \"x\"", ""]).to_owned(),
            name: words::name(&mut desk.random),
            shares_ids: desk.random.chance(30),
            counts: [0; 5],
            leaves_open: ends && desk.beyond_python(15),
            counts_calls_anew: desk.beyond_python(20),
        };
        // An id cannot come again while its block is open.
        reply.counts_calls_anew &= !reply.leaves_open;
        desk.begin_part(0);
        let mut drafts = vec![reply.start(desk, number)];
        for _ in 0..desk.random.pick(&[0, 1, 1, 1, 2, 2, 3]) {
            drafts.extend(reply.round(desk));
        }
        desk.end_part(1);
        // Of texts and thoughts only the last may be left open, because only one may be open at a time.
        if reply.leaves_open
            && desk.random.chance(50)
            && let Some(last) = drafts.iter().rposition(Draft::ends_speech)
        {
            drafts.remove(last);
        }
        if ends {
            drafts.extend(reply.end(desk));
        }
        desk.end_part(0);
        drafts
    }

    /// A new id for a block.
    pub(super) fn next_id(&mut self, kind: Counted) -> String {
        let (index, prefix) = match kind {
            Counted::Text => (0, "text"),
            Counted::Thinking => (1, "thinking"),
            Counted::Data => (2, "data"),
            Counted::Hint => (3, "hint"),
            Counted::Call => (4, "call"),
        };
        self.counts[index] += 1;
        let prefix = if self.shares_ids { "b" } else { prefix };
        format!("{prefix}{}", self.counts[index])
    }

    fn start(&self, desk: &mut Desk, number: usize) -> Draft {
        let role = desk.random.pick(&["assistant", "assistant", "user", "system"]);
        let mut draft = desk
            .draft(ReplyStartEvent::new(self.session_id.clone(), self.id.clone(), self.name.clone()).with_role(role));
        if desk.beyond_python(30) {
            draft = draft.with_extension("metadata", free::object(&mut desk.random));
        }
        if number > 0 && desk.beyond_python(50) {
            draft = draft.with_extension("parent", "r0");
        }
        draft
    }

    /// One call of a model, and what follows from it.
    fn round(&mut self, desk: &mut Desk) -> Vec<Draft> {
        desk.begin_part(1);
        let model_name = words::model(&mut desk.random);
        let mut drafts = vec![desk.draft(ModelCallStartEvent::new(self.id.clone(), model_name))];
        let tools = self.tools(desk);
        let mut strands = vec![blocks::spoken(self, desk)];
        if desk.random.chance(30) {
            strands.push(blocks::data(self, desk));
        }
        strands.extend(tools.calls);
        drafts.extend(desk.interleaved(strands));
        drafts.push(self.model_call_end(desk));
        drafts.extend(tools.permissions);
        let mut strands = tools.results;
        strands.push(self.asides(desk));
        drafts.extend(desk.interleaved(strands));
        desk.end_part(1);
        drafts
    }

    fn model_call_end(&self, desk: &mut Desk) -> Draft {
        let is_unknown = desk.beyond_python(15);
        let mut tokens = || if is_unknown { 0 } else { count(&mut desk.random) };
        let kind = ModelCallEndEvent::new(self.id.clone(), tokens(), tokens())
            .with_cache_input_tokens(tokens())
            .with_cache_creation_input_tokens(tokens())
            .with_finished_reason(desk.random.pick(ModelFinishedReason::ALL));
        let draft = desk.draft(kind);
        if is_unknown { draft.with_extension("usage", "unknown") } else { draft }
    }

    /// What happens beside the tools: hints, whole blocks, signals.
    fn asides(&mut self, desk: &mut Desk) -> Vec<Draft> {
        let mut drafts = Vec::new();
        for _ in 0..desk.random.pick(&[0, 0, 1, 2]) {
            desk.begin_part(2);
            let beyond_python = desk.beyond_python(50);
            drafts.extend(match desk.random.below(3) {
                0 if beyond_python => vec![blocks::whole(self, desk)],
                1 if beyond_python => {
                    let custom: CustomEvent<'static> = if desk.random.chance(50) { told(desk) } else { foreign(desk) };
                    vec![desk.draft(custom)]
                }
                _ => vec![blocks::hint(self, desk)],
            });
        }
        desk.end_part(2);
        drafts
    }

    fn end(&self, desk: &mut Desk) -> Vec<Draft> {
        let reason = desk.random.pick(FinishedReason::ALL);
        let mut drafts = Vec::new();
        match reason {
            FinishedReason::ExceedMaxIters => {
                drafts.push(desk.draft(ExceedMaxItersEvent::new(self.id.clone(), self.name.clone())));
            }
            FinishedReason::Interrupted => {
                drafts.push(desk.draft(UserInterruptEvent::new(self.id.clone())));
            }
            _ => {}
        }
        let error = (reason == FinishedReason::Error).then(|| error(&mut desk.random));
        let mut kind = ReplyEndEvent::new(self.session_id.clone(), self.id.clone()).with_finished_reason(reason);
        kind.error = error;
        let mut end = desk.draft(kind);
        if desk.beyond_python(30) {
            end = end.with_extension("structured_output", free::object(&mut desk.random));
        }
        if desk.beyond_python(30) {
            end = end.with_extension("metadata", free::object(&mut desk.random));
        }
        drafts.push(end);
        drafts
    }
}
