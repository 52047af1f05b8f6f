//! Tools that do whatever tools do.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use recount_agent::BoxFuture;
use recount_agent::permission::{Opinion, Surroundings};
use recount_agent::tool::{Tool, ToolContext, ToolError, ToolOutput, ToolSpec, Toolkit};
use recount_message::{DataBlock, Object};

use crate::ON_PURPOSE;
use crate::log::Log;

/// The tools, and one that there is not. What they do is in their names.
pub(crate) const NAMES: &[&str] = &[
    "works",
    "works_concurrently",
    "streams_concurrently",
    "fails",
    "panics",
    "panics_concurrently",
    "hangs",
    "hangs_concurrently",
    "asks",
    "asks_concurrently",
    "denies",
    "external",
    "external_concurrently",
    "external_asks",
    "idempotent_slow",
    "slow_concurrently",
    "stops",
    "unknown",
];

/// How often each call ran. Clones are the same.
#[derive(Debug, Clone, Default)]
pub(crate) struct Runs(Arc<Mutex<BTreeMap<(String, String), u32>>>);

struct Random {
    spec: ToolSpec,
    log: Log,
    runs: Runs,
}

pub(crate) fn toolkit(log: &Log, runs: &Runs) -> Toolkit {
    let known = NAMES.iter().filter(|name| **name != "unknown");
    known.fold(Toolkit::new(), |toolkit, name| toolkit.with(Random::new(name, log, runs)).unwrap())
}

impl Random {
    fn new(name: &str, log: &Log, runs: &Runs) -> Self {
        let schema = r#"{"type":"object","properties":{"x":{"type":"string"}}}"#;
        let mut spec = ToolSpec::new(name, "Does something.").parameters(recount_message::Json::parse(schema).unwrap());
        spec.concurrency_safe = name.ends_with("concurrently");
        spec.external = name.starts_with("external");
        spec.idempotent = name.starts_with("idempotent");
        Self { spec, log: log.clone(), runs: runs.clone() }
    }

    /// A tool that is not idempotent never runs twice for a call, and nothing runs before the log knows.
    fn note(&self, context: &ToolContext) {
        let call = (context.reply_id().to_owned(), context.call_id().to_owned());
        let mut runs = self.runs.0.lock().unwrap();
        let times = runs.entry(call).or_default();
        *times += 1;
        assert!(*times == 1 || self.spec.idempotent, "{} runs twice for {}", self.spec.name, context.call_id());
        assert!(self.log.has_begun(context.call_id()), "{} runs before its start is safe", context.call_id());
    }

    async fn work(&self, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        self.note(context);
        let name = self.spec.name.as_str();
        if name.starts_with("panics") {
            context.say("half ").await;
            panic!("{ON_PURPOSE}");
        }
        if name.starts_with("hangs") {
            context.say("begun ").await;
            std::future::pending::<()>().await;
        }
        if name.contains("slow") {
            for _ in 0..5 {
                tokio::task::yield_now().await;
                context.say("step ").await;
            }
        }
        if name.starts_with("streams") {
            context.say("look: ").await;
            context.show(DataBlock::from_bytes(b"GIF89a")).await;
            context.signal("progress", [("done", 1)]).await;
        }
        if name == "stops" {
            context.request_stop("enough").await;
        }
        if name == "fails" { Err(ToolError::new("it fails")) } else { Ok(ToolOutput::new("done")) }
    }
}

impl Tool for Random {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn run<'a>(&'a self, _arguments: Object, context: &'a ToolContext) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(self.work(context))
    }

    fn opinion<'a>(&'a self, _arguments: &'a Object, _surroundings: &'a Surroundings) -> BoxFuture<'a, Opinion> {
        let opinion = match self.spec.name.as_str() {
            "denies" => Opinion::Deny("on principle".to_owned()),
            "asks" => Opinion::AskForSafety("it could do harm".to_owned()),
            "asks_concurrently" | "external_asks" => Opinion::Ask("it asks".to_owned()),
            _ => Opinion::Allow,
        };
        Box::pin(async { opinion })
    }
}
