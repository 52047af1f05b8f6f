//! Runs simulations of the log.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use recount_log::Durability;
use recount_simulator::chaos;
use recount_simulator::world::{Place, Simulation, Tally};

/// Simulations of the log, and processes that are killed.
#[derive(Debug, Parser)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run simulations, from a seed on
    Simulate {
        /// The first seed
        #[arg(long, default_value_t = 0)]
        seed: u64,
        /// How many seeds
        #[arg(long, default_value_t = 1)]
        seeds: u64,
        /// How many steps each
        #[arg(long, default_value_t = 200)]
        steps: usize,
        /// Over a SQLite database, and not in memory
        #[arg(long)]
        sqlite: bool,
        /// Tell of every request and its answer, on standard error
        #[arg(long)]
        tell: bool,
    },
    /// Kill a writing process again and again, and look at what is left
    Chaos {
        /// How many times
        #[arg(long, default_value_t = 200)]
        rounds: usize,
        /// What the moments follow from
        #[arg(long, default_value_t = 0)]
        seed: u64,
    },
    /// Write until killed, and print what was acknowledged; `chaos` starts this
    #[command(hide = true)]
    Load {
        #[arg(long)]
        data: PathBuf,
        #[arg(long)]
        round: usize,
        #[arg(long)]
        durability: Durability,
    },
}

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Simulate { seed, seeds, steps, sqlite, tell } => {
            let place = if sqlite { Place::Sqlite } else { Place::Memory };
            simulations(seed, seeds, steps, place, tell)
        }
        Command::Chaos { rounds, seed } => kill(rounds, seed),
        Command::Load { data, round, durability } => {
            chaos::load(&data, round, durability).map_err(|error| error.to_string())
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            let _ = writeln!(io::stderr(), "{problem}");
            ExitCode::FAILURE
        }
    }
}

fn kill(rounds: usize, seed: u64) -> Result<(), String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
    let tally = chaos::kill_repeatedly(&program, directory.path(), rounds, seed, |round, tally| {
        if round % 20 == 19 {
            let _ = writeln!(io::stdout(), "{tally:?}");
        }
    });
    let tally = tally.map_err(|broken| {
        // What is left is worth looking at.
        format!("{broken}\nthe log is in {}", directory.keep().display())
    })?;
    let _ = writeln!(
        io::stdout(),
        "killed {} times: {} acknowledged entries, none lost, none doubled ({} more were written and not acknowledged)",
        tally.killed,
        tally.acknowledged,
        tally.unacknowledged
    );
    Ok(())
}

fn simulations(first: u64, seeds: u64, steps: usize, place: Place, is_telling: bool) -> Result<(), String> {
    let mut tally = Tally::default();
    for seed in first..first.saturating_add(seeds) {
        let simulation = Simulation { seed, steps, place };
        let mut tell = |line: &str| {
            let _ = writeln!(io::stderr(), "{line}");
        };
        let result = simulation.run_telling(is_telling.then_some(&mut tell));
        tally += result.map_err(|broken| {
            format!("the seed {seed} breaks the contract\n{broken}\n\nto repeat it:\n    {simulation}")
        })?;
    }
    let _ = writeln!(io::stdout(), "{} steps, {tally:?}", seeds.saturating_mul(steps as u64));
    Ok(())
}
