//! The HTTP service: sessions over HTTP, server-sent events and WebSocket.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use std::sync::Arc;
//!
//! use axum::Router;
//! use recount_agent::{Agent, scripted::ScriptedModel};
//! use recount_host::{Host, HostOptions, SingleAgent};
//! use recount_log::Log;
//! use recount_server::{Api, Auth, ServerOptions, Tokens};
//! # use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
//!
//! // An agent on a log. Its API becomes a part of an axum application.
//! let model = ScriptedModel::new().says("Hello, Alice.");
//! let friday = SingleAgent::new("friday", move || Agent::builder("Friday").model(model.clone()));
//! let host = Host::start(Log::in_memory(), Arc::new(friday), HostOptions::default()).await?;
//! let api = Api::start(host, Auth::Tokens(Tokens::none()), ServerOptions::default());
//! let app = Router::new().nest("/agents", api.router());
//!
//! let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
//! let address = listener.local_addr()?;
//! tokio::spawn(async move { axum::serve(listener, app).await });
//!
//! // GET http://{address}/agents/v1/agents
//! # let mut stream = tokio::net::TcpStream::connect(address).await?;
//! # let request = format!("GET /agents/v1/agents HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
//! # stream.write_all(request.as_bytes()).await?;
//! # let mut response = String::new();
//! # stream.read_to_string(&mut response).await?;
//! assert!(response.starts_with("HTTP/1.1 200 OK"));
//! assert!(response.contains(r#""name":"friday""#));
//! # Ok(()) }
//! ```
//!
//! Each session is a durable log, and each client reads it from a cursor. Closing a connection cancels nothing, reconnecting
//! repeats nothing, and all readers end up with the same messages, byte for byte.
//!
//! - [`Server`] serves the API and the web page on a listener of its own, as `recount serve` does.
//! - [`Api`] has the routes for an axum application that already exists, with [`Auth`] as its authentication.
//! - [`Config`] is the configuration file of `recount serve`, and [`Tokens`] the file with its access tokens.

mod api;
mod app;
mod auth;
mod batch;
mod call;
mod config;
mod drain_body;
mod duration;
mod fanout;
mod guard;
mod heartbeat;
mod host_adapter;
mod limits;
mod listen;
mod maintenance;
mod media;
mod metrics;
mod openapi;
mod params;
mod problem;
mod routes;
mod server;
mod session_events;
mod telemetry;
mod tickets;
mod tokens;
mod usage;

pub use api::Api;
pub use auth::{Auth, Caller};
pub use config::{
    Config, ConfigError, DurabilitySetting, LimitsConfig, LogConfig, LogFormat, OnRestartSetting, ServerConfig,
    TelemetryConfig,
};
pub use duration::{parse_duration, parse_size};
pub use limits::Limits;
pub use metrics::CommitMeter;
pub use server::{BoundListener, Server, ServerError, ServerOptions};
pub use tokens::{Scope, TokenInfo, Tokens};
