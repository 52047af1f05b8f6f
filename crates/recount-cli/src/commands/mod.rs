//! The subcommands, one module each.

pub(crate) mod ask;
pub(crate) mod chat;
pub(crate) mod check;
pub(crate) mod config;
pub(crate) mod convert;
pub(crate) mod decode;
pub(crate) mod doctor;
pub(crate) mod fold;
pub(crate) mod format;
pub(crate) mod log;
pub(crate) mod models;
pub(crate) mod remote;
pub(crate) mod sandbox;
pub(crate) mod schema;
pub(crate) mod serve;
pub(crate) mod show;
mod tenants;
pub(crate) mod token;

use std::env;

use anyhow::{Result, anyhow};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use recount_agent_config::ModelName;
use recount_message::{Event, Outcome};
use recount_model::Provider;

use crate::input::Lines;

/// The outcome of a command that ran. A command that could not run returns an error instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    /// Success.
    Clean,
    /// The input has errors, which were reported.
    Flawed,
    /// The user cancelled the command.
    Interrupted,
    /// The exit status of the program that the command ran.
    Exit(u8),
}

impl Status {
    fn flawed_if(flawed: bool) -> Self {
        if flawed { Self::Flawed } else { Self::Clean }
    }
}

/// Reports on standard error that an event, or a part of it, had no effect.
fn report_unapplied(lines: &Lines, event: &Event<'_>, outcome: &Outcome) {
    let type_name = event.type_name();
    match outcome {
        Outcome::Ignored(reason) => lines.report(&format!("{type_name} ignored: {reason}")),
        Outcome::Partial(parts) => {
            for part in parts {
                lines.report(&format!("{type_name} ignored in part, item {}: {}", part.index, part.reason));
            }
        }
        // Applied events and events for the session are not reported.
        _ => {}
    }
}

/// Returns the parser of `--provider`. `--help` lists its values.
fn provider_values() -> impl TypedValueParser<Value = Provider> {
    PossibleValuesParser::new(Provider::ALL.map(Provider::name)).try_map(|name| name.parse::<Provider>())
}

/// Returns the model that the variable `RECOUNT_MODEL` names. `None` if it is unset or empty.
fn model_of_variable() -> Result<Option<ModelName>> {
    let Some(name) = env::var("RECOUNT_MODEL").ok().filter(|name| !name.is_empty()) else { return Ok(None) };
    name.parse().map(Some).map_err(|error| anyhow!("the variable RECOUNT_MODEL: {error}"))
}

/// Returns a sentence for the `reason` of a gap.
fn gap_reason_text(reason: &str) -> &str {
    match reason {
        "epoch" => "it is of another session, or of this one before it was restored or replaced",
        "future" => "it is beyond the end of the session",
        "compacted" => "it is inside of events that were joined since",
        other => other,
    }
}

/// Formats a count with its noun: `1 entry`, `2 entries`.
fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}
