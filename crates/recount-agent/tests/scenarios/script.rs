//! The file format of the scenarios.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::essence::Essence;

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Scenario {
    pub(crate) name: String,
    #[serde(rename = "about")]
    _about: String,
    #[serde(default)]
    pub(crate) options: Options,
    #[serde(default)]
    pub(crate) permissions: Permissions,
    #[serde(default)]
    pub(crate) tools: Vec<Tool>,
    #[serde(default)]
    pub(crate) groups: Vec<Group>,
    pub(crate) model: Vec<Call>,
    #[serde(default)]
    pub(crate) fallback: Vec<Call>,
    #[serde(default)]
    pub(crate) context: Vec<Message>,
    #[serde(default)]
    pub(crate) summaries: Vec<Value>,
    pub(crate) turns: Vec<Turn>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Options {
    pub(crate) injection: bool,
    pub(crate) max_iters: Option<u32>,
    pub(crate) grace_iters: Option<u32>,
    pub(crate) stop_on_reject: bool,
    pub(crate) raise_cancelled: bool,
    pub(crate) retries: u32,
    pub(crate) tool_result_limit: Option<usize>,
    pub(crate) swallow_first_end: bool,
    pub(crate) gate_in_permission: Option<String>,
    pub(crate) gate_before_tools: Option<String>,
    pub(crate) context_size: Option<u64>,
    pub(crate) offload: bool,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Permissions {
    pub(crate) mode: Option<String>,
    pub(crate) allow: Vec<String>,
    pub(crate) deny: Vec<String>,
    pub(crate) ask: Vec<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tool {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) concurrent: bool,
    #[serde(default)]
    pub(crate) external: bool,
    pub(crate) opinion: Option<String>,
    pub(crate) reason: Option<String>,
    pub(crate) group: Option<String>,
    pub(crate) schema: Option<Value>,
    pub(crate) metadata_schema: Option<Value>,
    pub(crate) steps: Option<Vec<Step>>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Group {
    pub(crate) name: String,
    pub(crate) description: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub(crate) enum Step {
    Gate {
        gate: String,
    },
    Raises {
        raises: String,
    },
    Cancels {
        #[serde(rename = "cancels")]
        _cancels: bool,
    },
    BreaksContract {
        #[serde(rename = "breaks_contract")]
        _breaks_contract: bool,
    },
    Blocks {
        blocks: Vec<Block>,
        #[serde(default)]
        metadata: Map<String, Value>,
    },
    Block {
        #[serde(flatten)]
        block: Block,
        state: Option<String>,
        #[serde(default)]
        metadata: Map<String, Value>,
    },
}

#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub(crate) enum Call {
    Text(String),
    Fails {
        fails: String,
    },
    Whole {
        whole: Vec<Block>,
        usage: Option<(u64, u64)>,
    },
    Chunks {
        chunks: Vec<Chunk>,
        #[serde(default = "one_each")]
        usage: Option<(u64, u64)>,
        waits: Option<String>,
    },
}

#[expect(clippy::unnecessary_wraps, reason = "a default has the type of its field")]
fn one_each() -> Option<(u64, u64)> {
    Some((1, 1))
}

#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub(crate) enum Chunk {
    Blocks(Vec<Block>),
    Last { last: Vec<Block> },
    Gate { gate: String },
    Breaks { breaks: String },
}

#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub(crate) enum Block {
    Call {
        call: String,
        tool: String,
        input: String,
    },
    Thinking {
        thinking: String,
        #[serde(flatten)]
        extra: Map<String, Value>,
    },
    Text {
        text: String,
    },
    Data {
        data: String,
        media_type: String,
        id: String,
        name: Option<String>,
    },
    Url {
        url: String,
        media_type: String,
        id: String,
        name: Option<String>,
    },
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Message {
    pub(crate) name: String,
    pub(crate) role: String,
    pub(crate) content: Vec<Block>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Turn {
    pub(crate) say: Option<String>,
    pub(crate) messages: Option<Vec<Message>>,
    pub(crate) none: bool,
    pub(crate) observe: Option<String>,
    pub(crate) confirm: Option<Vec<Confirm>>,
    pub(crate) results: Option<Vec<Outcome>>,
    pub(crate) interrupt: bool,
    pub(crate) reload: bool,
    pub(crate) reply: Option<String>,
    pub(crate) schema: Option<Value>,
    pub(crate) during: Vec<During>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Confirm {
    pub(crate) call: String,
    pub(crate) yes: bool,
    pub(crate) name: Option<String>,
    pub(crate) input: Option<String>,
    pub(crate) rules: Option<Vec<Value>>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Outcome {
    pub(crate) call: String,
    pub(crate) name: Option<String>,
    pub(crate) output: Output,
    pub(crate) state: Option<String>,
    #[serde(default)]
    pub(crate) metadata: Map<String, Value>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub(crate) enum Output {
    Text(String),
    Blocks(Vec<Block>),
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct During {
    pub(crate) at: Option<String>,
    pub(crate) after: Option<String>,
    pub(crate) call: Option<String>,
    #[serde(rename = "do")]
    pub(crate) doing: Option<String>,
    pub(crate) open: Option<String>,
}

pub(crate) fn conformance() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance")
}

/// Loads the scenarios of all files.
pub(crate) fn scenarios() -> Vec<Scenario> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(conformance().join("agent/scenarios")).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    let read = |path: PathBuf| -> Vec<Scenario> {
        let text = std::fs::read_to_string(&path).unwrap();
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    files.into_iter().flat_map(read).collect()
}

/// Returns the recorded behaviour of the package, by scenario.
pub(crate) fn recorded() -> BTreeMap<String, Essence> {
    let text = std::fs::read_to_string(conformance().join("vectors/python/agent.jsonl")).unwrap();
    let records = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    records.map(|record| (record["case"].as_str().unwrap().to_owned(), Essence::recorded(&record))).collect()
}
