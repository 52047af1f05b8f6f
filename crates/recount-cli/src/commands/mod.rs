//! The subcommands, one file each.

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

/// How a command that could be carried out has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    /// All is well.
    Clean,
    /// The input has faults, which the user has been told of.
    Flawed,
    /// The user has stopped it.
    Interrupted,
    /// It ends as a program did that it ran.
    Exit(u8),
}

impl Status {
    fn flawed_if(flawed: bool) -> Self {
        if flawed { Self::Flawed } else { Self::Clean }
    }
}

/// Says on standard error which event, or which part of it, changed nothing.
fn tell_unapplied(lines: &Lines, event: &Event<'_>, outcome: &Outcome) {
    let type_name = event.type_name();
    match outcome {
        Outcome::Ignored(reason) => lines.tell(&format!("{type_name} ignored: {reason}")),
        Outcome::Partial(parts) => {
            for part in parts {
                lines.tell(&format!("{type_name} ignored in part, item {}: {}", part.index, part.reason));
            }
        }
        // What was applied, and what is for the session, needs no word.
        _ => {}
    }
}

/// The names of the providers, which `--help` lists.
fn provider_names() -> impl TypedValueParser<Value = Provider> {
    PossibleValuesParser::new(Provider::ALL.map(Provider::name)).try_map(|name| name.parse::<Provider>())
}

/// The model that the variable RECOUNT_MODEL names, where it is set.
fn model_of_variable() -> Result<Option<ModelName>> {
    let Some(name) = env::var("RECOUNT_MODEL").ok().filter(|name| !name.is_empty()) else { return Ok(None) };
    name.parse().map(Some).map_err(|error| anyhow!("the variable RECOUNT_MODEL: {error}"))
}

/// Why a cursor cannot be continued, by the word for it.
fn why_not_continued(reason: &str) -> &str {
    match reason {
        "epoch" => "it is of another session, or of this one before it was restored or replaced",
        "future" => "it is beyond the end of the session",
        "compacted" => "it is inside of events that were joined since",
        other => other,
    }
}

/// A number of things, in words: `1 entry`, `2 entries`.
fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}
