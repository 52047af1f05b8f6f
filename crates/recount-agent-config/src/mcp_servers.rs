//! The running MCP servers, by agent. All sessions of an agent share its servers.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use recount_agent::mcp::{McpError, McpServer};
use recount_sandbox::Confinement;
use tokio::sync::OnceCell;

use crate::config::AgentConfig;

/// The servers of one agent.
pub(crate) type Servers = Vec<Arc<McpServer>>;

/// How long an agent waits for its MCP servers to start before it continues without them.
const START_TIMEOUT: Duration = Duration::from_secs(10);

/// The MCP servers of all agents. Each agent's servers are started once, when they are first needed.
#[derive(Debug, Default)]
pub(crate) struct McpServers {
    /// Ensures that the servers of an agent are started once.
    cells: Mutex<HashMap<String, Arc<OnceCell<Servers>>>>,
    /// The servers that were started. They may not have completed their handshake yet.
    started: Mutex<HashMap<String, Servers>>,
}

impl McpServers {
    /// Returns the servers of an agent, and starts them if they are not running.
    ///
    /// Waits up to [`START_TIMEOUT`] for them. Tools of a slower server become available when its handshake completes. Other
    /// agents are not blocked meanwhile.
    ///
    /// # Errors
    ///
    /// When the configuration of a server is invalid.
    pub(crate) async fn start(
        &self,
        agent: &str,
        config: &AgentConfig,
        workspace: &Path,
        confinement: &Confinement,
    ) -> Result<Servers, McpError> {
        let cell = Arc::clone(lock(&self.cells).entry(agent.to_owned()).or_default());
        let start = async || {
            let mut servers = Vec::with_capacity(config.mcp.len());
            for (server, config) in &config.mcp {
                servers.push(McpServer::start_confined(server, config.clone(), confinement, workspace)?);
            }
            lock(&self.started).insert(agent.to_owned(), servers.clone());
            let all_settled = async {
                for server in &servers {
                    // A server that fails to start is retried in the background, and does not affect the others.
                    server.wait_until_started().await;
                }
            };
            let _ = tokio::time::timeout(START_TIMEOUT, all_settled).await;
            Ok(servers)
        };
        cell.get_or_try_init(start).await.cloned()
    }

    /// Returns the servers of an agent, or `None` if they were not started. They may still be starting.
    pub(crate) fn started(&self, agent: &str) -> Option<Servers> {
        lock(&self.started).get(agent).cloned()
    }

    /// Shuts down all servers, and waits for them to exit.
    pub(crate) async fn close(&self) {
        let started: Servers = lock(&self.started).values().flatten().cloned().collect();
        let mut closing = tokio::task::JoinSet::new();
        for server in started {
            closing.spawn(async move { server.close().await });
        }
        closing.join_all().await;
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
