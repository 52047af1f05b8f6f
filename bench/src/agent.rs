//! The agent with a model that answers at once.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use recount_agent::tool::{FunctionTool, ToolSpec};
use recount_agent::{Agent, AgentReplyWriter, BoxFuture, ChatModel};
use recount_message::{EventKind, Json, Msg, Usage};
use recount_model::client::{CallOptions, CallOutcome};
use recount_model::decode::{CallEnd, StopReason};
use serde::Deserialize;

use crate::clock::cpu_time;

/// What a delta of text says.
const PIECE: &str = "twelve chars";

/// What the model answers.
#[derive(Debug, Clone, Copy)]
pub enum Workload {
    /// One answer of so many deltas of text.
    Talk(usize),
    /// So many rounds, each with a text in four pieces, a call whose arguments come in three, and the tool's result.
    Tools(usize),
}

/// What a reply took.
#[derive(Debug, Clone, Deserialize)]
pub struct Taken {
    /// How many events came.
    pub events: usize,
    /// Of the processor.
    pub seconds: f64,
    /// From a piece of the model's to its event.
    pub lag: Option<Lag>,
}

/// Seconds on the wall from a piece of the model's to its event.
#[derive(Debug, Clone, Copy, Deserialize)]
pub struct Lag {
    /// Of half of them.
    pub median: f64,
    /// Of all but one in a hundred.
    pub p99: f64,
}

/// What Python took.
#[derive(Debug, Clone, Deserialize)]
pub struct Theirs {
    /// See [`Workload::Talk`].
    pub talk: Taken,
    /// See [`Workload::Tools`].
    pub tools: Taken,
}

/// A model that answers at once, and notes when it gave each piece of text.
struct Instantly {
    workload: Workload,
    given: Arc<Mutex<Vec<Instant>>>,
    asked: Mutex<usize>,
}

impl ChatModel for Instantly {
    fn name(&self) -> &str {
        "instant"
    }

    fn call<'a>(
        &'a self,
        _messages: &'a [Msg],
        _options: &'a CallOptions,
        reply: &'a mut AgentReplyWriter,
    ) -> BoxFuture<'a, CallOutcome> {
        let round = {
            let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
            *asked += 1;
            *asked
        };
        Box::pin(async move {
            reply.model_call("instant");
            let (deltas, calls) = match self.workload {
                Workload::Talk(deltas) => (deltas, false),
                Workload::Tools(rounds) if round <= rounds => (4, true),
                Workload::Tools(_) => (1, false),
            };
            for _ in 0..deltas {
                self.given.lock().unwrap_or_else(PoisonError::into_inner).push(Instant::now());
                reply.text(PIECE);
                tokio::task::yield_now().await;
            }
            if calls {
                let call = reply.tool_call(&format!("c{round}"), "echo");
                for piece in [r#"{"text":"#, &format!("\"round {round}\""), "}"] {
                    reply.tool_input(&call, piece);
                    tokio::task::yield_now().await;
                }
            }
            let usage = Some(Usage::new(1, 1));
            reply.end_model_call(usage.clone());
            let finish = if calls { StopReason::ToolCalls } else { StopReason::Stop };
            CallOutcome::new(CallEnd::completed(finish, usage, true), "instant/instant")
        })
    }
}

/// The least time of a reply in some rounds.
///
/// # Errors
///
/// When the reply fails.
pub fn ours(workload: Workload, rounds: usize) -> anyhow::Result<Taken> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut best: Option<Taken> = None;
    for _ in 0..rounds {
        let taken = runtime.block_on(reply(workload))?;
        if best.as_ref().is_none_or(|best| taken.seconds < best.seconds) {
            best = Some(taken);
        }
    }
    best.context("no round was asked for")
}

async fn reply(workload: Workload) -> anyhow::Result<Taken> {
    let given = Arc::new(Mutex::new(Vec::new()));
    let model = Instantly { workload, given: Arc::clone(&given), asked: Mutex::new(0) };
    let schema = r#"{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}"#;
    let spec = ToolSpec::new("echo", "Says what it was given.").parameters(Json::parse(schema)?).read_only();
    let echo = FunctionTool::dynamic(spec, |arguments, _context| async move {
        Ok(arguments.get("text").and_then(Json::as_str).map(str::to_owned).unwrap_or_default())
    });
    let agent = Agent::builder("Friday")
        .system_prompt("Be brief.")
        .model(model)
        .tool(echo)
        .max_iterations(1_000_000)
        .runtime_state(None)
        .build()?;
    let mut lags = Vec::new();
    let mut events = 0;
    let begin = cpu_time();
    let mut stream = agent.reply_stream("Go on.")?;
    while let Some(event) = stream.next().await {
        events += 1;
        if matches!(workload, Workload::Talk(_)) && matches!(event.kind, EventKind::TextBlockDelta(_)) {
            let given = given.lock().unwrap_or_else(PoisonError::into_inner).get(lags.len()).copied();
            lags.push(given.map_or(Duration::ZERO, |given| given.elapsed()));
        }
    }
    let seconds = cpu_time().saturating_sub(begin).as_secs_f64();
    stream.into_msg().await?;
    Ok(Taken { events, seconds, lag: lag(lags) })
}

fn lag(mut lags: Vec<Duration>) -> Option<Lag> {
    lags.sort_unstable();
    let at = |share: usize| lags.get(lags.len() * share / 100).map(Duration::as_secs_f64);
    Some(Lag { median: at(50)?, p99: at(99)? })
}

/// What AgentScope for Python takes for the same.
///
/// # Errors
///
/// When the interpreter cannot be run or does not have the package.
pub fn theirs(interpreter: &PathBuf, deltas: usize, rounds: usize) -> anyhow::Result<Theirs> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("python/agent.py");
    let output = Command::new(interpreter)
        .arg(&script)
        .args([deltas.to_string(), rounds.to_string()])
        .output()
        .with_context(|| format!("cannot run {}", interpreter.display()))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!(
            "{} failed:\n{}\nhint: it needs the packages of conformance/python/requirements.txt",
            script.display(),
            said.trim_end()
        );
    }
    serde_json::from_slice(&output.stdout).context("the script did not print what it should")
}
