//! Tools that run in the background, independent of the reply that called them.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use recount_message::{HintBlock, MediaBlock, Object, Payload, Source, ToolResultState};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{CallIds, CompiledTool, ToolContext, ToolError, ToolEvent, ToolOutput};
use crate::state::background_hint;

/// The time that a tool has for its cleanup after it is cancelled.
const GRACE_PERIOD: Duration = Duration::from_secs(2);
/// The maximum output of a tool that is kept for its result, in bytes.
const MAX_OUTPUT: usize = 1 << 20;
/// The capacity of the channel of a tool's events.
const EVENT_CAPACITY: usize = 64;

/// The tools that run in the background of one agent.
///
/// A call gets its result at once. The outcome of the tool follows as [`BackgroundEvent::Finished`]. Dropping the last
/// handle, which the agent holds, cancels all running tools.
///
/// ```
/// use recount_agent::tool::{BackgroundEvent, BackgroundTools, CallIds, CompiledTool, FunctionTool, NoArguments};
/// use recount_message::Object;
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let build = FunctionTool::new("build", "Builds.", |_: NoArguments| async { Ok("green") }).background();
/// let (background, mut events) = BackgroundTools::new();
///
/// let started = background.start(&CompiledTool::new(build)?, Object::new(), CallIds::new("s1", "r1", "c1"), "Friday");
/// assert_eq!(started.content.text().as_deref(), Some("`build` has started; its outcome will be reported later"));
///
/// let Some(BackgroundEvent::Finished { hint, .. }) = events.recv().await else { panic!() };
/// assert_eq!(hint.hint.text().as_deref(), Some("`build` (call c1), which ran in the background, is done:\ngreen"));
/// # Ok::<(), recount_agent::tool::ToolkitError>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
pub struct BackgroundTools {
    inner: Arc<Inner>,
}

struct Inner {
    running: Arc<Mutex<RunningCalls>>,
    events: mpsc::UnboundedSender<BackgroundEvent>,
    cancel: CancellationToken,
}

#[derive(Default)]
struct RunningCalls {
    started: u64,
    calls: BTreeMap<u64, (CallIds, CancellationToken)>,
}

/// An event of a tool that runs in the background.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum BackgroundEvent {
    /// The tool emitted a signal or requested a stop. Its output is collected for `Finished`.
    Progress {
        /// The call.
        ids: CallIds,
        /// The event of the tool.
        event: ToolEvent,
    },
    /// The tool has ended.
    Finished {
        /// The call.
        ids: CallIds,
        /// Whether the tool succeeded, failed or was interrupted.
        state: ToolResultState,
        /// The outcome for the model. Its id is derived from the call's, so that it is added only once.
        hint: Box<HintBlock>,
        /// The metadata for the application. It is not shown to the model.
        metadata: Object,
    },
}

impl BackgroundTools {
    /// Creates a set without running tools, and the receiver of its events.
    pub fn new() -> (Self, mpsc::UnboundedReceiver<BackgroundEvent>) {
        let (events, receiver) = mpsc::unbounded_channel();
        let inner = Inner { running: Arc::default(), events, cancel: CancellationToken::new() };
        (Self { inner: Arc::new(inner) }, receiver)
    }

    /// Starts a tool and returns the immediate result of its call.
    ///
    /// # Panics
    ///
    /// If called outside of a Tokio runtime.
    pub fn start(&self, tool: &CompiledTool, arguments: Object, ids: CallIds, agent: &str) -> ToolOutput {
        let cancel = self.inner.cancel.child_token();
        let key = {
            let mut running = lock(&self.inner.running);
            running.started += 1;
            let key = running.started;
            running.calls.insert(key, (ids.clone(), cancel.clone()));
            key
        };
        let call = BackgroundCall { tool: tool.clone(), ids, agent: agent.to_owned(), cancel };
        let name = call.tool.spec().name.clone();
        let (events, running) = (self.inner.events.clone(), Arc::clone(&self.inner.running));
        tokio::spawn(async move {
            let finished = call.run(arguments, &events).await;
            lock(&running).calls.remove(&key);
            // The receiver is closed if the agent was dropped.
            let _ = events.send(finished);
        });
        ToolOutput::new(format!("`{name}` has started; its outcome will be reported later"))
    }

    /// Returns the running calls in the order in which they were started.
    pub fn running(&self) -> Vec<CallIds> {
        lock(&self.inner.running).calls.values().map(|(ids, _)| ids.clone()).collect()
    }

    /// Cancels a call. Its outcome is `Interrupted`. Returns `false` if the call is not running.
    pub fn cancel(&self, ids: &CallIds) -> bool {
        let running = lock(&self.inner.running);
        let found = running.calls.values().find(|(running_ids, _)| running_ids == ids);
        found.map(|(_, cancel)| cancel.cancel()).is_some()
    }

    /// Cancels all running calls.
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

/// Locks the running calls. A panic in another thread cannot leave them inconsistent.
fn lock(running: &Mutex<RunningCalls>) -> MutexGuard<'_, RunningCalls> {
    running.lock().unwrap_or_else(PoisonError::into_inner)
}

struct BackgroundCall {
    tool: CompiledTool,
    ids: CallIds,
    agent: String,
    cancel: CancellationToken,
}

impl BackgroundCall {
    /// Runs the tool to its end and returns the outcome.
    async fn run(self, arguments: Object, events: &mpsc::UnboundedSender<BackgroundEvent>) -> BackgroundEvent {
        let (sender, mut receiver) = mpsc::channel(EVENT_CAPACITY);
        let context = ToolContext::new(self.ids.clone(), &self.agent, sender, self.cancel.clone());
        let tool = self.tool.clone();
        // A separate task isolates panics.
        let mut task = tokio::spawn(async move { tool.run(arguments, &context).await });
        let mut output = CollectedOutput::default();
        let mut is_closed = false;
        let ended = loop {
            tokio::select! {
                biased;
                received = receiver.recv(), if !is_closed => match received {
                    Some((_, event)) => output.take(event).into_iter().for_each(|event| {
                        let _ = events.send(BackgroundEvent::Progress { ids: self.ids.clone(), event });
                    }),
                    None => is_closed = true,
                },
                ended = &mut task => break Some(ended),
                () = self.cancel.cancelled() => break tokio::time::timeout(GRACE_PERIOD, &mut task).await.ok(),
            }
        };
        while let Ok((_, event)) = receiver.try_recv() {
            output.take(event);
        }
        let (state, returned) = match ended {
            Some(Ok(Ok(returned))) => (returned.state(), returned),
            Some(Ok(Err(error))) if !self.cancel.is_cancelled() => failed(&error),
            Some(Err(error)) if error.is_panic() => failed(&ToolError::new("it panicked")),
            Some(Ok(Err(_)) | Err(_)) | None => {
                task.abort();
                (ToolResultState::Interrupted, ToolOutput::failed(""))
            }
        };
        let hint = output.into_hint(&self, state, returned.content);
        BackgroundEvent::Finished { ids: self.ids, state, hint: Box::new(hint), metadata: returned.metadata }
    }
}

fn failed(error: &ToolError) -> (ToolResultState, ToolOutput) {
    (ToolResultState::Error, ToolOutput::failed(error.to_string()))
}

/// The output that a tool wrote while it ran, up to [`MAX_OUTPUT`].
#[derive(Default)]
struct CollectedOutput {
    blocks: Vec<MediaBlock>,
    bytes: usize,
    is_truncated: bool,
}

impl CollectedOutput {
    /// Collects output. Returns any other event.
    fn take(&mut self, event: ToolEvent) -> Option<ToolEvent> {
        let (block, bytes) = match event {
            ToolEvent::Text(text) => {
                let bytes = text.len();
                (MediaBlock::from(text), bytes)
            }
            ToolEvent::Data(data) => {
                let bytes = match &data.source {
                    Source::Base64(source) => source.data.len(),
                    _ => 0,
                };
                (MediaBlock::from(*data), bytes)
            }
            other @ (ToolEvent::Signal { .. } | ToolEvent::Stop { .. }) => return Some(other),
        };
        self.push(block, bytes);
        None
    }

    fn push(&mut self, block: MediaBlock, bytes: usize) {
        if self.bytes + bytes > MAX_OUTPUT {
            self.is_truncated = true;
            return;
        }
        self.bytes += bytes;
        match (self.blocks.last_mut(), block) {
            (Some(MediaBlock::Text(last)), MediaBlock::Text(more)) => last.text.push_str(&more.text),
            (_, block) => self.blocks.push(block),
        }
    }

    /// Creates the hint that reports the outcome to the model.
    fn into_hint(mut self, call: &BackgroundCall, state: ToolResultState, returned: Payload) -> HintBlock {
        let name = &call.tool.spec().name;
        let outcome = match state {
            ToolResultState::Interrupted => "was stopped",
            ToolResultState::Error => "failed",
            _ => "is done",
        };
        for block in blocks(returned) {
            // The returned value is always kept.
            self.push(block, 0);
        }
        let cut = if self.is_truncated { "\n(Some of its output was too long and is left out.)" } else { "" };
        let colon = if self.blocks.is_empty() { "" } else { ":\n" };
        let opening =
            format!("`{name}` (call {}), which ran in the background, {outcome}{cut}{colon}", call.ids.call_id);
        let hint = match self.blocks.as_slice() {
            [] => Payload::from(opening),
            [MediaBlock::Text(only)] => Payload::from(opening + &only.text),
            _ => {
                self.blocks.insert(0, MediaBlock::from(opening));
                Payload::from(self.blocks)
            }
        };
        background_hint(hint, &call.ids.call_id, name)
    }
}

fn blocks(payload: Payload) -> Vec<MediaBlock> {
    match payload {
        Payload::Blocks(blocks) => blocks,
        other => other.text().filter(|text| !text.is_empty()).map(MediaBlock::from).into_iter().collect(),
    }
}

impl fmt::Debug for BackgroundTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BackgroundTools").field("running", &self.running()).finish_non_exhaustive()
    }
}
