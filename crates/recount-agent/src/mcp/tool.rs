//! A tool of a server.

use std::sync::{Arc, Weak};

use recount_message::{Json, Object};
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CancelledNotification, CancelledNotificationParam, ClientRequest,
    ProgressNotificationParam, RequestId, ServerResult, Tool as ToolDescription,
};
use rmcp::service::{Peer, PeerRequestOptions};
use rmcp::{RoleClient, ServiceError};

use super::content;
use super::error::describe_transport;
use super::names;
use super::server::Shared;
use crate::BoxFuture;
use crate::permission::{PermissionContext, ToolPermission};
use crate::tool::{Tool, ToolContext, ToolError, ToolOutput, ToolSpec};

/// The name of the CUSTOM event for progress.
const PROGRESS: &str = "mcp.progress";
/// The maximum length of a description in characters. Longer ones are truncated.
const MAX_DESCRIPTION: usize = 10_000;
/// The maximum length of a schema in bytes. Tools with longer ones are skipped.
const MAX_SCHEMA: usize = 256 * 1024;

pub(super) struct McpTool {
    spec: ToolSpec,
    /// The name of the tool in the server.
    own_name: String,
    server_name: Arc<str>,
    /// Weak, so that a tool does not keep its server running.
    server: Weak<Shared>,
    may_destroy: bool,
}

impl McpTool {
    /// Creates a tool from its description.
    ///
    /// # Errors
    ///
    /// The schema is too long or cannot be converted.
    pub(super) fn new(server: &Arc<Shared>, described: ToolDescription) -> Result<Self, String> {
        let own_name = described.name.into_owned();
        let schema = Json::from_serialize(&*described.input_schema)
            .map_err(|error| format!("invalid schema of tool `{own_name}`: {error}"))?;
        if schema.as_raw().len() > MAX_SCHEMA {
            return Err(format!("the schema of tool `{own_name}` is too long"));
        }
        let mut schema = schema.to_object().unwrap_or_default();
        // Some servers omit the type, which is the same for every tool.
        if !schema.contains_key("type") {
            schema.insert("type", "object");
        }
        let description = described.description.map(String::from).or(described.title).unwrap_or_default();
        let description: String = description.chars().take(MAX_DESCRIPTION).collect();
        let mut spec = ToolSpec::new(names::tool_name(&server.name, &own_name), description).parameters(schema);
        let hints = described.annotations.unwrap_or_default();
        let trusts = server.config.trust_hints;
        spec.read_only = trusts && hints.read_only_hint == Some(true);
        spec.idempotent = trusts && (spec.read_only || hints.idempotent_hint == Some(true));
        spec.concurrency_safe = spec.read_only;
        Ok(Self {
            spec,
            own_name,
            server_name: Arc::clone(&server.name),
            server: Arc::downgrade(server),
            may_destroy: hints.destructive_hint != Some(false),
        })
    }

    async fn call(&self, arguments: &Object, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let server =
            self.server.upgrade().ok_or_else(|| format!("the MCP server `{}` was closed", self.server_name))?;
        let cancelled = context.cancelled();
        let peer = tokio::select! {
            peer = server.peer() => peer?,
            () = cancelled.cancelled() => return Err(interrupted()),
        };
        let arguments = serde_json::from_str(&arguments.to_json())?;
        let params = CallToolRequestParams::new(self.own_name.clone()).with_arguments(arguments);
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let options = PeerRequestOptions::with_timeout(server.config.timeout)
            .reset_timeout_on_progress()
            .with_max_total_timeout(server.config.max_duration);
        let sent = server.progress.send(&peer, request, options).await;
        let (handle, route, mut progress) = sent.map_err(|error| self.error(&error, &server))?;
        let mut cancel_guard = CancelGuard { request: Some((peer, handle.id.clone())) };
        // Emitting progress can block on a slow reader. Neither the response nor its timeout may wait for that.
        let emit_progress = async {
            while let Some(progress) = progress.recv().await {
                self.signal(progress, context).await;
            }
        };
        let response = handle.await_response();
        tokio::pin!(emit_progress, response);
        let response = tokio::select! {
            biased;
            () = cancelled.cancelled() => return Err(interrupted()),
            response = &mut response => response,
            // It ends only when the route is dropped.
            () = &mut emit_progress => response.await,
        };
        cancel_guard.request = None;
        drop(route);
        // Progress that arrived before the response is emitted before it.
        if response.is_ok() {
            tokio::select! {
                () = emit_progress => {}
                () = cancelled.cancelled() => {}
            }
        }
        match response {
            Ok(ServerResult::CallToolResult(result)) => Ok(content::output(result, server.config.max_output)),
            Ok(ServerResult::InputRequiredResult(_)) => {
                Err(ToolError::new(format!("`{}` requires further input, which is not supported", self.spec.name)))
            }
            Ok(_) => Err(self.error(&ServiceError::UnexpectedResponse, &server)),
            Err(error) => Err(self.error(&error, &server)),
        }
    }

    async fn signal(&self, progress: ProgressNotificationParam, context: &ToolContext) {
        let mut value = Object::from([("tool_call_id", context.call_id()), ("tool", &self.spec.name)]);
        value.insert("progress", progress.progress);
        if let Some(total) = progress.total {
            value.insert("total", total);
        }
        if let Some(message) = progress.message {
            value.insert("message", message.chars().take(1_000).collect::<String>());
        }
        context.signal(PROGRESS, value).await;
    }

    /// Converts an error for the model. Pings the server after a timeout or a transport error.
    fn error(&self, error: &ServiceError, server: &Shared) -> ToolError {
        let name = &self.server_name;
        ToolError::new(match error {
            ServiceError::McpError(error) => error.message.chars().take(server.config.max_output).collect(),
            ServiceError::TransportClosed => {
                format!("the MCP server `{name}` exited before it responded; the call may have taken effect")
            }
            ServiceError::Timeout { timeout } => {
                server.suspect.notify_one();
                format!("the MCP server `{name}` did not respond within {timeout:?}; the call was cancelled")
            }
            ServiceError::UnexpectedResponse => {
                format!("the MCP server `{name}` returned an unexpected response")
            }
            ServiceError::TransportSend(error) => {
                server.suspect.notify_one();
                format!("cannot reach the MCP server `{name}`: {}", describe_transport(error))
            }
            other => format!("the request to the MCP server `{name}` failed: {other}"),
        })
    }
}

fn interrupted() -> ToolError {
    ToolError::new("interrupted")
}

/// Sends a cancellation to the server if the call is dropped before its response.
struct CancelGuard {
    request: Option<(Peer<RoleClient>, RequestId)>,
}

impl Drop for CancelGuard {
    fn drop(&mut self) {
        let Some((peer, id)) = self.request.take() else { return };
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let params = CancelledNotificationParam::new(Some(id), Some("the call was cancelled".to_owned()));
        runtime.spawn(async move {
            // Fails if the server has exited.
            let _ = peer.send_notification(CancelledNotification::new(params).into()).await;
        });
    }
}

impl Tool for McpTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn run<'a>(&'a self, arguments: Object, context: &'a ToolContext) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move { self.call(&arguments, context).await })
    }

    fn check_permission<'a>(
        &'a self,
        _arguments: &'a Object,
        _context: &'a PermissionContext,
    ) -> BoxFuture<'a, ToolPermission> {
        let permission = if self.spec.read_only {
            ToolPermission::Passthrough
        } else {
            let destructive = if self.may_destroy { " and may be destructive" } else { "" };
            ToolPermission::Ask(format!(
                "`{}` runs in the MCP server `{}`{destructive}",
                self.own_name, self.server_name
            ))
        };
        Box::pin(async { permission })
    }
}
