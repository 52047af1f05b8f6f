//! Validation of the sub-agents that agents name under `helpers`.

use crate::config::AgentConfig;
use crate::parse::ConfigError;

/// Checks that every sub-agent exists, and that no agent is its own direct or indirect sub-agent.
pub(crate) fn validate(agents: &[(String, AgentConfig)]) -> Result<(), ConfigError> {
    for (name, _) in agents {
        visit(agents, name, &mut Vec::new())?;
    }
    Ok(())
}

/// Visits an agent and its sub-agents. `path` holds the agents from the root to this one.
fn visit<'a>(agents: &'a [(String, AgentConfig)], name: &'a str, path: &mut Vec<&'a str>) -> Result<(), ConfigError> {
    if let Some(first) = path.iter().position(|visited| *visited == name) {
        let cycle: Vec<&str> = path.iter().skip(first).copied().chain([name]).collect();
        let message = format!("agent `{name}`: its sub-agents form a cycle: {}", cycle.join(" → "));
        return Err(ConfigError::without_location(message));
    }
    let Some((_, config)) = agents.iter().find(|(known, _)| known == name) else {
        let parent = path.last().copied().unwrap_or_default();
        let others: Vec<&str> = agents.iter().map(|(name, _)| name.as_str()).filter(|name| *name != parent).collect();
        let hint = match others.is_empty() {
            true => "the configuration has no other agent".to_owned(),
            false => format!("expected one of {}", others.join(", ")),
        };
        let message = format!("agent `{parent}`: unknown sub-agent `{name}`\nhint: {hint}");
        return Err(ConfigError::without_location(message));
    };
    path.push(name);
    config.helpers.iter().try_for_each(|sub_agent| visit(agents, sub_agent, path))?;
    path.pop();
    Ok(())
}
