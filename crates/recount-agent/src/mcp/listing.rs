//! Listing the tools of a server.

use std::collections::HashSet;
use std::sync::Arc;

use rmcp::RoleClient;
use rmcp::model::PaginatedRequestParams;
use rmcp::service::Peer;

use super::server::Shared;
use super::tool::McpTool;
use crate::tool::CompiledTool;

/// The maximum number of tools of a server.
const MAX_TOOLS: usize = 1_000;
/// The maximum number of pages of the tool list.
const MAX_PAGES: usize = 100;

/// Lists the tools of a server. Invalid tools are skipped and logged, so that the others remain available.
pub(super) async fn tools(shared: &Arc<Shared>, peer: &Peer<RoleClient>) -> Result<Vec<CompiledTool>, String> {
    let mut tools: Vec<CompiledTool> = Vec::new();
    let mut seen = HashSet::new();
    let mut cursor = None;
    for _ in 0..MAX_PAGES {
        let page = peer.list_tools(Some(PaginatedRequestParams::default().with_cursor(cursor))).await;
        let page = page.map_err(|error| format!("cannot list its tools: {error}"))?;
        for tool in page.tools {
            let is_wanted =
                shared.config.tools.as_ref().is_none_or(|names| names.iter().any(|name| *name == tool.name));
            if !is_wanted || tools.len() == MAX_TOOLS || !seen.insert(tool.name.clone()) {
                continue;
            }
            match McpTool::new(shared, tool).map(CompiledTool::new) {
                // Converted names could be equal, and providers reject duplicates.
                Ok(Ok(compiled)) if tools.iter().any(|tool| tool.spec().name == compiled.spec().name) => {
                    tracing::warn!(server = &*shared.name, "duplicate tool `{}`", compiled.spec().name);
                }
                Ok(Ok(compiled)) => tools.push(compiled),
                Ok(Err(error)) => tracing::warn!(server = &*shared.name, "{error}"),
                Err(problem) => tracing::warn!(server = &*shared.name, "{problem}"),
            }
        }
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    for name in shared.config.tools.iter().flatten().filter(|name| !seen.contains(name.as_str())) {
        tracing::warn!(server = &*shared.name, "configured tool `{name}` does not exist");
    }
    Ok(tools)
}
