//! The binary `timeloom-bench`: loads, checks of recordings, and comparisons with other tools.

mod direct;
mod job;
mod ledger;
mod load;
mod network;
mod output;
mod payload;
mod producers;
mod profile;
mod profile_document;
mod verify;
mod versus;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::output::{Outcome, Usage};

const EXAMPLES: &str = "\
EXAMPLES
  timeloom-bench                                           every job with Timeloom and with other tools, and the ratio
  timeloom-bench --only write --format json
  timeloom-bench load mixed_110Mbs --scale 0.1 --format json > ledger.json
  timeloom-bench verify my_bag --ledger ledger.json        published = recorded + lost, for each topic

Other tools are used when they are installed: rosbags, mcap and mcap-ros2-support in the Python of TIMELOOM_PYTHON
(default: .venv/bin/python); the mcap crate and tokio in the program of TIMELOOM_BENCH_PEER. raw write() and a bare DDS
subscriber are built in. The job `record` runs the `timeloom` beside this binary.

EXIT CODES
  0 done   1 failed   2 wrong usage   3 messages are missing";

/// Publish the loads of rosbag2's benchmarks, verify recordings byte by byte, compare with other tools
#[derive(Debug, Parser)]
#[command(name = "timeloom-bench", version, after_help = EXAMPLES, max_term_width = 110)]
#[command(args_conflicts_with_subcommands = true)]
struct Cli {
    #[command(subcommand)]
    verb: Option<Verb>,
    #[command(flatten)]
    versus: versus::VersusArguments,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Load(load::Arguments),
    Verify(verify::Arguments),
    #[command(hide = true)]
    Job(job::Arguments),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let result = match cli.verb {
        None => versus::run(&cli.versus),
        Some(Verb::Load(arguments)) => load::run(&arguments),
        Some(Verb::Verify(arguments)) => verify::run(&arguments),
        Some(Verb::Job(arguments)) => job::run(&arguments),
    };
    match result {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Unaccounted) => ExitCode::FAILURE,
        Ok(Outcome::Missing) => ExitCode::from(3),
        Err(error) => {
            output::note(&format!("error: {error:#}"));
            ExitCode::from(if error.is::<Usage>() { 2 } else { 1 })
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_consistent() {
        super::Cli::command().debug_assert();
    }
}
