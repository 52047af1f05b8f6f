//! The warning about tenants whose agents share one machine.

use std::collections::HashSet;
use std::path::Path;

use recount_agent_config::Agents;
use recount_host::AgentSource as _;
use recount_server::Tokens;

/// Returns a warning if the tokens belong to several tenants and an agent has tools. `None` otherwise.
///
/// The tools of an agent can access the files of the service, including the data of other tenants.
pub(crate) fn shared_machine(agents: &Agents, data: &Path) -> Option<String> {
    let tokens = Tokens::in_directory(data).list().ok()?;
    let tenants: HashSet<&str> = tokens.iter().map(|token| token.tenant.as_str()).collect();
    if tenants.len() < 2 {
        return None;
    }
    let has_tools = |name: &str| {
        agents.config(name).is_some_and(|config| config.tools.as_ref().is_none_or(|tools| !tools.is_empty()))
    };
    let named = agents.agents().into_iter().map(|agent| agent.name).find(|name| has_tools(name))?;
    Some(format!(
        "there are tokens of {} tenants, and whoever may write can have agent `{named}` use its tools on what the others keep here; \
         hint: `tools = []` in `[agents.{named}]`, or a service for each",
        tenants.len()
    ))
}
