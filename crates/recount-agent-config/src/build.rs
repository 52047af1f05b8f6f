//! Building an agent from its configuration.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use recount_agent::builtin::{self, Workspace};
use recount_agent::machine::Limits;
use recount_agent::mcp::McpServer;
use recount_agent::multi_agent::SubAgent;
use recount_agent::permission::{Permissions, ToolPermission};
use recount_agent::tool::{FunctionTool, ToolSource, ToolSpec, Toolkit};
use recount_agent::{Agent, AgentBuilder, Compression, Offload};
use recount_host::failing_agent;
use recount_message::{Json, Object, PermissionBehavior};
use recount_model::Provider;
use recount_sandbox::Confinement;

use crate::config::{AgentConfig, ExternalTool};
use crate::default_model::DefaultModel;
use crate::environment::Environment;
use crate::model::ConfiguredModel;
use crate::names::ToolName;
use crate::parse::ConfigError;

/// The system prompt of agents that have none.
const DEFAULT_PROMPT: &str = "You are a helpful assistant. Answer briefly and in Markdown. \
                              Use your tools where they help, and say what you found.";

/// Checks everything about an agent that can be checked without building it.
pub(crate) fn validate(name: &str, config: &AgentConfig, base: &Path) -> Result<(), ConfigError> {
    let invalid = |problem: String| ConfigError::without_location(format!("agent `{name}`: {problem}"));
    if name.is_empty() {
        return Err(invalid("its name is empty".to_owned()));
    }
    let tools = toolkit(config, base, None, &[]).map_err(invalid)?;
    if let Some(problem) = config.validate() {
        return Err(invalid(problem.message));
    }
    let with_sub_agent = |tools: Toolkit, sub_agent: &String| {
        tools.with(SubAgent::new(sub_agent, "", || Agent::builder(""))).map_err(|error| invalid(error.to_string()))
    };
    config.helpers.iter().try_fold(tools, with_sub_agent).map(drop)
}

/// Returns the model of an agent, or a message if it is invalid or has no API key.
pub(crate) fn model(config: &AgentConfig, environment: &Environment) -> Result<ConfiguredModel, String> {
    let name = config.model.clone().unwrap_or_else(|| DefaultModel::from_env(environment).model);
    let model = ConfiguredModel::new(&name, environment)?.with_settings(config, environment)?;
    match model.missing_key() {
        Some(missing) => Err(missing),
        None => Ok(model),
    }
}

/// Fills in the defaults of settings that the configuration omits.
pub(crate) fn fill_in_defaults(config: &mut AgentConfig, base: &Path, environment: &Environment) {
    let model = config.model.get_or_insert_with(|| DefaultModel::from_env(environment).model);
    if config.base_url.is_none() {
        let provider = model.as_str().split_once('/').and_then(|(provider, _)| provider.parse::<Provider>().ok());
        config.base_url = provider.and_then(|provider| environment.get(provider.base_url_env_var()));
    }
    config.prompt.get_or_insert_with(|| DEFAULT_PROMPT.to_owned());
    config.tools.get_or_insert_with(|| ToolName::ALL.iter().filter_map(|name| name.parse().ok()).collect());
    let workspace = workspace_directory(config, base);
    config.workspace = Some(std::fs::canonicalize(&workspace).unwrap_or(workspace));
    let limits = Limits::default();
    config.max_iterations.get_or_insert(limits.max_iterations);
    config.stop_on_reject.get_or_insert(limits.stop_on_reject);
}

/// Everything that an agent is built from: its configuration, its running MCP servers and its sub-agents.
#[derive(Debug, Clone)]
pub(crate) struct AgentPlan {
    pub(crate) name: String,
    pub(crate) config: AgentConfig,
    pub(crate) base: PathBuf,
    pub(crate) environment: Environment,
    pub(crate) session: SessionContext,
    pub(crate) servers: Vec<Arc<McpServer>>,
    pub(crate) sub_agents: Vec<Self>,
}

/// The context of a session that its tools share.
#[derive(Debug, Clone)]
pub(crate) struct SessionContext {
    /// The session key, including the tenant.
    pub(crate) key: String,
    /// The directory for offloaded content.
    pub(crate) offload_directory: Option<PathBuf>,
    pub(crate) confinement: Confinement,
}

impl AgentPlan {
    /// Returns a builder with everything but the sink and the saved state, which the host adds.
    pub(crate) fn builder(&self) -> Result<AgentBuilder, String> {
        let Self { config, base, environment, .. } = self;
        let mut tools = toolkit(config, base, Some(&self.session), &self.servers)?;
        for sub_agent in &self.sub_agents {
            tools = tools.with(sub_agent.tool()?).map_err(|error| error.to_string())?;
        }
        let mut builder = Agent::builder(&self.name)
            .model(model(config, environment)?)
            .system_prompt(config.prompt.as_deref().unwrap_or(DEFAULT_PROMPT))
            .toolkit(tools)
            .permissions(permissions(config, base));
        for fallback in &config.fallback {
            builder = builder.fallback(ConfiguredModel::new(fallback, environment)?);
        }
        if let Some(directory) = &self.session.offload_directory {
            builder = builder.offload(Offload::to(directory));
        }
        if let Some(iterations) = config.max_iterations {
            builder = builder.max_iterations(iterations);
        }
        if let Some(tokens) = config.tool_result_limit {
            builder = builder.tool_result_limit(tokens);
        }
        if let Some(tokens) = config.context_window {
            builder = builder.compression(Compression::new(tokens));
        }
        if let Some(images) = config.max_images {
            builder = builder.max_images(images);
        }
        if let Some(seconds) = config.confirm_within {
            builder = builder.confirm_within(Duration::from_secs(seconds));
        }
        if let Some(stop) = config.stop_on_reject {
            builder = builder.stop_on_reject(stop);
        }
        Ok(builder)
    }

    /// Returns the agent as a tool of its parent.
    fn tool(&self) -> Result<SubAgent, String> {
        // Build once now, so that a problem is reported before the parent starts.
        self.builder().map(drop).map_err(|problem| format!("sub-agent `{}`: {problem}", self.name))?;
        let plan = self.clone();
        // A later build can still fail, for example because a directory was removed.
        let build = move || plan.builder().unwrap_or_else(|problem| failing_agent(&plan.name, problem));
        Ok(SubAgent::new(&self.name, sub_agent_description(&self.name, &self.config), build))
    }
}

/// The description of a sub-agent's tool, for the parent's model.
fn sub_agent_description(name: &str, config: &AgentConfig) -> String {
    let description = config.description.clone().unwrap_or_else(|| format!("The agent `{name}`."));
    format!("{description} Delegates a task to it and returns its reply.")
}

/// The tools of an agent, without sub-agents.
fn toolkit(
    config: &AgentConfig,
    base: &Path,
    session: Option<&SessionContext>,
    servers: &[Arc<McpServer>],
) -> Result<Toolkit, String> {
    let mut toolkit = Toolkit::new();
    let names = config.builtin_names();
    for tool in builtin::all(workspace(config, base, session)?) {
        if names.contains(&tool.spec().name) {
            toolkit = toolkit.with_shared(tool).map_err(|error| error.to_string())?;
        }
    }
    for tool in external_tools(config)? {
        toolkit = toolkit.with(tool).map_err(|error| error.to_string())?;
    }
    for server in servers {
        toolkit = toolkit.with_source(Arc::clone(server) as Arc<dyn ToolSource>).map_err(|error| error.to_string())?;
    }
    Ok(toolkit)
}

/// Returns the names and descriptions of an agent's built-in and external tools.
pub(crate) fn tool_descriptions(config: &AgentConfig, base: &Path) -> Vec<(String, String)> {
    let names = config.builtin_names();
    let builtin = workspace(config, base, None).map(builtin::all).unwrap_or_default();
    let builtin = builtin.iter().map(|tool| (tool.spec().name.clone(), tool.spec().description.clone()));
    let external = config.external.iter().map(|(name, tool)| (name.clone(), tool.description.clone()));
    builtin.filter(|(name, _)| names.contains(name)).chain(external).collect()
}

/// The workspace of an agent's built-in tools. `session` is `None` if the tools are only listed or validated.
fn workspace(config: &AgentConfig, base: &Path, session: Option<&SessionContext>) -> Result<Workspace, String> {
    let directory = workspace_directory(config, base);
    let unusable = |path: &Path, error: std::io::Error| format!("cannot use the directory {}: {error}", path.display());
    let mut workspace = Workspace::new(&directory).map_err(|error| unusable(&directory, error))?;
    for directory in &config.directories {
        let directory = base.join(directory);
        workspace = workspace.with_directory(&directory).map_err(|error| unusable(&directory, error))?;
    }
    if let Some(SessionContext { key, offload_directory, confinement }) = session {
        workspace = workspace.confine(confinement.clone()).session(key);
        if let Some(directory) = offload_directory {
            workspace = workspace.offload_to(directory).map_err(|error| unusable(directory, error))?;
        }
    }
    Ok(workspace)
}

/// The directory in which an agent's tools work.
pub(crate) fn workspace_directory(config: &AgentConfig, base: &Path) -> PathBuf {
    config.workspace.as_ref().map_or_else(|| PathBuf::from("."), |path| base.join(path))
}

fn external_tools(config: &AgentConfig) -> Result<Vec<FunctionTool<Object>>, String> {
    let tool = |(name, tool): (&String, &ExternalTool)| {
        let mut spec = ToolSpec::new(name, &tool.description);
        if let Some(parameters) = &tool.parameters {
            let text = serde_json::to_string(parameters).map_err(|error| format!("tool `{name}`: {error}"))?;
            spec = spec.parameters(Json::parse(&text).map_err(|error| format!("tool `{name}`: {error}"))?);
        }
        // The client that executes the tool decides whether to run it.
        Ok(FunctionTool::dynamic_external(spec).permission(|_| ToolPermission::Allow))
    };
    config.external.iter().map(tool).collect()
}

fn permissions(config: &AgentConfig, base: &Path) -> Permissions {
    let configured = &config.permissions;
    let mut permissions = Permissions::new(configured.mode);
    let directories =
        std::iter::once(workspace_directory(config, base)).chain(config.directories.iter().map(|path| base.join(path)));
    for directory in directories {
        // The workspace was created before, so this fails only if the directory was removed since.
        let directory = std::fs::canonicalize(&directory).unwrap_or(directory);
        permissions = permissions.with_working_directory(directory.display().to_string());
    }
    let lists = [
        (&configured.allow, PermissionBehavior::Allow),
        (&configured.deny, PermissionBehavior::Deny),
        (&configured.ask, PermissionBehavior::Ask),
    ];
    for (rules, behavior) in lists {
        for rule in rules {
            permissions.add(rule.to_permission_rule(behavior));
        }
    }
    permissions
}
