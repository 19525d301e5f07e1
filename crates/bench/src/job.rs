//! `timeloom-bench job`: our side of one comparison, in its own process.

mod bags;
mod cost;
mod pace;
mod subscribe;

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde_json::json;

use crate::output::{self, Format, Outcome};

const EXAMPLES: &str = "\
EXAMPLES
  timeloom-bench job write-mcap - /tmp/bag 1000 100        one side of a comparison";

/// Run one job and print its cost; `timeloom-bench` calls this
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The job
    #[arg(value_enum)]
    name: Name,
    /// Input
    #[arg(value_name = "INPUT")]
    input: PathBuf,
    /// Output
    #[arg(value_name = "OUTPUT")]
    output: PathBuf,
    /// Number of messages or repetitions
    #[arg(value_name = "COUNT")]
    count: u64,
    /// Size of a message
    #[arg(value_name = "BYTES")]
    size: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Name {
    /// Create the bag that the other jobs read
    Prepare,
    WriteRaw,
    WriteMcap,
    WriteSqlite3,
    Read,
    Info,
    Slice,
    Decode,
    Convert,
    Subscribe,
    Pace,
}

/// The result of a job.
struct Done {
    /// Seconds per item: CPU time or lateness.
    value: f64,
    /// The result on which all implementations must agree.
    answer: u64,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let Arguments {
        input,
        output,
        count,
        size,
        ..
    } = arguments;
    let done = match arguments.name {
        Name::Prepare => bags::prepare(output, *count, *size)?,
        Name::WriteRaw => bags::write_raw(output, *count, *size)?,
        Name::WriteMcap => bags::write(output, *count, *size, "mcap")?,
        Name::WriteSqlite3 => bags::write(output, *count, *size, "sqlite3")?,
        Name::Read => bags::read(input)?,
        Name::Info => bags::info(input, *count)?,
        Name::Slice => bags::slice(input, *count)?,
        Name::Decode => bags::decode(input)?,
        Name::Convert => bags::convert(input, output)?,
        Name::Subscribe => subscribe::run(*count)?,
        Name::Pace => pace::run(*count),
    };
    let json = || json!({"value": done.value, "answer": done.answer});
    output::result(Format::Json, String::new, json)?;
    Ok(Outcome::Done)
}
