//! The service: sessions over HTTP, server-sent events and WebSocket.
//!
//! A session is one durable log, and a client is somebody who reads it from a cursor. Closing a tab cancels nothing,
//! reconnecting repeats nothing, and whoever reads ends up with the same messages, byte for byte.

mod app;
mod batch;
mod call;
mod config;
mod duration;
mod fanout;
mod guard;
mod limits;
mod listen;
mod media;
mod metrics;
mod news;
mod openapi;
mod params;
mod problem;
mod routes;
mod runs;
mod server;
mod tickets;
mod tokens;
mod unread;
mod upkeep;
mod usage;
mod watch;

pub use config::{
    Config, ConfigError, DurabilityWord, LimitsConfig, LogConfig, LogFormat, OnRestartWord, ServerConfig,
    TelemetryConfig,
};
pub use duration::{parse_duration, parse_size};
pub use limits::Limits;
pub use metrics::CommitMeter;
pub use server::{Listening, Server, ServerError, ServerOptions};
pub use tokens::{Scope, TokenInfo, Tokens};
