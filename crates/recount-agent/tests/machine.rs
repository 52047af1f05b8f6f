//! The state machine without a driver: for any behaviour of models, users and tools, a reply ends, does nothing twice,
//! and can be persisted and restored after every step.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::HashMap;

use proptest::prelude::*;
use recount_agent::machine::{CallStatus, EndReason, Limits, OpenCalls, Step, ToolPolicy, next_step};
use recount_agent::{AgentState, Phase, ReplyState};
use recount_message::{
    AgentEvent, Checkpoint, CheckpointReply, ConfirmResult, Event, ExternalExecutionResultEvent, Fold, Json, Msg,
    Object, ReplyEnd, ReplyStart, ReplyWriter, Stamps, ToolResultState, UserConfirmResultEvent,
};

type Sink = Box<dyn FnMut(AgentEvent)>;

/// A source of decisions, drawn from a list.
struct Fate(std::vec::IntoIter<u8>);

impl Fate {
    fn below(&mut self, count: u8) -> u8 {
        self.0.next().unwrap_or(0) % count
    }
}

/// A reply that is driven by a list of decisions.
struct Course {
    reply: ReplyWriter<Sink>,
    state: AgentState,
    limits: Limits,
    fate: Fate,
    /// How often each call was run.
    runs: HashMap<String, u32>,
    model_calls: u32,
}

impl Course {
    fn new(fate: Vec<u8>, limits: Limits, has_schema: bool) -> Self {
        let mut state = AgentState::new("s1");
        let schema = has_schema.then(|| Json::parse("{}").unwrap());
        let mut reply_state = ReplyState::new("r1");
        reply_state.schema = schema;
        state.reply = Some(reply_state);
        let sink: Sink = Box::new(|_| {});
        let reply =
            ReplyWriter::start_with(sink, Stamps::repeatable(), ReplyStart::new("s1", "Friday").with_reply_id("r1"));
        Self { reply, state, limits, fate: Fate(fate.into_iter()), runs: HashMap::new(), model_calls: 0 }
    }

    fn known(&mut self) -> &mut ReplyState {
        self.state.reply.as_mut().unwrap()
    }

    fn step(&self) -> Step {
        next_step(self.state.reply.as_ref().unwrap(), self.reply.message(), self.reply.call_floor(), &self.limits)
    }

    /// Persists and restores the reply.
    fn reloaded(&mut self) {
        self.state = AgentState::from_json(&self.state.to_json()).unwrap();
        let call_floor = Some(self.reply.call_floor());
        let message = self.reply.pause().into_message();
        let checkpoint =
            Checkpoint { cursor: 0, replies: vec![CheckpointReply { message, call_floor }], taken: vec![] };
        let fold = Fold::resume(Checkpoint::from_json(&checkpoint.to_json()).unwrap());
        let sink: Sink = Box::new(|_| {});
        self.reply = ReplyWriter::resume(sink, Stamps::default(), "s1", fold.reply("r1").unwrap().clone());
    }

    fn call_model(&mut self, choice: ToolPolicy) {
        self.model_calls += 1;
        self.known().iteration += 1;
        self.known().rejected = false;
        self.reply.model_call("some-model");
        let what = if choice == ToolPolicy::None { self.fate.below(2) } else { self.fate.below(5) };
        match what {
            0 => self.reply.text("Hello"),
            1 => self.reply.thinking("Hm."),
            2 => {}
            _ => {
                for index in 0..=self.fate.below(3) {
                    let call = self.reply.tool_call(&format!("c{index}"), "tool");
                    self.reply.tool_input(&call, "{}");
                }
            }
        }
        self.reply.end_model_call(None);
        self.known().phase = Phase::Answered;
    }

    fn run_tool(&mut self, id: &str) {
        let is_allowed = OpenCalls::of(self.reply.message())
            .iter()
            .any(|(open, status)| open == id && status == CallStatus::Allowed);
        let call = self.reply.unanswered_call(id).unwrap();
        match self.fate.below(5) {
            0 if !is_allowed => self.reply.ask(&call, vec![]),
            1 => {
                let again = self.reply.unanswered_call(id).unwrap();
                let _result = self.reply.tool_result(call);
                self.reply.submit(&[&again]);
            }
            2 if !is_allowed => {
                let result = self.reply.tool_result(call);
                self.reply.end_result(result, ToolResultState::Denied);
            }
            // An earlier answer may decide about this call.
            3 if !is_allowed && OpenCalls::of(self.reply.message()).is_waiting() => {}
            _ => {
                *self.runs.entry(id.to_owned()).or_default() += 1;
                let result = self.reply.tool_result(call);
                if self.state.reply.as_ref().unwrap().schema.is_some() && self.fate.below(3) == 0 {
                    self.known().structured_output = Some(Object::new());
                }
                self.reply.end_result(result, ToolResultState::Success);
            }
        }
    }

    fn answer(&mut self, confirmations: &[String], results: &[String]) {
        let count = u8::try_from(confirmations.len() + results.len()).unwrap();
        let chosen = usize::from(self.fate.below(count));
        if let Some(id) = confirmations.get(chosen) {
            let asked = self.reply.message().call(id).unwrap().clone();
            let is_yes = self.fate.below(2) == 0;
            let answer = if is_yes { ConfirmResult::allow(asked) } else { ConfirmResult::deny(asked) };
            let outcome = self.reply.record(Event::new(UserConfirmResultEvent::new("r1", [answer])));
            assert_eq!(outcome.reason(), None);
            if !is_yes {
                self.known().rejected = true;
                let call = self.reply.unanswered_call(id).unwrap();
                let result = self.reply.tool_result(call);
                self.reply.end_result(result, ToolResultState::Denied);
            }
        } else if let Some(id) = results.get(chosen - confirmations.len()) {
            let submitted = self.reply.message().call(id).unwrap().clone();
            let event = ExternalExecutionResultEvent::new("r1", [submitted.success("done")]);
            assert_eq!(self.reply.record(Event::new(event)).reason(), None);
            let result = self.reply.open_result(id).unwrap();
            self.reply.end_result(result, ToolResultState::Success);
        }
    }

    /// Runs the reply to its end. Returns the message and the reason for the end.
    fn finish(mut self) -> (Msg, EndReason, Self) {
        loop {
            let step = self.step();
            assert_eq!(self.step(), step, "the same question has the same answer");
            self.reloaded();
            assert_eq!(self.step(), step, "nothing is lost by writing it down");
            match step {
                Step::CallModel(plan) => self.call_model(plan.tool_policy),
                Step::RunTools(calls) => {
                    assert!(!calls.is_empty());
                    calls.iter().for_each(|id| self.run_tool(id));
                }
                Step::Wait(waiting) => {
                    assert!(!waiting.confirmations.is_empty() || !waiting.results.is_empty());
                    self.answer(&waiting.confirmations, &waiting.results);
                }
                Step::End(end) => {
                    self.reply.finish(ReplyEnd::completed());
                    return (self.reply.message().clone(), end, self);
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn reply_ends_for_any_sequence_of_events(
        fate in prop::collection::vec(any::<u8>(), 0..200),
        max_iterations in 0_u32..4,
        grace_iterations in 0_u32..3,
        stop_on_reject: bool,
        has_schema: bool,
    ) {
        let limits = Limits { max_iterations, grace_iterations, stop_on_reject };
        let (message, end, course) = Course::new(fate, limits, has_schema).finish();
        // Every round counts, including those with external results.
        let most = if has_schema { max_iterations + grace_iterations } else { max_iterations + 1 };
        prop_assert!(course.model_calls <= most, "{} model calls", course.model_calls);
        prop_assert!(course.runs.values().all(|runs| *runs == 1), "{:?}", course.runs);
        // Law 8: every call has exactly one result.
        for (call, result) in message.tool_pairs() {
            prop_assert!(result.is_some_and(|result| result.finished_at.is_some()), "{}", call.id);
        }
        let ids: std::collections::HashSet<&str> = message.tool_pairs().map(|(call, _)| call.id.as_str()).collect();
        prop_assert_eq!(ids.len(), message.tool_pairs().count());
        if has_schema && end == EndReason::Completed {
            prop_assert!(false, "a reply that owes an output has ended without it");
        }
    }
}
