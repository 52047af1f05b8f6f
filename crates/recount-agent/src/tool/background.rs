//! Tools that go on while the reply does.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use recount_message::{HintBlock, MediaBlock, Object, Payload, Source, ToolResultState};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{CallIds, Mounted, ToolContext, ToolError, ToolOutput, ToolSays};
use crate::state::background_hint;

/// So long a tool may take to clean up once it is cancelled.
const GRACE: Duration = Duration::from_secs(2);
/// So much of what a tool says is kept for its outcome, in bytes.
const MOST_KEPT: usize = 1 << 20;
/// So many words of a tool may wait to be read.
const WORDS: usize = 64;

/// The tools that run in the background of one agent.
///
/// A call gets its result at once, and the [outcome](BackgroundReport::Done) comes when it comes. When the last handle of
/// this is dropped, which is when the agent is gone, everything that runs is stopped.
///
/// ```
/// use recount_agent::tool::{Background, BackgroundReport, CallIds, FunctionTool, Mounted, NoArguments};
/// use recount_message::Object;
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let build = FunctionTool::new("build", "Builds.", |_: NoArguments| async { Ok("green") }).background();
/// let (background, mut reports) = Background::new();
///
/// let started = background.start(&Mounted::new(build)?, Object::new(), CallIds::of("s1", "r1", "c1"), "Friday");
/// assert_eq!(started.content.text().as_deref(), Some("`build` has started; its outcome will be told later"));
///
/// let Some(BackgroundReport::Done { hint, .. }) = reports.recv().await else { panic!() };
/// assert_eq!(hint.hint.text().as_deref(), Some("`build` (call c1), which ran in the background, is done:\ngreen"));
/// # Ok::<(), recount_agent::tool::ToolkitError>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
pub struct Background {
    inner: Arc<Inner>,
}

struct Inner {
    running: Arc<Mutex<Running>>,
    reports: mpsc::UnboundedSender<BackgroundReport>,
    cancel: CancellationToken,
}

#[derive(Default)]
struct Running {
    started: u64,
    calls: BTreeMap<u64, (CallIds, CancellationToken)>,
}

/// What is told of a tool that runs in the background.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum BackgroundReport {
    /// It says something to the session, or wants the reply to end. What it says as output is kept for its outcome.
    Says {
        /// The call.
        ids: CallIds,
        /// What it says.
        says: ToolSays,
    },
    /// It has ended.
    Done {
        /// The call.
        ids: CallIds,
        /// How it went.
        state: ToolResultState,
        /// What the model is told. Its id follows from the call's, so that it cannot be told twice.
        hint: Box<HintBlock>,
        /// For the program, not for the model.
        metadata: Object,
    },
}

impl Background {
    /// Nothing runs yet. What there is to report comes out of the channel.
    pub fn new() -> (Self, mpsc::UnboundedReceiver<BackgroundReport>) {
        let (reports, receiver) = mpsc::unbounded_channel();
        let inner = Inner { running: Arc::default(), reports, cancel: CancellationToken::new() };
        (Self { inner: Arc::new(inner) }, receiver)
    }

    /// Starts a tool and gives the result that its call gets at once. Has to be called within a Tokio runtime.
    pub fn start(&self, tool: &Mounted, arguments: Object, ids: CallIds, agent: &str) -> ToolOutput {
        let cancel = self.inner.cancel.child_token();
        let key = {
            let mut running = lock(&self.inner.running);
            running.started += 1;
            let key = running.started;
            running.calls.insert(key, (ids.clone(), cancel.clone()));
            key
        };
        let run = Run { tool: tool.clone(), ids, agent: agent.to_owned(), cancel };
        let name = run.tool.spec().name.clone();
        let (reports, running) = (self.inner.reports.clone(), Arc::clone(&self.inner.running));
        tokio::spawn(async move {
            let done = run.until_it_ends(arguments, &reports).await;
            lock(&running).calls.remove(&key);
            // Nobody is there to be told once the agent is gone.
            let _ = reports.send(done);
        });
        ToolOutput::new(format!("`{name}` has started; its outcome will be told later"))
    }

    /// The calls that run now, in the order in which they started.
    pub fn running(&self) -> Vec<CallIds> {
        lock(&self.inner.running).calls.values().map(|(ids, _)| ids.clone()).collect()
    }

    /// Stops a call. Its outcome says that it was. Says whether there was such a call.
    pub fn cancel(&self, ids: &CallIds) -> bool {
        let running = lock(&self.inner.running);
        let found = running.calls.values().find(|(known, _)| known == ids);
        found.map(|(_, cancel)| cancel.cancel()).is_some()
    }

    /// Stops everything.
    pub fn cancel_all(&self) {
        for (_, cancel) in lock(&self.inner.running).calls.values() {
            cancel.cancel();
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}

/// The calls that run. They are plain data, which a panic elsewhere cannot have left half changed.
fn lock(running: &Mutex<Running>) -> MutexGuard<'_, Running> {
    running.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One call.
struct Run {
    tool: Mounted,
    ids: CallIds,
    agent: String,
    cancel: CancellationToken,
}

impl Run {
    async fn until_it_ends(
        self,
        arguments: Object,
        reports: &mpsc::UnboundedSender<BackgroundReport>,
    ) -> BackgroundReport {
        let (says, mut said) = mpsc::channel(WORDS);
        let context = ToolContext::new(self.ids.clone(), &self.agent, says, self.cancel.clone());
        let tool = self.tool.clone();
        // A task of its own, so that a panic ends it and nothing else.
        let mut task = tokio::spawn(async move { tool.run(arguments, &context).await });
        let mut kept = Kept::default();
        let mut is_silent = false;
        let ended = loop {
            tokio::select! {
                biased;
                word = said.recv(), if !is_silent => match word {
                    Some((_, says)) => kept.take(says).into_iter().for_each(|says| {
                        let _ = reports.send(BackgroundReport::Says { ids: self.ids.clone(), says });
                    }),
                    None => is_silent = true,
                },
                ended = &mut task => break Some(ended),
                () = self.cancel.cancelled() => break tokio::time::timeout(GRACE, &mut task).await.ok(),
            }
        };
        while let Ok((_, says)) = said.try_recv() {
            kept.take(says);
        }
        let (state, output) = match ended {
            Some(Ok(Ok(output))) => (output.state(), output),
            Some(Ok(Err(error))) if !self.cancel.is_cancelled() => failed(&error),
            Some(Err(error)) if error.is_panic() => failed(&ToolError::new("it panicked")),
            Some(Ok(Err(_)) | Err(_)) | None => {
                task.abort();
                (ToolResultState::Interrupted, ToolOutput::failed(""))
            }
        };
        let hint = kept.hint(&self, state, output.content);
        BackgroundReport::Done { ids: self.ids, state, hint: Box::new(hint), metadata: output.metadata }
    }
}

fn failed(error: &ToolError) -> (ToolResultState, ToolOutput) {
    (ToolResultState::Error, ToolOutput::failed(error.to_string()))
}

/// What a tool has said while it ran.
#[derive(Default)]
struct Kept {
    blocks: Vec<MediaBlock>,
    bytes: usize,
    is_cut: bool,
}

impl Kept {
    /// Keeps what is output, and gives back what is not.
    fn take(&mut self, says: ToolSays) -> Option<ToolSays> {
        let (block, bytes) = match says {
            ToolSays::Text(text) => {
                let bytes = text.len();
                (MediaBlock::from(text), bytes)
            }
            ToolSays::Data(data) => {
                let bytes = match &data.source {
                    Source::Base64(source) => source.data.len(),
                    _ => 0,
                };
                (MediaBlock::from(*data), bytes)
            }
            other @ (ToolSays::Signal { .. } | ToolSays::Stop { .. }) => return Some(other),
        };
        self.push(block, bytes);
        None
    }

    fn push(&mut self, block: MediaBlock, bytes: usize) {
        if self.bytes + bytes > MOST_KEPT {
            self.is_cut = true;
            return;
        }
        self.bytes += bytes;
        match (self.blocks.last_mut(), block) {
            (Some(MediaBlock::Text(last)), MediaBlock::Text(more)) => last.text.push_str(&more.text),
            (_, block) => self.blocks.push(block),
        }
    }

    /// What the model is told in the end.
    fn hint(mut self, run: &Run, state: ToolResultState, last: Payload) -> HintBlock {
        let name = &run.tool.spec().name;
        let how = match state {
            ToolResultState::Interrupted => "was stopped",
            ToolResultState::Error => "failed",
            _ => "is done",
        };
        for block in blocks(last) {
            // What it returns comes last and is what counts, so it is kept in any case.
            self.push(block, 0);
        }
        let cut = if self.is_cut { "\n(Some of what it said was too long and is left out.)" } else { "" };
        let colon = if self.blocks.is_empty() { "" } else { ":\n" };
        let opening = format!("`{name}` (call {}), which ran in the background, {how}{cut}{colon}", run.ids.call_id);
        let hint = match self.blocks.as_slice() {
            [] => Payload::from(opening),
            [MediaBlock::Text(only)] => Payload::from(opening + &only.text),
            _ => {
                self.blocks.insert(0, MediaBlock::from(opening));
                Payload::from(self.blocks)
            }
        };
        background_hint(hint, &run.ids.call_id, name)
    }
}

fn blocks(payload: Payload) -> Vec<MediaBlock> {
    match payload {
        Payload::Blocks(blocks) => blocks,
        other => other.text().filter(|text| !text.is_empty()).map(MediaBlock::from).into_iter().collect(),
    }
}

impl fmt::Debug for Background {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Background").field("running", &self.running()).finish_non_exhaustive()
    }
}
