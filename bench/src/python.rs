//! AgentScope for Python on the same bytes.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};
use recount_message::Fold;
use serde::{Deserialize, Serialize};

use crate::streams::Stream;

/// A Python interpreter with AgentScope.
#[derive(Debug)]
pub struct Python {
    interpreter: PathBuf,
    directory: tempfile::TempDir,
}

/// The output of the script.
#[derive(Debug, Clone, Deserialize)]
pub struct PythonResult {
    /// The versions of the interpreter and its packages.
    pub versions: Versions,
    /// The CPU time of each step.
    pub seconds: Seconds,
    events: usize,
    messages: usize,
    blocks: usize,
}

/// The measured versions.
#[derive(Debug, Clone, Deserialize, Serialize)]
pub struct Versions {
    /// The version of Python.
    pub python: String,
    /// The version of AgentScope.
    pub agentscope: String,
    /// The version of pydantic, which decodes events.
    pub pydantic: String,
}

/// CPU seconds for a whole stream.
#[derive(Debug, Clone, Copy, Deserialize)]
pub struct Seconds {
    /// From lines to events.
    pub decode: f64,
    /// From events to messages.
    pub fold: f64,
    /// From events to lines.
    pub encode: f64,
    /// From messages to JSON.
    pub encode_messages: f64,
}

impl Seconds {
    fn least(self, other: Self) -> Self {
        Self {
            decode: self.decode.min(other.decode),
            fold: self.fold.min(other.fold),
            encode: self.encode.min(other.encode),
            encode_messages: self.encode_messages.min(other.encode_messages),
        }
    }
}

impl Python {
    /// Creates a temporary directory for the streams that the interpreter reads.
    ///
    /// # Errors
    ///
    /// Returns an error if the directory cannot be created.
    pub fn new(interpreter: PathBuf) -> anyhow::Result<Self> {
        let directory = tempfile::tempdir().context("cannot create a directory for the streams")?;
        Ok(Self { interpreter, directory })
    }

    /// Measures a stream in `processes` new processes and returns the minimum time of each step.
    ///
    /// # Errors
    ///
    /// Returns an error if the interpreter cannot be run, does not have the package, or produces another number of messages or
    /// blocks than `fold`.
    pub fn measure(&self, stream: &Stream, fold: &Fold, processes: usize) -> anyhow::Result<PythonResult> {
        let path = self.directory.path().join("stream.jsonl");
        std::fs::write(&path, &stream.text).with_context(|| format!("cannot write {}", path.display()))?;
        let mut answer = self.run(&path)?;
        for _ in 1..processes {
            answer.seconds = answer.seconds.least(self.run(&path)?.seconds);
        }
        let theirs = (answer.events, answer.messages, answer.blocks);
        let blocks = fold.messages().map(|message| message.content().len()).sum();
        let ours = (stream.events, fold.messages().count(), blocks);
        if theirs != ours {
            bail!("`{}`: events, messages and blocks are {theirs:?} to Python and {ours:?} to Recount", stream.name);
        }
        Ok(answer)
    }

    fn run(&self, stream: &Path) -> anyhow::Result<PythonResult> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("python/fold.py");
        let output = Command::new(&self.interpreter).arg(&script).arg(stream).output().with_context(|| {
            format!("cannot run {}; hint: `--no-python` measures Recount only", self.interpreter.display())
        })?;
        if !output.status.success() {
            bail!(
                "{} failed:\n{}\nhint: the interpreter needs the packages of conformance/python/requirements.txt; \
                 `--no-python` does without",
                script.display(),
                String::from_utf8_lossy(&output.stderr).trim_end(),
            );
        }
        serde_json::from_slice(&output.stdout).context("invalid output of the script")
    }
}
