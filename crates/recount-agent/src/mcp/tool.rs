//! A tool of a server.

use std::sync::{Arc, Weak};

use recount_message::{Json, Object};
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CancelledNotification, CancelledNotificationParam, ClientRequest,
    ProgressNotificationParam, RequestId, ServerResult, Tool as Described,
};
use rmcp::service::{Peer, PeerRequestOptions};
use rmcp::{RoleClient, ServiceError};

use super::content;
use super::error::of_transport;
use super::names;
use super::server::Shared;
use crate::BoxFuture;
use crate::permission::{PermissionContext, ToolPermission};
use crate::tool::{Tool, ToolContext, ToolError, ToolOutput, ToolSpec};

/// The signal that a call has come further.
const PROGRESS: &str = "mcp.progress";
/// So long may the description of a tool be, and its schema, in bytes.
const LONGEST_DESCRIPTION: usize = 10_000;
const LONGEST_SCHEMA: usize = 256 * 1024;

pub(super) struct McpTool {
    spec: ToolSpec,
    /// The name that the server knows it by.
    own_name: String,
    server_name: Arc<str>,
    /// A tool that somebody holds does not keep its server running.
    server: Weak<Shared>,
    may_destroy: bool,
}

impl McpTool {
    /// A tool as a server describes it.
    pub(super) fn new(server: &Arc<Shared>, described: Described) -> Result<Self, String> {
        let own_name = described.name.into_owned();
        let schema = Json::from_serialize(&*described.input_schema)
            .map_err(|error| format!("its tool `{own_name}`: {error}"))?;
        if schema.as_raw().len() > LONGEST_SCHEMA {
            return Err(format!("its tool `{own_name}` has a schema that is too long"));
        }
        let mut schema = schema.to_object().unwrap_or_default();
        // Some servers leave out what is true of every tool.
        if !schema.contains_key("type") {
            schema.insert("type", "object");
        }
        let description = described.description.map(String::from).or(described.title).unwrap_or_default();
        let description: String = description.chars().take(LONGEST_DESCRIPTION).collect();
        let mut spec = ToolSpec::new(names::of_tool(&server.name, &own_name), description).parameters(schema);
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
        let (handle, route, mut progress) = sent.map_err(|error| self.told(&error, &server))?;
        let mut abandoned = Abandoned { request: Some((peer, handle.id.clone())) };
        // Telling of progress waits while nobody listens. Neither the answer nor its timeout may wait for that.
        let telling = async {
            while let Some(progress) = progress.recv().await {
                self.signal(progress, context).await;
            }
        };
        let answer = handle.await_response();
        tokio::pin!(telling, answer);
        let answer = tokio::select! {
            biased;
            () = cancelled.cancelled() => return Err(interrupted()),
            answer = &mut answer => answer,
            // It ends only with its route.
            () = &mut telling => answer.await,
        };
        abandoned.request = None;
        drop(route);
        // What came before the answer is told before it.
        if answer.is_ok() {
            tokio::select! {
                () = telling => {}
                () = cancelled.cancelled() => {}
            }
        }
        match answer {
            Ok(ServerResult::CallToolResult(result)) => Ok(content::output(result, server.config.max_output)),
            Ok(ServerResult::InputRequiredResult(_)) => {
                Err(ToolError::new(format!("`{}` asks for more, which cannot be given here", self.spec.name)))
            }
            Ok(_) => Err(self.told(&ServiceError::UnexpectedResponse, &server)),
            Err(error) => Err(self.told(&error, &server)),
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

    /// What the model is told of a failure.
    fn told(&self, error: &ServiceError, server: &Shared) -> ToolError {
        let name = &self.server_name;
        ToolError::new(match error {
            ServiceError::McpError(error) => error.message.chars().take(server.config.max_output).collect(),
            ServiceError::TransportClosed => {
                format!("the MCP server `{name}` died before it answered; whether it did what was asked is not known")
            }
            ServiceError::Timeout { timeout } => {
                server.suspect.notify_one();
                format!("the MCP server `{name}` did not answer within {timeout:?}; the call was given up")
            }
            ServiceError::UnexpectedResponse => {
                format!("the MCP server `{name}` answered with something that is no result")
            }
            ServiceError::TransportSend(error) => {
                server.suspect.notify_one();
                format!("the MCP server `{name}` cannot be reached: {}", of_transport(error))
            }
            other => format!("the MCP server `{name}` cannot be asked: {other}"),
        })
    }
}

fn interrupted() -> ToolError {
    ToolError::new("it was interrupted")
}

/// A call that nobody waits for any more: the server is told, so that it does not go on for nothing.
struct Abandoned {
    request: Option<(Peer<RoleClient>, RequestId)>,
}

impl Drop for Abandoned {
    fn drop(&mut self) {
        let Some((peer, id)) = self.request.take() else { return };
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let params = CancelledNotificationParam::new(Some(id), Some("nobody waits for it any more".to_owned()));
        runtime.spawn(async move {
            // A server that is gone needs not be told.
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
            let may_destroy = if self.may_destroy { " and may destroy something" } else { "" };
            ToolPermission::Ask(format!(
                "`{}` is run by the MCP server `{}`{may_destroy}",
                self.own_name, self.server_name
            ))
        };
        Box::pin(async { permission })
    }
}
