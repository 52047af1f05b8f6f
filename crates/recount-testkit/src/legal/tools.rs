//! What a round does with tools: calls, permissions, results.

use recount_message::{
    ConfirmResult, CustomEvent, ExternalExecutionResultEvent, RequireExternalExecutionEvent, RequireUserConfirmEvent,
    ToolCallBlock, ToolCallDeltaEvent, ToolCallEndEvent, ToolCallStartEvent, ToolCallState, ToolResultBlock,
    ToolResultDataDeltaEvent, ToolResultEndEvent, ToolResultStartEvent, ToolResultState, ToolResultTextDeltaEvent,
    UserConfirmResultEvent,
};

use super::blocks::{with_extra, without_last_end};
use super::reply::{Counted, Reply};
use crate::stream::{Desk, Draft};
use crate::{Reach, blocks, data, free, words};

/// The events of a round that are about tools.
pub(super) struct Tools {
    /// One sequence for each call.
    pub(super) calls: Vec<Vec<Draft>>,
    /// What is asked and answered before the tools run.
    pub(super) permissions: Vec<Draft>,
    /// One sequence for each result.
    pub(super) results: Vec<Vec<Draft>>,
}

/// How a call comes to its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// The tool runs at once.
    Plain,
    /// A rule allows it.
    Rule,
    /// The user allows it.
    Confirmed,
    /// The user refuses it.
    Refused,
    /// It runs elsewhere.
    External,
}

#[derive(Debug)]
struct Call {
    id: String,
    name: String,
    input: String,
    way: Way,
}

impl Call {
    /// The call as the events name it that ask about it.
    fn block(&self, desk: &mut Desk) -> ToolCallBlock {
        let mut block = blocks::call(&mut desk.random, &self.id);
        block.name.clone_from(&self.name);
        block.input.clone_from(&self.input);
        block
    }
}

impl Reply {
    /// All tool business of a round. It is one part of the stream, because its events name each other's calls.
    pub(super) fn tools(&mut self, desk: &mut Desk) -> Tools {
        desk.begin_part(2);
        let count = desk.random.pick(&[0, 0, 1, 1, 2, 3]);
        let calls: Vec<Call> = (0..count).map(|index| self.next_call(desk, index)).collect();
        let tools = Tools {
            calls: calls.iter().map(|call| self.call(desk, call)).collect(),
            permissions: self.permissions(desk, &calls),
            results: self.results(desk, &calls),
        };
        desk.end_part(2);
        tools
    }

    fn next_call(&mut self, desk: &mut Desk, index: usize) -> Call {
        let id = if self.counts_calls_anew { format!("call_{index}") } else { self.next_id(Counted::Call) };
        let ways: &[Way] = match desk.reach {
            Reach::Recount => &[Way::Plain, Way::Plain, Way::Rule, Way::Confirmed, Way::Refused, Way::External],
            Reach::Python => &[Way::Plain, Way::Plain, Way::Confirmed, Way::Refused, Way::External],
        };
        Call {
            id,
            name: words::tool(&mut desk.random),
            input: blocks::arguments(&mut desk.random),
            way: desk.random.pick(ways),
        }
    }

    fn call(&self, desk: &mut Desk, call: &Call) -> Vec<Draft> {
        let mut drafts = vec![desk.draft(ToolCallStartEvent::new(self.id.clone(), call.id.clone(), call.name.clone()))];
        for piece in words::pieces(&mut desk.random, &call.input) {
            drafts.push(desk.draft(ToolCallDeltaEvent::new(self.id.clone(), call.id.clone(), piece)));
        }
        let end = ToolCallEndEvent::new(self.id.clone(), call.id.clone());
        let end = desk.draft(end);
        drafts.push(with_extra(desk, end));
        without_last_end(self, desk, drafts)
    }

    fn permissions(&self, desk: &mut Desk, calls: &[Call]) -> Vec<Draft> {
        let mut drafts = Vec::new();
        for call in calls.iter().filter(|call| call.way == Way::Rule) {
            drafts.push(desk.draft(CustomEvent::call(&*self.id, &*call.id, ToolCallState::Allowed)));
        }
        let asked: Vec<&Call> = calls.iter().filter(|call| matches!(call.way, Way::Confirmed | Way::Refused)).collect();
        if !asked.is_empty() {
            let tool_calls: Vec<_> = asked.iter().map(|call| call.block(desk)).collect();
            drafts.push(desk.draft(RequireUserConfirmEvent::new(self.id.clone(), tool_calls)));
            drafts.extend(self.answers(desk, asked));
        }
        let external: Vec<&Call> = calls.iter().filter(|call| call.way == Way::External).collect();
        if !external.is_empty() {
            let tool_calls: Vec<_> = external.iter().map(|call| call.block(desk)).collect();
            drafts.push(desk.draft(RequireExternalExecutionEvent::new(self.id.clone(), tool_calls)));
        }
        drafts
    }

    /// The user's answers, in one event or in several, in any order.
    fn answers(&self, desk: &mut Desk, asked: Vec<&Call>) -> Vec<Draft> {
        let size = if desk.random.chance(60) { asked.len() } else { 1 };
        let asked = desk.random.shuffled(asked);
        asked
            .chunks(size)
            .map(|calls| {
                let confirm_results: Vec<_> = calls.iter().map(|call| answer(desk, call)).collect();
                desk.draft(UserConfirmResultEvent::new(self.id.clone(), confirm_results))
            })
            .collect()
    }

    fn results(&self, desk: &mut Desk, calls: &[Call]) -> Vec<Vec<Draft>> {
        let mut strands = Vec::new();
        let mut executed = Vec::new();
        for call in calls {
            if call.way == Way::External && desk.beyond_python(70) {
                executed.push(external_result(desk, call));
            } else {
                strands.push(self.result(desk, call));
            }
        }
        if !executed.is_empty() {
            let kind = ExternalExecutionResultEvent::new(self.id.clone(), executed);
            strands.push(vec![desk.draft(kind)]);
        }
        strands
    }

    /// A result as it comes in.
    fn result(&self, desk: &mut Desk, call: &Call) -> Vec<Draft> {
        let start = desk.draft(ToolResultStartEvent::new(self.id.clone(), call.id.clone(), call.name.clone()));
        let mut drafts = vec![with_extra(desk, start)];
        for item in 0..desk.random.below(4) {
            if desk.random.chance(60) {
                drafts.extend(self.result_text(desk, call));
            } else {
                drafts.extend(self.result_data(desk, call, item));
            }
        }
        let state = match call.way {
            Way::Refused => ToolResultState::Denied,
            Way::Plain | Way::Rule | Way::Confirmed | Way::External => {
                desk.random.pick(&[ToolResultState::Success, ToolResultState::Error, ToolResultState::Interrupted])
            }
        };
        let end = ToolResultEndEvent::new(self.id.clone(), call.id.clone(), state);
        drafts.push(desk.draft(end));
        without_last_end(self, desk, drafts)
    }

    fn result_text(&self, desk: &mut Desk, call: &Call) -> Vec<Draft> {
        let text = words::text(&mut desk.random);
        words::pieces(&mut desk.random, &text)
            .into_iter()
            .map(|piece| desk.draft(ToolResultTextDeltaEvent::new(self.id.clone(), call.id.clone(), piece)))
            .collect()
    }

    /// One item of data. Within Recount's reach it may come in pieces, which its id holds together.
    fn result_data(&self, desk: &mut Desk, call: &Call, item: usize) -> Vec<Draft> {
        let media_type = words::media_type(&mut desk.random);
        let has_id = !desk.beyond_python(20);
        let delta = |data: Option<String>, url: Option<String>| {
            let mut delta = ToolResultDataDeltaEvent::new(self.id.clone(), call.id.clone(), media_type.clone());
            delta.block_id = has_id.then(|| format!("item{item}").into());
            delta.data = data.map(Into::into);
            delta.url = url.map(Into::into);
            delta
        };
        if desk.random.chance(25) {
            let url = words::url(&mut desk.random);
            return vec![named(desk, delta(None, Some(url)))];
        }
        let is_cut = has_id && desk.beyond_python(70);
        let pieces =
            if is_cut { data::pieces(&mut desk.random) } else { vec![data::base64(&data::bytes(&mut desk.random))] };
        pieces.into_iter().map(|data| named(desk, delta(Some(data), None))).collect()
    }
}

/// The event, with a name and fields for its data now and then.
fn named(desk: &mut Desk, delta: ToolResultDataDeltaEvent<'static>) -> Draft {
    let draft = desk.draft(delta);
    let draft = with_extra(desk, draft);
    if desk.beyond_python(20) { draft.with_extension("name", words::text(&mut desk.random)) } else { draft }
}

fn answer(desk: &mut Desk, call: &Call) -> ConfirmResult {
    let mut block = call.block(desk);
    if desk.beyond_python(40) {
        block.input = blocks::arguments(&mut desk.random);
    }
    let mut answer = if call.way == Way::Confirmed { ConfirmResult::allow(block) } else { ConfirmResult::deny(block) };
    if desk.random.chance(30) {
        answer = answer.with_rules([blocks::rule(&mut desk.random)]);
    }
    answer.extra = free::rare_fields(&mut desk.random);
    answer
}

fn external_result(desk: &mut Desk, call: &Call) -> ToolResultBlock {
    let mut result = blocks::result(&mut desk.random, desk.reach, &call.id);
    result.name.clone_from(&call.name);
    result
}
