//! Generator of the tool events of a round: calls, permissions and results.

use recount_message::{
    ConfirmResult, CustomEvent, ExternalExecutionResultEvent, RequireExternalExecutionEvent, RequireUserConfirmEvent,
    ToolCallBlock, ToolCallDeltaEvent, ToolCallEndEvent, ToolCallStartEvent, ToolCallState, ToolResultBlock,
    ToolResultDataDeltaEvent, ToolResultEndEvent, ToolResultStartEvent, ToolResultState, ToolResultTextDeltaEvent,
    UserConfirmResultEvent,
};

use super::blocks::{with_extra, without_last_end};
use super::reply::{BlockKind, Reply};
use crate::stream::{StreamBuilder, UnstampedEvent};
use crate::{Profile, base64_data, blocks, free_json, samples};

/// The tool events of a round.
pub(super) struct Tools {
    /// One sequence per call.
    pub(super) calls: Vec<Vec<UnstampedEvent>>,
    /// The confirmation requests and their results.
    pub(super) permissions: Vec<UnstampedEvent>,
    /// One sequence per result.
    pub(super) results: Vec<Vec<UnstampedEvent>>,
}

/// How a call proceeds to its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CallPath {
    /// The tool runs immediately.
    Plain,
    /// A rule allows the call.
    Rule,
    /// The user allows the call.
    Confirmed,
    /// The user rejects the call.
    Rejected,
    /// The tool is external.
    External,
}

#[derive(Debug)]
struct Call {
    id: String,
    name: String,
    input: String,
    path: CallPath,
}

impl Call {
    /// Returns the block for confirmation and execution requests.
    fn block(&self, builder: &mut StreamBuilder) -> ToolCallBlock {
        let mut block = blocks::call(&mut builder.random, &self.id);
        block.name.clone_from(&self.name);
        block.input.clone_from(&self.input);
        block
    }
}

impl Reply {
    /// Generates the tool events of a round. They are one part of the stream, because they refer to each other's calls.
    pub(super) fn tools(&mut self, builder: &mut StreamBuilder) -> Tools {
        builder.begin_part(2);
        let count = builder.random.pick(&[0, 0, 1, 1, 2, 3]);
        let calls: Vec<Call> = (0..count).map(|index| self.next_call(builder, index)).collect();
        let tools = Tools {
            calls: calls.iter().map(|call| self.call(builder, call)).collect(),
            permissions: self.permissions(builder, &calls),
            results: self.results(builder, &calls),
        };
        builder.end_part(2);
        tools
    }

    fn next_call(&mut self, builder: &mut StreamBuilder, index: usize) -> Call {
        let id = if self.reuses_call_ids { format!("call_{index}") } else { self.next_id(BlockKind::Call) };
        let paths: &[CallPath] = match builder.profile {
            Profile::Recount => &[
                CallPath::Plain,
                CallPath::Plain,
                CallPath::Rule,
                CallPath::Confirmed,
                CallPath::Rejected,
                CallPath::External,
            ],
            Profile::Python => {
                &[CallPath::Plain, CallPath::Plain, CallPath::Confirmed, CallPath::Rejected, CallPath::External]
            }
        };
        Call {
            id,
            name: samples::tool(&mut builder.random),
            input: blocks::arguments(&mut builder.random),
            path: builder.random.pick(paths),
        }
    }

    fn call(&self, builder: &mut StreamBuilder, call: &Call) -> Vec<UnstampedEvent> {
        let mut events =
            vec![builder.event(ToolCallStartEvent::new(self.id.clone(), call.id.clone(), call.name.clone()))];
        for piece in samples::pieces(&mut builder.random, &call.input) {
            events.push(builder.event(ToolCallDeltaEvent::new(self.id.clone(), call.id.clone(), piece)));
        }
        let end = ToolCallEndEvent::new(self.id.clone(), call.id.clone());
        let end = builder.event(end);
        events.push(with_extra(builder, end));
        without_last_end(self, builder, events)
    }

    fn permissions(&self, builder: &mut StreamBuilder, calls: &[Call]) -> Vec<UnstampedEvent> {
        let mut events = Vec::new();
        for call in calls.iter().filter(|call| call.path == CallPath::Rule) {
            events.push(builder.event(CustomEvent::call(&*self.id, &*call.id, ToolCallState::Allowed)));
        }
        let asked: Vec<&Call> =
            calls.iter().filter(|call| matches!(call.path, CallPath::Confirmed | CallPath::Rejected)).collect();
        if !asked.is_empty() {
            let tool_calls: Vec<_> = asked.iter().map(|call| call.block(builder)).collect();
            events.push(builder.event(RequireUserConfirmEvent::new(self.id.clone(), tool_calls)));
            events.extend(self.answers(builder, asked));
        }
        let external: Vec<&Call> = calls.iter().filter(|call| call.path == CallPath::External).collect();
        if !external.is_empty() {
            let tool_calls: Vec<_> = external.iter().map(|call| call.block(builder)).collect();
            events.push(builder.event(RequireExternalExecutionEvent::new(self.id.clone(), tool_calls)));
        }
        events
    }

    /// Generates the confirmation results, in one or more events and in any order.
    fn answers(&self, builder: &mut StreamBuilder, asked: Vec<&Call>) -> Vec<UnstampedEvent> {
        let size = if builder.random.chance(60) { asked.len() } else { 1 };
        let asked = builder.random.shuffled(asked);
        asked
            .chunks(size)
            .map(|calls| {
                let confirm_results: Vec<_> = calls.iter().map(|call| answer(builder, call)).collect();
                builder.event(UserConfirmResultEvent::new(self.id.clone(), confirm_results))
            })
            .collect()
    }

    fn results(&self, builder: &mut StreamBuilder, calls: &[Call]) -> Vec<Vec<UnstampedEvent>> {
        let mut sequences = Vec::new();
        let mut executed = Vec::new();
        for call in calls {
            if call.path == CallPath::External && builder.beyond_python(70) {
                executed.push(external_result(builder, call));
            } else {
                sequences.push(self.result(builder, call));
            }
        }
        if !executed.is_empty() {
            let kind = ExternalExecutionResultEvent::new(self.id.clone(), executed);
            sequences.push(vec![builder.event(kind)]);
        }
        sequences
    }

    /// Generates the events of a streamed result.
    fn result(&self, builder: &mut StreamBuilder, call: &Call) -> Vec<UnstampedEvent> {
        let start = builder.event(ToolResultStartEvent::new(self.id.clone(), call.id.clone(), call.name.clone()));
        let mut events = vec![with_extra(builder, start)];
        for item in 0..builder.random.below(4) {
            if builder.random.chance(60) {
                events.extend(self.result_text(builder, call));
            } else {
                events.extend(self.result_data(builder, call, item));
            }
        }
        let state = match call.path {
            CallPath::Rejected => ToolResultState::Denied,
            CallPath::Plain | CallPath::Rule | CallPath::Confirmed | CallPath::External => {
                builder.random.pick(&[ToolResultState::Success, ToolResultState::Error, ToolResultState::Interrupted])
            }
        };
        let end = ToolResultEndEvent::new(self.id.clone(), call.id.clone(), state);
        events.push(builder.event(end));
        without_last_end(self, builder, events)
    }

    fn result_text(&self, builder: &mut StreamBuilder, call: &Call) -> Vec<UnstampedEvent> {
        let text = samples::text(&mut builder.random);
        samples::pieces(&mut builder.random, &text)
            .into_iter()
            .map(|piece| builder.event(ToolResultTextDeltaEvent::new(self.id.clone(), call.id.clone(), piece)))
            .collect()
    }

    /// Generates a data item. In the Recount profile it may be split into pieces with the same id.
    fn result_data(&self, builder: &mut StreamBuilder, call: &Call, item: usize) -> Vec<UnstampedEvent> {
        let media_type = samples::media_type(&mut builder.random);
        let has_id = !builder.beyond_python(20);
        let delta = |data: Option<String>, url: Option<String>| {
            let mut delta = ToolResultDataDeltaEvent::new(self.id.clone(), call.id.clone(), media_type.clone());
            delta.block_id = has_id.then(|| format!("item{item}").into());
            delta.data = data.map(Into::into);
            delta.url = url.map(Into::into);
            delta
        };
        if builder.random.chance(25) {
            let url = samples::url(&mut builder.random);
            return vec![named(builder, delta(None, Some(url)))];
        }
        let is_cut = has_id && builder.beyond_python(70);
        let pieces = if is_cut {
            base64_data::pieces(&mut builder.random)
        } else {
            vec![base64_data::base64(&base64_data::bytes(&mut builder.random))]
        };
        pieces.into_iter().map(|data| named(builder, delta(Some(data), None))).collect()
    }
}

/// Creates the event, sometimes with a name and extra fields for its data.
fn named(builder: &mut StreamBuilder, delta: ToolResultDataDeltaEvent<'static>) -> UnstampedEvent {
    let event = builder.event(delta);
    let event = with_extra(builder, event);
    if builder.beyond_python(20) { event.with_extension("name", samples::text(&mut builder.random)) } else { event }
}

fn answer(builder: &mut StreamBuilder, call: &Call) -> ConfirmResult {
    let mut block = call.block(builder);
    if builder.beyond_python(40) {
        block.input = blocks::arguments(&mut builder.random);
    }
    let mut answer =
        if call.path == CallPath::Confirmed { ConfirmResult::allow(block) } else { ConfirmResult::deny(block) };
    if builder.random.chance(30) {
        answer = answer.with_rules([blocks::rule(&mut builder.random)]);
    }
    answer.extra = free_json::rare_fields(&mut builder.random);
    answer
}

fn external_result(builder: &mut StreamBuilder, call: &Call) -> ToolResultBlock {
    let mut result = blocks::result(&mut builder.random, builder.profile, &call.id);
    result.name.clone_from(&call.name);
    result
}
