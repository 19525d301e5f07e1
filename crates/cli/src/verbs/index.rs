//! `timeloom index`: the catalogue of many bags.

#[cfg(feature = "query")]
mod list;
#[cfg(feature = "query")]
mod update;

use std::path::PathBuf;

use clap::Args;

use super::info::Format;
use crate::context::Context;
use crate::outcome::Outcome;

const EXAMPLES: &str = "\
EXAMPLES
  timeloom index /data/bags                   writes /data/bags/timeloom_catalog.parquet, or brings it up to date
  timeloom index s3://robots/                 only bags that are new or changed are opened
  timeloom index s3://robots/ --list          the bags in the catalogue, and what was lost
  timeloom query 'SELECT bag, topic, lost FROM losses WHERE lost > 0' s3://robots/

EXIT CODES
  0 every bag is in the catalogue   1 failed   2 wrong usage   3 a bag is damaged or could not be read";

/// Keep a catalogue of many bags, so that queries open only those that can match
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[arg(
        value_name = "FOLDER",
        help = "The directory that holds the bags, or an address such as s3://bucket/folder"
    )]
    folder: PathBuf,
    /// Print the bags instead, from the catalogue; nothing is opened or written
    #[arg(long)]
    list: bool,
    /// Also print the names of bags that are new, changed or gone
    #[arg(short, long, conflicts_with = "list")]
    verbose: bool,
    /// Bags that are opened at the same time
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: u16,
    /// Form of the output
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
}

#[cfg(feature = "query")]
pub(crate) fn run(arguments: &Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    if arguments.list {
        return list::run(arguments, context);
    }
    update::run(arguments, context)
}

/// The catalogue is a Parquet table, as those of `query`.
#[cfg(not(feature = "query"))]
pub(crate) fn run(_arguments: &Arguments, _context: &mut Context) -> anyhow::Result<Outcome> {
    Err(crate::table_arguments::not_built_in("catalogues").into())
}
