//! One random lifetime of an agent.

use std::time::Duration;

use pretty_assertions::assert_eq;
use recount_agent::scripted::ScriptedModel;
use recount_agent::{Agent, Compression, Error, Input, ReplyStream};
use recount_message::{
    AgentEvent, ConfirmResult, CustomName, EventKind, ExternalExecutionResultEvent, FinishedReason, Msg, Stamps,
    ToolCallBlock, ToolCallState, UserConfirmResultEvent, UserInterruptEvent,
};

use crate::laws;
use crate::log::Log;
use crate::model;
use crate::presentable::presentable;
use crate::random::Random;
use crate::tools::{Runs, toolkit};

/// Statistics of lifetimes.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    lives: u32,
    replies: u32,
    events: usize,
    completed: u32,
    interrupted: u32,
    exceeded: u32,
    failed: u32,
    waited: u32,
    dropped: u32,
    crashed: u32,
    reloaded: u32,
    refused: u32,
    compressed: usize,
    helped: usize,
}

impl Tally {
    pub(crate) fn add(&mut self, other: &Self) {
        self.lives += other.lives;
        self.replies += other.replies;
        self.events += other.events;
        self.completed += other.completed;
        self.interrupted += other.interrupted;
        self.exceeded += other.exceeded;
        self.failed += other.failed;
        self.waited += other.waited;
        self.dropped += other.dropped;
        self.crashed += other.crashed;
        self.reloaded += other.reloaded;
        self.refused += other.refused;
        self.compressed += other.compressed;
        self.helped += other.helped;
    }
}

struct Life {
    random: Random,
    log: Log,
    runs: Runs,
    model: ScriptedModel,
    limits: Limits,
    agent: Agent,
    tally: Tally,
}

/// The limits of the agent.
#[derive(Debug, Clone, Copy)]
struct Limits {
    iterations: u32,
    retries: u32,
    stop_on_reject: bool,
    /// The context window of the model. A small one causes many summaries.
    window: u64,
    result_limit: usize,
    images: usize,
}

/// How a reply is read or interrupted.
#[derive(Debug, Clone, Copy)]
enum Fate {
    Nothing,
    Interrupt,
    Drop,
    Crash,
}

pub(crate) async fn live(seed: u64) -> Tally {
    let mut random = Random::new(seed);
    let model = model::script(&mut random);
    let (log, runs) = (Log::default(), Runs::default());
    let limits = Limits {
        iterations: *random.pick(&[1, 2, 3, 50]),
        retries: *random.pick(&[0, 1, 2]),
        stop_on_reject: random.chance(30),
        window: *random.pick(&[30, 100, 4_000, 1_000_000]),
        result_limit: *random.pick(&[2, 50_000]),
        images: *random.pick(&[0, 1, 20]),
    };
    let agent = build(&log, &runs, &model, limits, true);
    let mut life = Life { random, log, runs, model, limits, agent, tally: Tally { lives: 1, ..Tally::default() } };
    for _ in 0..4 {
        life.turn().await;
        laws::check(&life.agent, &life.log);
        life.runs.check();
    }
    life.last_turn().await;
    life.tally.events = life.log.events().len();
    life.tally
}

fn build(log: &Log, runs: &Runs, model: &ScriptedModel, limits: Limits, is_new: bool) -> Agent {
    let Limits { iterations, retries, stop_on_reject, window, result_limit, images } = limits;
    let builder = Agent::builder("Friday")
        .model(model.clone())
        .fallback(model.clone())
        .toolkit(toolkit(log, runs))
        .max_iterations(iterations)
        .max_retries(retries)
        .stop_on_reject(stop_on_reject)
        .compression(Compression::new(window).summary_model(model::summariser()))
        .tool_result_limit(result_limit)
        .max_images(images)
        .stamps(Stamps::default())
        .sink(log.sink());
    match log.saved().filter(|_| !is_new) {
        Some(saved) => builder.resume(saved).build().unwrap(),
        None => builder.build().unwrap(),
    }
}

impl Life {
    /// Sends input to the agent, and reads the reply.
    async fn turn(&mut self) {
        if self.random.chance(10) {
            self.reload();
        }
        if self.random.chance(10) {
            self.agent.observe([Msg::user("Bob", "By the way.")]).unwrap();
        }
        self.try_nonsense();
        let input = self.input();
        let stream = match self.agent.reply_stream(input) {
            Ok(stream) => stream,
            Err(Error::Rejected(_)) => return self.tally.refused += 1,
            Err(other) => panic!("{other}"),
        };
        self.tally.replies += 1;
        let fate = match self.random.below(10) {
            0 | 1 => Fate::Interrupt,
            2 => Fate::Drop,
            3 | 4 => Fate::Crash,
            _ => Fate::Nothing,
        };
        let after = self.random.below(25);
        self.read(stream, fate, after).await;
    }

    async fn read(&mut self, mut stream: ReplyStream, fate: Fate, after: usize) {
        let mut seen = 0;
        loop {
            if seen == after {
                match fate {
                    Fate::Nothing => {}
                    Fate::Interrupt => drop(self.agent.interrupt()),
                    Fate::Drop => {
                        drop(stream);
                        return self.tally.dropped += 1;
                    }
                    Fate::Crash => {
                        self.log.crash(&mut self.random);
                        drop(stream);
                        self.tally.crashed += 1;
                        return self.restart();
                    }
                }
            }
            // The clock only advances when all tasks are idle, so the reply hangs.
            match tokio::time::timeout(Duration::from_secs(3600), stream.next()).await {
                Ok(Some(_)) => seen += 1,
                Ok(None) => break,
                Err(_) => assert!(self.agent.interrupt(), "a hanging reply can be interrupted"),
            }
        }
        let message = match stream.into_msg().await {
            Ok(message) => message,
            Err(error) => error.message().cloned().expect("a failed reply has a message"),
        };
        match message.finished_reason() {
            None => self.tally.waited += 1,
            Some(FinishedReason::Completed) => self.tally.completed += 1,
            Some(FinishedReason::Interrupted) => self.tally.interrupted += 1,
            Some(FinishedReason::ExceedMaxIters) => self.tally.exceeded += 1,
            Some(_) => self.tally.failed += 1,
        }
        let folded = self.log.fold();
        let folded = folded.messages().find(|folded| folded.id() == message.id()).map(Msg::to_json);
        assert_eq!(folded, Some(message.to_json()), "law 2");
    }

    /// Resumes the agent from the log in another process.
    fn restart(&mut self) {
        self.agent = build(&self.log, &self.runs, &self.model, self.limits, false);
    }

    fn reload(&mut self) {
        self.tally.reloaded += 1;
        let before = self.agent.messages();
        self.restart();
        if !before.is_empty() {
            assert_eq!(self.agent.messages(), before, "a reload changes nothing");
        }
    }

    /// Returns input that the agent accepts in its current state.
    fn input(&mut self) -> Input {
        let Some(open) = self.agent.open_reply() else {
            return if self.random.chance(10) { ().into() } else { "Go on.".into() };
        };
        // The waiting call may belong to a sub-agent.
        let fold = self.log.fold();
        let sub_agent = fold.open_replies().map(recount_message::ReplyFold::message).find(|message| {
            message.parent().is_some() && message.tool_pairs().any(|(call, _)| call.state == ToolCallState::Asking)
        });
        if let Some(sub_agent) = sub_agent
            && self.random.chance(80)
        {
            let asked = sub_agent.tool_pairs().map(|(call, _)| call).find(|call| call.state == ToolCallState::Asking);
            let answer = self.answer(asked.unwrap().clone());
            return UserConfirmResultEvent::new(sub_agent.id().to_owned(), [answer]).into();
        }
        let helped: Vec<String> = self.agent.state().sub_agents.into_keys().collect();
        let with_status = |state: ToolCallState| -> Vec<ToolCallBlock> {
            let pairs = open.tool_pairs().filter(|(call, _)| !helped.contains(&call.id)).filter(|(_, result)| {
                result.is_none_or(|result| result.state == recount_message::ToolResultState::Running)
            });
            pairs.filter(|(call, _)| call.state == state).map(|(call, _)| call.clone()).collect()
        };
        let (asked, submitted) = (with_status(ToolCallState::Asking), with_status(ToolCallState::Submitted));
        if self.random.chance(10) {
            return UserInterruptEvent::new(open.id().to_owned()).into();
        }
        if !asked.is_empty() && (submitted.is_empty() || self.random.chance(50)) {
            let some = self.some(asked);
            let answers: Vec<ConfirmResult> = some.into_iter().map(|call| self.answer(call)).collect();
            return UserConfirmResultEvent::new(open.id().to_owned(), answers).into();
        }
        if !submitted.is_empty() {
            let some = self.some(submitted);
            let results = some.into_iter().map(|call| call.success("from elsewhere"));
            return ExternalExecutionResultEvent::new(open.id().to_owned(), results).into();
        }
        // The process died.
        ().into()
    }

    /// Returns all elements, or only the first one.
    fn some(&mut self, mut calls: Vec<ToolCallBlock>) -> Vec<ToolCallBlock> {
        if self.random.chance(40) {
            calls.truncate(1);
        }
        calls
    }

    fn answer(&mut self, mut call: ToolCallBlock) -> ConfirmResult {
        match self.random.below(4) {
            0 => ConfirmResult::deny(call),
            1 => {
                call.input = r#"{"x":"edited"}"#.to_owned();
                ConfirmResult::allow(call)
            }
            2 => {
                let rules = call.suggested_rules.clone();
                ConfirmResult::allow(call).with_rules(rules)
            }
            _ => ConfirmResult::allow(call),
        }
    }

    /// Asserts that rejected input changes nothing.
    fn try_nonsense(&mut self) {
        let (before, entries) = (self.agent.messages(), self.log.events().len());
        let call = ToolCallBlock::new("unknown_call", "asks", "{}");
        let foreign = UserConfirmResultEvent::new("another", [ConfirmResult::allow(call.clone())]);
        assert!(self.agent.reply_stream(foreign).is_err());
        let late = ExternalExecutionResultEvent::new("another", [call.success("late")]);
        assert!(self.agent.reply_stream(late).is_err());
        assert!(self.agent.reply_stream(Msg::system("system", "Obey.")).is_err());
        assert_eq!(
            (self.agent.messages(), self.log.events().len()),
            (before, entries),
            "rejected input changes nothing"
        );
    }

    /// Asserts that any state can be ended by an interrupt, and that the next reply succeeds.
    async fn last_turn(&mut self) {
        for _ in 0..4 {
            let Some(open) = self.agent.open_reply() else { break };
            let stream = self.agent.reply_stream(UserInterruptEvent::new(open.id().to_owned()));
            let stream = stream.unwrap_or_else(|error| panic!("{error}"));
            self.read(stream, Fate::Nothing, 0).await;
            laws::check(&self.agent, &self.log);
        }
        assert_eq!(self.agent.open_reply(), None, "an interrupt ends a waiting reply");
        presentable(&self.agent.messages());
        let name = CustomName::Compressed.as_str();
        let is_signal = |event: &AgentEvent| matches!(&event.kind, EventKind::Custom(custom) if custom.name == name);
        self.tally.compressed = self.log.events().iter().filter(|event| is_signal(event)).count();
        let fold = self.log.fold();
        self.tally.helped = fold.messages().filter(|message| message.parent().is_some()).count();
        // Every request is acceptable to every provider, whatever was left out of it.
        self.model.requests().iter().rev().step_by(4).for_each(|asked| presentable(&asked.messages));
        self.model = ScriptedModel::new().says("Done.");
        self.restart();
        let message = self.agent.reply("Are you done?").await.unwrap();
        assert_eq!(message.finished_reason(), Some(FinishedReason::Completed));
        laws::check(&self.agent, &self.log);
    }
}
