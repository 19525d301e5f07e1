//! `timeloom-bench job`: our side of one comparison, in a process of its own.

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

/// Do one job and print what it cost; `timeloom-bench` calls this
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// What to do
    #[arg(value_enum)]
    name: Name,
    /// What is read
    #[arg(value_name = "INPUT")]
    input: PathBuf,
    /// What is written
    #[arg(value_name = "OUTPUT")]
    output: PathBuf,
    /// How many messages, or how often
    #[arg(value_name = "COUNT")]
    count: u64,
    /// How large each is
    #[arg(value_name = "BYTES")]
    size: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Name {
    /// Make the bag that the others read
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

/// What a job came to.
struct Done {
    /// Seconds for each item: of CPU, or late.
    value: f64,
    /// What every implementation must agree on.
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
