//! Tools with all kinds of behaviour.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use recount_agent::multi_agent::SubAgent;
use recount_agent::permission::{PermissionContext, ToolPermission};
use recount_agent::tool::{Tool, ToolContext, ToolError, ToolOutput, ToolSpec, Toolkit};
use recount_agent::{Agent, BoxFuture};
use recount_message::{DataBlock, Object};

use crate::ON_PURPOSE;
use crate::log::Log;
use crate::looker::looker;

/// The names of the tools, which describe their behaviour, and the name of a missing one.
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
    // Several times, because sub-agents exercise most of the code.
    "helper",
    "helper",
    "helper",
    "unknown",
];

/// How often each call was run. Clones share the counts.
#[derive(Debug, Clone, Default)]
pub(crate) struct Runs(Arc<Mutex<Ran>>);

#[derive(Debug, Default)]
struct Ran {
    times: BTreeMap<(String, String), u32>,
    /// Violations. They are recorded, because a panic in a tool would only become its result.
    wrong: Vec<String>,
}

impl Runs {
    pub(crate) fn check(&self) {
        let wrong = &self.0.lock().unwrap().wrong;
        assert!(wrong.is_empty(), "{wrong:?}");
    }
}

struct Random {
    spec: ToolSpec,
    log: Log,
    runs: Runs,
}

pub(crate) fn toolkit(log: &Log, runs: &Runs) -> Toolkit {
    let known = NAMES.iter().filter(|name| !["unknown", "helper"].contains(*name));
    let toolkit = known.fold(Toolkit::new(), |toolkit, name| toolkit.with(Random::new(name, log, runs)).unwrap());
    toolkit.with(sub_agent(log, runs)).unwrap()
}

/// A sub-agent that needs confirmations and has a sub-agent of its own.
fn sub_agent(log: &Log, runs: &Runs) -> SubAgent {
    let (log, runs) = (log.clone(), runs.clone());
    let tool = move |name: &str| Random::new(name, &log, &runs);
    let innermost = {
        let tool = tool.clone();
        SubAgent::new("innermost", "Works for the sub-agent.", move || {
            let model = looker(vec![vec![("i1", "asks", "{}")]], "Finished for the sub-agent.");
            Agent::builder("Innermost").model(model).tool(tool("asks"))
        })
    };
    SubAgent::new("helper", "Helps.", move || {
        let rounds = vec![
            vec![("h1", "slow_concurrently", "{}"), ("h2", "asks_concurrently", "{}")],
            vec![("h3", "innermost", r#"{"task": "Help."}"#)],
        ];
        let model = looker(rounds, "Helped.");
        let tools = ["slow_concurrently", "asks_concurrently"].map(&tool);
        let agent = Agent::builder("Helper").model(model).tool(innermost.clone());
        tools.into_iter().fold(agent, recount_agent::AgentBuilder::tool)
    })
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

    /// Asserts that a tool that is not idempotent runs at most once for a call, and only after its start is committed.
    fn note(&self, context: &ToolContext) {
        let call = (context.reply_id().to_owned(), context.call_id().to_owned());
        let mut runs = self.runs.0.lock().unwrap();
        let times = runs.times.entry(call).or_default();
        *times += 1;
        if *times > 1 && !self.spec.idempotent {
            runs.wrong.push(format!("{} runs twice for {}", self.spec.name, context.call_id()));
        }
        if !self.log.has_begun(context.reply_id(), context.call_id()) {
            runs.wrong.push(format!("{} runs before its start is committed", context.call_id()));
        }
    }

    async fn work(&self, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        self.note(context);
        let name = self.spec.name.as_str();
        if name.starts_with("panics") {
            context.write_text("half ").await;
            panic!("{ON_PURPOSE}");
        }
        if name.starts_with("hangs") {
            context.write_text("begun ").await;
            std::future::pending::<()>().await;
        }
        if name.contains("slow") {
            for _ in 0..5 {
                tokio::task::yield_now().await;
                context.write_text("step ").await;
            }
        }
        if name.starts_with("streams") {
            context.write_text("look: ").await;
            context.write_data(DataBlock::from_bytes(b"GIF89a")).await;
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

    fn check_permission<'a>(
        &'a self,
        _arguments: &'a Object,
        _context: &'a PermissionContext,
    ) -> BoxFuture<'a, ToolPermission> {
        let permission = match self.spec.name.as_str() {
            "denies" => ToolPermission::Deny("on principle".to_owned()),
            "asks" => ToolPermission::AskForSafety("it could do harm".to_owned()),
            "asks_concurrently" | "external_asks" => ToolPermission::Ask("it asks".to_owned()),
            _ => ToolPermission::Allow,
        };
        Box::pin(async { permission })
    }
}
