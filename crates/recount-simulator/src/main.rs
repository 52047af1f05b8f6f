//! Runs simulations of the log.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use recount_log::Durability;
use recount_simulator::chaos;
use recount_simulator::world::{Place, Simulation, Tally};

/// Simulations of the log, and crash tests with real processes.
#[derive(Debug, Parser)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run simulations of consecutive seeds
    Simulate {
        /// The first seed
        #[arg(long, default_value_t = 0)]
        seed: u64,
        /// Number of seeds
        #[arg(long, default_value_t = 1)]
        seeds: u64,
        /// Steps per simulation
        #[arg(long, default_value_t = 200)]
        steps: usize,
        /// Use a SQLite database instead of memory
        #[arg(long)]
        sqlite: bool,
        /// Print every request and response on standard error
        #[arg(long)]
        tell: bool,
    },
    /// Kill a writing process repeatedly, and verify the log each time
    Chaos {
        /// Number of kills
        #[arg(long, default_value_t = 200)]
        rounds: usize,
        /// Seed of the random times
        #[arg(long, default_value_t = 0)]
        seed: u64,
    },
    /// Write until killed, and print acknowledgements; started by `chaos`
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
        // Keep the data for inspection.
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
