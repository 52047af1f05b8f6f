//! Putting an agent together.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use recount_message::{Msg, Stamps};

use super::Agent;
use super::config::{Config, OnRestart};
use super::saved::{Parts, SavedAgent};
use super::shared::Shared;
use crate::compress::Compression;
use crate::machine::Limits;
use crate::middleware::Middleware;
use crate::model::ChatModel;
use crate::offload::Offload;
use crate::permission::Permissions;
use crate::runtime_state::RuntimeState;
use crate::sink::{NullSink, Sink};
use crate::stamps::SharedStamps;
use crate::state::{AgentState, BackgroundCall, SubAgentMemory};
use crate::tool::{Tool, Toolkit, ToolkitError};
use crate::view::ResultLimit;

/// Puts an agent together: see [`Agent::builder`].
#[must_use]
pub struct AgentBuilder {
    name: String,
    system_prompt: String,
    models: Vec<Arc<dyn ChatModel>>,
    toolkit: Result<Toolkit, ToolkitError>,
    permissions: Option<Permissions>,
    middleware: Vec<Arc<dyn Middleware>>,
    limits: Limits,
    max_retries: u32,
    raise_on_interrupt: bool,
    result_limit: ResultLimit,
    compression: Option<Compression>,
    offload: Option<Offload>,
    max_images: usize,
    runtime_state: Option<RuntimeState>,
    on_restart: OnRestart,
    confirm_within: Option<Duration>,
    session_id: Option<String>,
    stamps: Stamps,
    sink: Box<dyn Sink>,
    conversation: Vec<Msg>,
    saved: Option<SavedAgent>,
    still_running: Vec<BackgroundCall>,
    memories: BTreeMap<String, SubAgentMemory>,
}

/// Why an agent cannot be put together.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// It has nothing to think with.
    #[error("the agent {name:?} has no model")]
    NoModel {
        /// The agent's name.
        name: String,
    },
    /// It cannot know when to summarise.
    #[error("the compression: {problem}")]
    Compression {
        /// What is wrong with it.
        problem: String,
    },
    /// A tool cannot be one of its tools.
    #[error(transparent)]
    Tool(#[from] ToolkitError),
}

impl AgentBuilder {
    pub(super) fn new(name: String) -> Self {
        Self {
            name,
            system_prompt: String::new(),
            models: Vec::new(),
            toolkit: Ok(Toolkit::new()),
            permissions: None,
            middleware: Vec::new(),
            limits: Limits::default(),
            max_retries: 0,
            raise_on_interrupt: false,
            result_limit: ResultLimit::default(),
            compression: Some(Compression::default()),
            offload: None,
            max_images: 20,
            runtime_state: Some(RuntimeState::default()),
            on_restart: OnRestart::default(),
            confirm_within: None,
            session_id: None,
            stamps: Stamps::default(),
            sink: Box::new(NullSink),
            conversation: Vec::new(),
            saved: None,
            still_running: Vec::new(),
            memories: BTreeMap::new(),
        }
    }

    /// The model that it thinks with.
    pub fn model(self, model: impl ChatModel) -> Self {
        self.shared_model(Arc::new(model))
    }

    /// The same, with a model that others use too.
    pub fn shared_model(mut self, model: Arc<dyn ChatModel>) -> Self {
        self.models.insert(0, model);
        self
    }

    /// A model that is asked when those before it have failed.
    pub fn fallback(mut self, model: impl ChatModel) -> Self {
        self.models.push(Arc::new(model));
        self
    }

    /// How often a model call that failed is made again. That is beside what the model itself does before anything was
    /// shown: a stream that breaks in the middle is for the agent to mend.
    pub fn max_retries(mut self, times: u32) -> Self {
        self.max_retries = times;
        self
    }

    /// What it is told before everything else.
    pub fn system_prompt(mut self, prompt: impl Into<String>) -> Self {
        self.system_prompt = prompt.into();
        self
    }

    /// Something that it can do. Whether that is a tool that a model could call is looked at when the agent is built.
    pub fn tool(mut self, tool: impl Tool) -> Self {
        self.toolkit = self.toolkit.and_then(|toolkit| toolkit.with(tool));
        self
    }

    /// All that it can do. What was said by [`tool`](Self::tool) before does not count.
    pub fn toolkit(mut self, toolkit: Toolkit) -> Self {
        self.toolkit = Ok(toolkit);
        self
    }

    /// What it may do. A state that is [resumed](Self::resume) has its own.
    pub fn permissions(mut self, permissions: Permissions) -> Self {
        self.permissions = Some(permissions);
        self
    }

    /// Something around its work. The first one is the outermost.
    pub fn middleware(mut self, middleware: impl Middleware) -> Self {
        self.middleware.push(Arc::new(middleware));
        self
    }

    /// How often the model is asked in one reply; 50 by default.
    pub fn max_iterations(mut self, times: u32) -> Self {
        self.limits.max_iterations = times;
        self
    }

    /// How often more it is asked where it owes a structured output; 5 by default.
    pub fn structured_output_grace(mut self, times: u32) -> Self {
        self.limits.grace_iterations = times;
        self
    }

    /// Ends the reply when the user refuses a call, and does not ask the model what it makes of it.
    pub fn stop_on_reject(mut self, stop: bool) -> Self {
        self.limits.stop_on_reject = stop;
        self
    }

    /// Makes [`reply`](Agent::reply) give an [error](crate::Error::Interrupted) when it was interrupted.
    pub fn raise_on_interrupt(mut self, raise: bool) -> Self {
        self.raise_on_interrupt = raise;
        self
    }

    /// How many tokens of a tool's result the model is shown; 50,000 by default. The message keeps all of it.
    pub fn tool_result_limit(mut self, tokens: usize) -> Self {
        self.result_limit = ResultLimit { tokens };
        self
    }

    /// When and how a conversation is summarised that is too long for the model, or that it never is. Without this word it
    /// is at four fifths of what the model can read.
    pub fn compression(mut self, compression: impl Into<Option<Compression>>) -> Self {
        self.compression = compression.into();
        self
    }

    /// Where results are kept that are too long for the model, images beyond those that it is sent, and messages that were
    /// summarised. Without this word they are only left out of what it is sent.
    pub fn offload(mut self, offload: Offload) -> Self {
        self.offload = Some(offload);
        self
    }

    /// How many images the model is sent at most, the newest; 20 by default. The messages keep them all.
    pub fn max_images(mut self, images: usize) -> Self {
        self.max_images = images;
        self
    }

    /// What the model is told of the time and of how things go, or nothing.
    pub fn runtime_state(mut self, runtime_state: impl Into<Option<RuntimeState>>) -> Self {
        self.runtime_state = runtime_state.into();
        self
    }

    /// What becomes of a reply whose process died, when the agent is [resumed](Self::resume).
    pub fn on_restart(mut self, on_restart: OnRestart) -> Self {
        self.on_restart = on_restart;
        self
    }

    /// How long the user has to answer for a call. After that it counts as refused: see
    /// [`Agent::expires_at`]. By default there is no limit.
    pub fn confirm_within(mut self, time: Duration) -> Self {
        self.confirm_within = Some(time);
        self
    }

    /// The session that its events name. A random one by default; a state that is [resumed](Self::resume) has its own.
    pub fn session_id(mut self, id: impl Into<String>) -> Self {
        self.session_id = Some(id.into());
        self
    }

    /// Where ids and times come from, such as [`Stamps::repeatable`] for the same ones each time.
    pub fn stamps(mut self, stamps: Stamps) -> Self {
        self.stamps = stamps;
        self
    }

    /// Where its events are kept.
    pub fn sink(mut self, sink: impl Sink) -> Self {
        self.sink = Box::new(sink);
        self
    }

    /// What was said before.
    pub fn conversation(mut self, messages: impl IntoIterator<Item = Msg>) -> Self {
        self.conversation = messages.into_iter().collect();
        self
    }

    /// Goes on from where an agent was [saved](Agent::save), here or elsewhere.
    pub fn resume(mut self, saved: SavedAgent) -> Self {
        self.saved = Some(saved);
        self
    }

    /// With what the user has said to it when it worked for another agent before.
    pub(crate) fn remembering(mut self, memory: SubAgentMemory) -> Self {
        self.permissions = Some(memory.permissions);
        self.memories = memory.sub_agents;
        self
    }

    /// Which tools in the background of the agent that is [resumed](Self::resume) still run, because the agent that started
    /// them is still there. Whoever has that one tells this one the outcome, by [`Agent::hint`]. Of any other the model is told
    /// that its outcome is not known.
    pub fn still_running(mut self, calls: impl IntoIterator<Item = BackgroundCall>) -> Self {
        self.still_running = calls.into_iter().collect();
        self
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it knows before it has said anything, in a session.
    #[must_use]
    pub fn initial_state(&self, session_id: impl Into<String>) -> AgentState {
        let mut state = AgentState::new(session_id);
        if let Ok(toolkit) = &self.toolkit {
            state.groups = toolkit.initially_active();
        }
        state.permissions = self.permissions.clone().unwrap_or_default();
        state
    }

    /// Puts it together.
    ///
    /// # Errors
    ///
    /// When it has no model, a tool is none that a model could call, or options do not fit together.
    pub fn build(mut self) -> Result<Agent, BuildError> {
        if self.models.is_empty() {
            return Err(BuildError::NoModel { name: self.name });
        }
        if let Some(problem) = self.compression.as_ref().and_then(Compression::problem) {
            return Err(BuildError::Compression { problem });
        }
        let toolkit = self.toolkit?;
        let (state, conversation, open, sub_agents) = match self.saved {
            Some(saved) => {
                let Parts { mut state, conversation, open, sub_agents } = saved.into_parts();
                let open_reply = open.iter().map(|open| open.fold.message());
                let messages: Vec<&Msg> = conversation.iter().chain(open_reply).collect();
                state.lose_background(&messages, |call| self.still_running.contains(call));
                (state, conversation, open, sub_agents)
            }
            None => {
                let mut state = AgentState::new(self.session_id.unwrap_or_else(|| self.stamps.id()));
                state.groups = toolkit.initially_active();
                state.permissions = self.permissions.unwrap_or_default();
                state.sub_agent_memories = self.memories;
                (state, self.conversation, None, BTreeMap::new())
            }
        };
        let config = Config {
            name: self.name,
            system_prompt: self.system_prompt,
            models: self.models,
            toolkit,
            middleware: self.middleware.into(),
            limits: self.limits,
            max_retries: self.max_retries,
            raise_on_interrupt: self.raise_on_interrupt,
            result_limit: self.result_limit,
            compression: self.compression,
            offload: self.offload,
            max_images: self.max_images,
            runtime_state: self.runtime_state,
            on_restart: self.on_restart,
            confirm_within: self.confirm_within,
        };
        let stamps = SharedStamps::new(self.stamps);
        Ok(Agent::of(Shared::new(config, stamps, self.sink, state, conversation, open, sub_agents)))
    }
}

impl std::fmt::Debug for AgentBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AgentBuilder").field("name", &self.name).finish_non_exhaustive()
    }
}
