//! The `recount` command: folds, checks and shows messages and events of agents, and runs agents and the server.

mod checkpoint_file;
mod commands;
mod dialects;
mod hint;
mod input;
mod line;
mod output;
mod permission;
mod pretty;
mod progress;
mod table;
mod telemetry;
mod timeline;
mod view;
mod visible;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::commands::{
    Status, ask, chat, check, config, convert, decode, doctor, fold, format, log, models, remote, sandbox, schema,
    serve, show, token,
};
use crate::visible::visible;

/// Messages and events of AI agents on the command line
///
/// `chat` is an agent in the terminal, and `serve` keeps sessions in which agents
/// answer; `sessions` and `tail` look at them, `send`, `answer` and `stop` take part.
/// `log` works on the data directory of either, in which everything that is said
/// is kept as events.
///
/// `fold`, `check` and `show` read events as JSON lines, one event per line, from a
/// file or from standard input. `decode` makes them from what a model sends,
/// `format` goes the other way, from messages to a model's request, and `convert`
/// translates between what the sides of AgentScope speak.
#[derive(Debug, Parser)]
#[command(name = "recount", version, arg_required_else_help = true, verbatim_doc_comment, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  recount chat --model demo                        # needs no key
  recount serve                                    # http://127.0.0.1:7171
  recount tail chat-7
  recount fold events.jsonl > messages.jsonl
  recount check events.jsonl && recount show events.jsonl
  recount decode --provider openai response.sse | recount fold

Exit status:
  0  all is well
  1  a line could not be read, `check`, `doctor` or `log verify` found an error,
     or a response failed
  2  the command itself could not be carried out, such as a missing file";

#[derive(Debug, Subcommand)]
enum Command {
    Chat(chat::ChatArgs),
    Ask(ask::AskArgs),
    Models(models::ModelsArgs),
    Serve(serve::ServeArgs),
    Sessions(remote::sessions::SessionsArgs),
    Tail(remote::tail::TailArgs),
    Send(remote::send::SendArgs),
    Answer(remote::answer::AnswerArgs),
    Stop(remote::stop::StopArgs),
    Token(token::TokenArgs),
    Config(config::ShowConfigArgs),
    Doctor(doctor::DoctorArgs),
    Sandbox(sandbox::SandboxArgs),
    Log(log::LogArgs),
    Fold(fold::FoldArgs),
    Check(check::CheckArgs),
    Show(show::ShowArgs),
    Convert(convert::ConvertArgs),
    Decode(decode::DecodeArgs),
    Format(format::FormatArgs),
    Schema(schema::SchemaArgs),
}

fn main() -> ExitCode {
    recount_sandbox::run_if_helper();
    let result = match Cli::parse().command {
        Command::Chat(args) => chat::run(&args),
        Command::Ask(args) => ask::run(&args),
        Command::Models(args) => models::run(&args),
        Command::Serve(args) => serve::run(&args),
        Command::Sessions(args) => remote::sessions::run(&args),
        Command::Tail(args) => remote::tail::run(&args),
        Command::Send(args) => remote::send::run(&args),
        Command::Answer(args) => remote::answer::run(&args),
        Command::Stop(args) => remote::stop::run(&args),
        Command::Token(args) => token::run(&args),
        Command::Config(args) => config::run(&args),
        Command::Doctor(args) => doctor::run(&args),
        Command::Sandbox(args) => sandbox::run(&args),
        Command::Log(args) => log::run(&args),
        Command::Fold(args) => fold::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Show(args) => show::run(&args),
        Command::Convert(args) => convert::run(&args),
        Command::Decode(args) => decode::run(&args),
        Command::Format(args) => format::run(&args),
        Command::Schema(args) => schema::run(&args),
    };
    match result {
        Ok(Status::Clean) => ExitCode::SUCCESS,
        Ok(Status::Flawed) => ExitCode::from(1),
        // The exit status that shells use for SIGINT.
        Ok(Status::Interrupted) => ExitCode::from(130),
        Ok(Status::Exit(code)) => ExitCode::from(code),
        Err(error) if output::is_closed(&error) => ExitCode::SUCCESS,
        Err(error) => {
            // A failure of standard error cannot be reported.
            let _ = writeln!(io::stderr(), "error: {}", visible(&format!("{error:#}")));
            ExitCode::from(2)
        }
    }
}
