//! The `recount` command: fold, check and show what agents say.

mod checkpoint_file;
mod commands;
mod dialects;
mod hint;
mod input;
mod line;
mod output;
mod pretty;
mod progress;
mod telemetry;
mod timeline;
mod view;
mod visible;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::commands::{
    Status, ask, chat, check, config, convert, decode, doctor, fold, format, log, models, remote, schema, serve, show,
    token,
};
use crate::visible::visible;

/// Messages and events of AI agents on the command line
///
/// An agent tells of a reply in events. `decode` makes them from what a model
/// sends, and `fold`, `check` and `show` read them as JSON lines: one event per
/// line, from a file or from standard input. `format` goes the other way, from
/// messages to a model's request. `convert` translates between what the sides
/// of AgentScope speak, and `log` works on a data directory that keeps events.
#[derive(Debug, Parser)]
#[command(name = "recount", version, arg_required_else_help = true, verbatim_doc_comment, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  recount fold events.jsonl > messages.jsonl
  recount check events.jsonl && recount show events.jsonl
  recount decode --provider openai response.sse | recount fold

Exit status:
  0  all is well
  1  a line could not be read, `check` or `log verify` found an error, or a
     response failed
  2  the command itself could not be carried out, such as a missing file";

#[derive(Debug, Subcommand)]
enum Command {
    Serve(serve::ServeArgs),
    Token(token::TokenArgs),
    Config(config::ShowConfigArgs),
    Doctor(doctor::DoctorArgs),
    Sessions(remote::sessions::SessionsArgs),
    Tail(remote::tail::TailArgs),
    Fold(fold::FoldArgs),
    Check(check::CheckArgs),
    Show(show::ShowArgs),
    Convert(convert::ConvertArgs),
    Log(log::LogArgs),
    Schema(schema::SchemaArgs),
    Decode(decode::DecodeArgs),
    Format(format::FormatArgs),
    Models(models::ModelsArgs),
    Ask(ask::AskArgs),
    Chat(chat::ChatArgs),
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Serve(args) => serve::run(&args),
        Command::Token(args) => token::run(&args),
        Command::Config(args) => config::run(&args),
        Command::Doctor(args) => doctor::run(&args),
        Command::Sessions(args) => remote::sessions::run(&args),
        Command::Tail(args) => remote::tail::run(&args),
        Command::Fold(args) => fold::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Show(args) => show::run(&args),
        Command::Convert(args) => convert::run(&args),
        Command::Log(args) => log::run(&args),
        Command::Schema(args) => schema::run(&args),
        Command::Decode(args) => decode::run(&args),
        Command::Format(args) => format::run(&args),
        Command::Models(args) => models::run(&args),
        Command::Ask(args) => ask::run(&args),
        Command::Chat(args) => chat::run(&args),
    };
    match result {
        Ok(Status::Clean) => ExitCode::SUCCESS,
        Ok(Status::Flawed) => ExitCode::from(1),
        // As a shell says it of what ended by SIGINT.
        Ok(Status::Interrupted) => ExitCode::from(130),
        Err(error) if output::is_closed(&error) => ExitCode::SUCCESS,
        Err(error) => {
            // Nobody is left to tell when even this cannot be written.
            let _ = writeln!(io::stderr(), "error: {}", visible(&format!("{error:#}")));
            ExitCode::from(2)
        }
    }
}
