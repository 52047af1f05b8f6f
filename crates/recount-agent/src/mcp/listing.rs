//! Which tools a server has.

use std::collections::HashSet;
use std::sync::Arc;

use rmcp::RoleClient;
use rmcp::model::PaginatedRequestParams;
use rmcp::service::Peer;

use super::server::Shared;
use super::tool::McpTool;
use crate::tool::CompiledTool;

/// So many tools of a server are taken, which are more than a model can look through.
const MOST_TOOLS: usize = 1_000;
/// So many times a server may say that there are more.
const MOST_PAGES: usize = 100;

/// The tools that a server has now. What cannot be a tool is left out and told in the log: it is nothing that the others
/// should suffer from.
pub(super) async fn tools(shared: &Arc<Shared>, peer: &Peer<RoleClient>) -> Result<Vec<CompiledTool>, String> {
    let mut tools: Vec<CompiledTool> = Vec::new();
    let mut seen = HashSet::new();
    let mut cursor = None;
    for _ in 0..MOST_PAGES {
        let page = peer.list_tools(Some(PaginatedRequestParams::default().with_cursor(cursor))).await;
        let page = page.map_err(|error| format!("it does not say which tools it has: {error}"))?;
        for tool in page.tools {
            let is_wanted =
                shared.config.tools.as_ref().is_none_or(|names| names.iter().any(|name| *name == tool.name));
            if !is_wanted || tools.len() == MOST_TOOLS || !seen.insert(tool.name.clone()) {
                continue;
            }
            match McpTool::new(shared, tool).map(CompiledTool::new) {
                // One could be named like another one as it is called here, and no provider takes two of a name.
                Ok(Ok(mounted)) if tools.iter().any(|tool| tool.spec().name == mounted.spec().name) => {
                    tracing::warn!(server = &*shared.name, "it has two tools `{}`", mounted.spec().name);
                }
                Ok(Ok(mounted)) => tools.push(mounted),
                Ok(Err(error)) => tracing::warn!(server = &*shared.name, "{error}"),
                Err(why) => tracing::warn!(server = &*shared.name, "{why}"),
            }
        }
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    for name in shared.config.tools.iter().flatten().filter(|name| !seen.contains(name.as_str())) {
        tracing::warn!(server = &*shared.name, "it has no tool `{name}`");
    }
    Ok(tools)
}
