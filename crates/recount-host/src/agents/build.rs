//! From what a configuration says to an agent.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use recount_agent::builtin::{self, Workspace};
use recount_agent::machine::Limits;
use recount_agent::mcp::McpServer;
use recount_agent::permission::{Permissions, ToolPermission};
use recount_agent::several::SubAgent;
use recount_agent::tool::{FunctionTool, ToolSource, ToolSpec, Toolkit};
use recount_agent::{Agent, AgentBuilder, Compression, Offload};
use recount_message::{Json, PermissionBehavior};
use recount_model::Provider;
use recount_sandbox::Confinement;

use super::choice::Choice;
use super::config::{AgentConfig, ExternalTool};
use super::environment::Environment;
use super::file::ConfigError;
use super::model::NamedModel;
use super::names::ToolName;
use crate::run::unfit;

/// What an agent is told that has no prompt of its own.
const PROMPT: &str = "You are a helpful assistant. Answer briefly and in Markdown. \
                      Use your tools where they help, and say what you found.";

/// Looks for what can be seen to be wrong before an agent is needed.
pub(super) fn check(name: &str, config: &AgentConfig, base: &Path) -> Result<(), ConfigError> {
    let wrong = |problem: String| ConfigError::without_place(format!("agent `{name}`: {problem}"));
    if name.is_empty() {
        return Err(wrong("its name is empty".to_owned()));
    }
    let tools = toolkit(config, base, None, &[]).map_err(wrong)?;
    if let Some(problem) = config.problem() {
        return Err(wrong(problem.message));
    }
    let with_helper = |tools: Toolkit, helper: &String| {
        tools.with(SubAgent::new(helper, "", || Agent::builder(""))).map_err(|error| wrong(error.to_string()))
    };
    config.helpers.iter().try_fold(tools, with_helper).map(drop)
}

/// The model of an agent, if it can be asked.
pub(super) fn model(config: &AgentConfig, environment: &Environment) -> Result<NamedModel, String> {
    let name = config.model.clone().unwrap_or_else(|| Choice::of(environment).model);
    let model = NamedModel::new(&name, environment)?.with(config, environment)?;
    match model.missing() {
        Some(missing) => Err(missing),
        None => Ok(model),
    }
}

/// Puts in what is used where nothing is said.
pub(super) fn fill_in(config: &mut AgentConfig, base: &Path, environment: &Environment) {
    let model = config.model.get_or_insert_with(|| Choice::of(environment).model);
    if config.base_url.is_none() {
        let provider = model.as_str().split_once('/').and_then(|(provider, _)| provider.parse::<Provider>().ok());
        config.base_url = provider.and_then(|provider| environment.filled(provider.base_url_env_var()));
    }
    config.prompt.get_or_insert_with(|| PROMPT.to_owned());
    config.tools.get_or_insert_with(|| ToolName::ALL.iter().filter_map(|name| name.parse().ok()).collect());
    let workspace = directory(config, base);
    config.workspace = Some(std::fs::canonicalize(&workspace).unwrap_or(workspace));
    let limits = Limits::default();
    config.max_iterations.get_or_insert(limits.max_iterations);
    config.stop_on_reject.get_or_insert(limits.stop_on_reject);
}

/// What an agent is made from: what is said of it, the servers that run for it, and those who help it.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    pub(super) name: String,
    pub(super) config: AgentConfig,
    pub(super) base: PathBuf,
    pub(super) environment: Environment,
    pub(super) place: SessionPlace,
    pub(super) servers: Vec<Arc<McpServer>>,
    pub(super) helpers: Vec<Self>,
}

/// The parts that the tools of a session share.
#[derive(Debug, Clone)]
pub(super) struct SessionPlace {
    /// The session, with its tenant.
    pub(super) key: String,
    /// The directory for output that is too long to be shown.
    pub(super) aside: Option<PathBuf>,
    pub(super) confinement: Confinement,
}

impl Plan {
    /// An agent to be filled in with its session.
    pub(super) fn builder(&self) -> Result<AgentBuilder, String> {
        let Self { config, base, environment, .. } = self;
        let mut tools = toolkit(config, base, Some(&self.place), &self.servers)?;
        for helper in &self.helpers {
            tools = tools.with(helper.tool()?).map_err(|error| error.to_string())?;
        }
        let mut builder = Agent::builder(&self.name)
            .model(model(config, environment)?)
            .system_prompt(config.prompt.as_deref().unwrap_or(PROMPT))
            .toolkit(tools)
            .permissions(permissions(config, base));
        for fallback in &config.fallback {
            builder = builder.fallback(NamedModel::new(fallback, environment)?);
        }
        if let Some(directory) = &self.place.aside {
            builder = builder.offload(Offload::to(directory));
        }
        if let Some(times) = config.max_iterations {
            builder = builder.max_iterations(times);
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

    /// The agent as the tool of another one.
    fn tool(&self) -> Result<SubAgent, String> {
        // What is missing is told before anybody relies on it.
        self.builder().map(drop).map_err(|problem| format!("its helper `{}`: {problem}", self.name))?;
        let plan = self.clone();
        // Something may have gone since then, such as a directory.
        let build = move || plan.builder().unwrap_or_else(|problem| unfit(&plan.name, problem));
        Ok(SubAgent::new(&self.name, description(&self.name, &self.config), build))
    }
}

/// What the model is told of an agent that helps its own.
fn description(name: &str, config: &AgentConfig) -> String {
    let what = config.description.clone().unwrap_or_else(|| format!("The agent `{name}`."));
    format!("{what} Gives it a task, which it works on by itself, and answers with what it says.")
}

fn toolkit(
    config: &AgentConfig,
    base: &Path,
    place: Option<&SessionPlace>,
    servers: &[Arc<McpServer>],
) -> Result<Toolkit, String> {
    let mut toolkit = Toolkit::new();
    let names = config.builtin_names();
    for tool in builtin::all(workspace(config, base, place)?) {
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

/// The tools that an agent has without MCP servers and helpers, with what each is for.
pub(super) fn described_tools(config: &AgentConfig, base: &Path) -> Vec<(String, String)> {
    let names = config.builtin_names();
    let known = workspace(config, base, None).map(builtin::all).unwrap_or_default();
    let described = known.iter().map(|tool| (tool.spec().name.clone(), tool.spec().description.clone()));
    let external = config.external.iter().map(|(name, tool)| (name.clone(), tool.description.clone()));
    described.filter(|(name, _)| names.contains(name)).chain(external).collect()
}

/// The workspace of an agent, without a place if the tools are only looked at.
fn workspace(config: &AgentConfig, base: &Path, place: Option<&SessionPlace>) -> Result<Workspace, String> {
    let directory = directory(config, base);
    let told = |path: &Path, error: std::io::Error| format!("cannot work in {}: {error}", path.display());
    let mut workspace = Workspace::new(&directory).map_err(|error| told(&directory, error))?;
    for further in &config.directories {
        let further = base.join(further);
        workspace = workspace.and_directory(&further).map_err(|error| told(&further, error))?;
    }
    if let Some(SessionPlace { key, aside, confinement }) = place {
        workspace = workspace.confine(confinement.clone()).session(key);
        if let Some(aside) = aside {
            workspace = workspace.keep_aside_in(aside).map_err(|error| told(aside, error))?;
        }
    }
    Ok(workspace)
}

pub(super) fn directory(config: &AgentConfig, base: &Path) -> PathBuf {
    config.workspace.as_ref().map_or_else(|| PathBuf::from("."), |path| base.join(path))
}

fn external_tools(config: &AgentConfig) -> Result<Vec<FunctionTool<recount_message::Object>>, String> {
    let tool = |(name, tool): (&String, &ExternalTool)| {
        let mut spec = ToolSpec::new(name, &tool.description);
        if let Some(parameters) = &tool.parameters {
            let text = serde_json::to_string(parameters).map_err(|error| format!("tool `{name}`: {error}"))?;
            spec = spec.parameters(Json::parse(&text).map_err(|error| format!("tool `{name}`: {error}"))?);
        }
        // Whoever runs it decides whether it runs.
        Ok(FunctionTool::dynamic_external(spec).permission(|_| ToolPermission::Allow))
    };
    config.external.iter().map(tool).collect()
}

fn permissions(config: &AgentConfig, base: &Path) -> Permissions {
    let said = &config.permissions;
    let mut permissions = Permissions::new(said.mode);
    let directories =
        std::iter::once(directory(config, base)).chain(config.directories.iter().map(|path| base.join(path)));
    for directory in directories {
        // It was there when the workspace was made.
        let directory = std::fs::canonicalize(&directory).unwrap_or(directory);
        permissions = permissions.with_working_directory(directory.display().to_string());
    }
    let lists = [
        (&said.allow, PermissionBehavior::Allow),
        (&said.deny, PermissionBehavior::Deny),
        (&said.ask, PermissionBehavior::Ask),
    ];
    for (rules, behavior) in lists {
        for rule in rules {
            permissions.add(rule.rule(behavior));
        }
    }
    permissions
}
