//! Agents that work for others: who is meant, and that nobody works for itself.

use super::config::AgentConfig;
use super::file::ConfigError;

/// Sees to it that every helper is there, and that no agent works for itself, however many are in between.
pub(super) fn check(agents: &[(String, AgentConfig)]) -> Result<(), ConfigError> {
    for (name, _) in agents {
        follow(agents, name, &mut Vec::new())?;
    }
    Ok(())
}

/// Follows an agent to those who help it. `way` are those who led here.
fn follow<'a>(agents: &'a [(String, AgentConfig)], name: &'a str, way: &mut Vec<&'a str>) -> Result<(), ConfigError> {
    if let Some(begin) = way.iter().position(|before| *before == name) {
        let circle: Vec<&str> = way.iter().skip(begin).copied().chain([name]).collect();
        let message = format!("agent `{name}` works for itself: the helpers {} go in a circle", circle.join(" → "));
        return Err(ConfigError::without_place(message));
    }
    let Some((_, config)) = agents.iter().find(|(known, _)| known == name) else {
        let asking = way.last().copied().unwrap_or_default();
        let known: Vec<&str> = agents.iter().map(|(name, _)| name.as_str()).filter(|name| *name != asking).collect();
        let known = if known.is_empty() { "no other agent".to_owned() } else { known.join(", ") };
        let message = format!("agent `{asking}`: there is no agent `{name}` to help it\nhint: there is {known}");
        return Err(ConfigError::without_place(message));
    };
    way.push(name);
    config.helpers.iter().try_for_each(|helper| follow(agents, helper, way))?;
    way.pop();
    Ok(())
}
