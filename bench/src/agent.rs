//! The agent with a model that responds without delay.

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

/// The text of a delta.
const PIECE: &str = "twelve chars";

/// The responses of the model.
#[derive(Debug, Clone, Copy)]
pub enum Workload {
    /// One response with this number of text deltas.
    Talk(usize),
    /// This number of rounds, each with text in four deltas, a call with arguments in three, and the tool's result.
    Tools(usize),
}

/// The measurement of a reply.
#[derive(Debug, Clone, Deserialize)]
pub struct Measurement {
    /// The number of events.
    pub events: usize,
    /// CPU time in seconds.
    pub seconds: f64,
    /// The latency from a delta of the model to its event.
    pub lag: Option<Lag>,
}

/// Wall-clock seconds from a delta of the model to its event.
#[derive(Debug, Clone, Copy, Deserialize)]
pub struct Lag {
    /// The median.
    pub median: f64,
    /// The 99th percentile.
    pub p99: f64,
}

/// The measurements of AgentScope for Python.
#[derive(Debug, Clone, Deserialize)]
pub struct PythonMeasurements {
    /// See [`Workload::Talk`].
    pub talk: Measurement,
    /// See [`Workload::Tools`].
    pub tools: Measurement,
}

/// A model that responds without delay and records the time of each text delta.
struct InstantModel {
    workload: Workload,
    sent: Arc<Mutex<Vec<Instant>>>,
    calls: Mutex<usize>,
}

impl ChatModel for InstantModel {
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
            let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
            *calls += 1;
            *calls
        };
        Box::pin(async move {
            reply.model_call("instant");
            let (deltas, calls) = match self.workload {
                Workload::Talk(deltas) => (deltas, false),
                Workload::Tools(rounds) if round <= rounds => (4, true),
                Workload::Tools(_) => (1, false),
            };
            for _ in 0..deltas {
                self.sent.lock().unwrap_or_else(PoisonError::into_inner).push(Instant::now());
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
            let stop_reason = if calls { StopReason::ToolCalls } else { StopReason::Stop };
            CallOutcome::new(CallEnd::completed(stop_reason, usage, true), "instant/instant")
        })
    }
}

/// Returns the fastest of `rounds` replies of Recount's agent.
///
/// # Errors
///
/// Returns an error if a reply fails.
pub fn measure_recount(workload: Workload, rounds: usize) -> anyhow::Result<Measurement> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut best: Option<Measurement> = None;
    for _ in 0..rounds {
        let measurement = runtime.block_on(reply(workload))?;
        if best.as_ref().is_none_or(|best| measurement.seconds < best.seconds) {
            best = Some(measurement);
        }
    }
    best.context("`rounds` must be at least 1")
}

async fn reply(workload: Workload) -> anyhow::Result<Measurement> {
    let sent = Arc::new(Mutex::new(Vec::new()));
    let model = InstantModel { workload, sent: Arc::clone(&sent), calls: Mutex::new(0) };
    let schema = r#"{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}"#;
    let spec = ToolSpec::new("echo", "Returns its input.").parameters(Json::parse(schema)?).read_only();
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
            let sent = sent.lock().unwrap_or_else(PoisonError::into_inner).get(lags.len()).copied();
            lags.push(sent.map_or(Duration::ZERO, |sent| sent.elapsed()));
        }
    }
    let seconds = cpu_time().saturating_sub(begin).as_secs_f64();
    stream.into_msg().await?;
    Ok(Measurement { events, seconds, lag: lag(lags) })
}

fn lag(mut lags: Vec<Duration>) -> Option<Lag> {
    lags.sort_unstable();
    let at = |share: usize| lags.get(lags.len() * share / 100).map(Duration::as_secs_f64);
    Some(Lag { median: at(50)?, p99: at(99)? })
}

/// Runs the same workloads with AgentScope for Python.
///
/// # Errors
///
/// Returns an error if the interpreter cannot be run or does not have the package.
pub fn measure_python(interpreter: &PathBuf, deltas: usize, rounds: usize) -> anyhow::Result<PythonMeasurements> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("python/agent.py");
    let output = Command::new(interpreter)
        .arg(&script)
        .args([deltas.to_string(), rounds.to_string()])
        .output()
        .with_context(|| format!("cannot run {}", interpreter.display()))?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        bail!(
            "{} failed:\n{}\nhint: it needs the packages of conformance/python/requirements.txt",
            script.display(),
            stderr.trim_end()
        );
    }
    serde_json::from_slice(&output.stdout).context("invalid output of the script")
}
