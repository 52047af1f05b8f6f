//! Building an agent.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use recount_message::{Msg, Stamps};

use super::Agent;
use super::config::{Config, OnRestart};
use super::saved::{ResumedParts, SavedAgent};
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

/// Builds an [`Agent`]: see [`Agent::builder`].
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

/// The error type of [`AgentBuilder::build`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// No model was set.
    #[error("the agent {name:?} has no model")]
    NoModel {
        /// The agent's name.
        name: String,
    },
    /// The options of the compression contradict each other.
    #[error("invalid compression options: {problem}")]
    Compression {
        /// The invalid option.
        problem: String,
    },
    /// A tool is invalid, or its name is already in use.
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

    /// Sets the primary model.
    pub fn model(self, model: impl ChatModel) -> Self {
        self.shared_model(Arc::new(model))
    }

    /// Same as [`model`](Self::model), for a model that is shared with other agents.
    pub fn shared_model(mut self, model: Arc<dyn ChatModel>) -> Self {
        self.models.insert(0, model);
        self
    }

    /// Adds a model that is called if all models before it have failed. Fallbacks are used in the order in which they
    /// were added.
    pub fn fallback(mut self, model: impl ChatModel) -> Self {
        self.models.push(Arc::new(model));
        self
    }

    /// Sets how often the agent retries a failed model call; 0 by default. The model's own retries, which only happen
    /// before any output, come on top: the agent also retries after a stream has failed halfway.
    pub fn max_retries(mut self, times: u32) -> Self {
        self.max_retries = times;
        self
    }

    /// Sets the system prompt. Empty by default, in which case none is sent.
    pub fn system_prompt(mut self, prompt: impl Into<String>) -> Self {
        self.system_prompt = prompt.into();
        self
    }

    /// Adds a tool. An invalid tool is reported by [`build`](Self::build).
    pub fn tool(mut self, tool: impl Tool) -> Self {
        self.toolkit = self.toolkit.and_then(|toolkit| toolkit.with(tool));
        self
    }

    /// Replaces all tools, including those that were added by [`tool`](Self::tool) before.
    pub fn toolkit(mut self, toolkit: Toolkit) -> Self {
        self.toolkit = Ok(toolkit);
        self
    }

    /// Sets the permissions. Ignored with [`resume`](Self::resume), because the saved state has its own.
    pub fn permissions(mut self, permissions: Permissions) -> Self {
        self.permissions = Some(permissions);
        self
    }

    /// Adds a middleware. The first one is the outermost.
    pub fn middleware(mut self, middleware: impl Middleware) -> Self {
        self.middleware.push(Arc::new(middleware));
        self
    }

    /// Sets how many model calls a reply may make; 50 by default. Retries do not count.
    pub fn max_iterations(mut self, times: u32) -> Self {
        self.limits.max_iterations = times;
        self
    }

    /// Sets how many more model calls a reply may make if its structured output is still missing; 5 by default.
    pub fn structured_output_grace(mut self, times: u32) -> Self {
        self.limits.grace_iterations = times;
        self
    }

    /// Ends the reply when the user denies a call, instead of passing the denial to the model. `false` by default.
    pub fn stop_on_reject(mut self, stop: bool) -> Self {
        self.limits.stop_on_reject = stop;
        self
    }

    /// Makes [`reply`](Agent::reply) return [`Error::Interrupted`](crate::Error::Interrupted) for an interrupted reply,
    /// instead of its message. `false` by default.
    pub fn raise_on_interrupt(mut self, raise: bool) -> Self {
        self.raise_on_interrupt = raise;
        self
    }

    /// Sets how many tokens of a tool result are sent to the model; 50,000 by default. The message keeps the full
    /// result.
    pub fn tool_result_limit(mut self, tokens: usize) -> Self {
        self.result_limit = ResultLimit { tokens };
        self
    }

    /// Sets when and how a conversation that is too long for the model is summarised. `None` turns this off. By default
    /// it happens at 80 % of the model's context window.
    pub fn compression(mut self, compression: impl Into<Option<Compression>>) -> Self {
        self.compression = compression.into();
        self
    }

    /// Sets a directory for tool results that are too long for the model, images beyond
    /// [`max_images`](Self::max_images), and summarised messages. By default they are only left out of requests.
    pub fn offload(mut self, offload: Offload) -> Self {
        self.offload = Some(offload);
        self
    }

    /// Sets how many images a request may contain; 20 by default. The newest are sent, and the messages keep all of
    /// them.
    pub fn max_images(mut self, images: usize) -> Self {
        self.max_images = images;
        self
    }

    /// Sets how the model is informed about the current time and repeated tool failures. `None` turns this off.
    pub fn runtime_state(mut self, runtime_state: impl Into<Option<RuntimeState>>) -> Self {
        self.runtime_state = runtime_state.into();
        self
    }

    /// Sets whether a reply whose process died is continued or closed when the agent is [resumed](Self::resume).
    pub fn on_restart(mut self, on_restart: OnRestart) -> Self {
        self.on_restart = on_restart;
        self
    }

    /// Sets how long the user has to confirm a call. A call that is not confirmed in time counts as denied: see
    /// [`Agent::expires_at`]. Unlimited by default.
    pub fn confirm_within(mut self, time: Duration) -> Self {
        self.confirm_within = Some(time);
        self
    }

    /// Sets the session id of the agent's events. Random by default. Ignored with [`resume`](Self::resume), because the
    /// saved state has its own.
    pub fn session_id(mut self, id: impl Into<String>) -> Self {
        self.session_id = Some(id.into());
        self
    }

    /// Sets the source of ids and times, for example [`Stamps::repeatable`] for reproducible tests.
    pub fn stamps(mut self, stamps: Stamps) -> Self {
        self.stamps = stamps;
        self
    }

    /// Sets where events and state are persisted. By default they are kept in memory only.
    pub fn sink(mut self, sink: impl Sink) -> Self {
        self.sink = Box::new(sink);
        self
    }

    /// Sets the messages of an earlier conversation. Ignored with [`resume`](Self::resume).
    pub fn conversation(mut self, messages: impl IntoIterator<Item = Msg>) -> Self {
        self.conversation = messages.into_iter().collect();
        self
    }

    /// Resumes an agent that was [saved](Agent::save), in this process or another one.
    pub fn resume(mut self, saved: SavedAgent) -> Self {
        self.saved = Some(saved);
        self
    }

    /// Restores the permissions that the user granted to this sub-agent in an earlier call.
    pub(crate) fn with_memory(mut self, memory: SubAgentMemory) -> Self {
        self.permissions = Some(memory.permissions);
        self.memories = memory.sub_agents;
        self
    }

    /// Names the background calls of the [resumed](Self::resume) agent that are still running, because the agent that
    /// started them still exists. The caller must pass their results to this agent with [`Agent::hint`]. For all other
    /// background calls the model is informed that the result is unknown.
    pub fn still_running(mut self, calls: impl IntoIterator<Item = BackgroundCall>) -> Self {
        self.still_running = calls.into_iter().collect();
        self
    }

    /// Returns the agent's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the state of this agent before its first reply.
    #[must_use]
    pub fn initial_state(&self, session_id: impl Into<String>) -> AgentState {
        let mut state = AgentState::new(session_id);
        if let Ok(toolkit) = &self.toolkit {
            state.groups = toolkit.initially_active();
        }
        state.permissions = self.permissions.clone().unwrap_or_default();
        state
    }

    /// Builds the agent.
    ///
    /// # Errors
    ///
    /// Fails if no model is set, a tool is invalid, or the compression options contradict each other.
    pub fn build(mut self) -> Result<Agent, BuildError> {
        if self.models.is_empty() {
            return Err(BuildError::NoModel { name: self.name });
        }
        if let Some(problem) = self.compression.as_ref().and_then(Compression::validation_error) {
            return Err(BuildError::Compression { problem });
        }
        let toolkit = self.toolkit?;
        let (state, conversation, open, sub_agents) = match self.saved {
            Some(saved) => {
                let ResumedParts { mut state, conversation, open, sub_agents } = saved.into_parts();
                let open_reply = open.iter().map(|open| open.fold.message());
                let messages: Vec<&Msg> = conversation.iter().chain(open_reply).collect();
                state.fail_lost_background(&messages, |call| self.still_running.contains(call));
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
