//! `timeloom align`: values of topics at the times of another topic.

#[cfg(feature = "query")]
mod table;

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::convert::writer_settings::duration;
use crate::context::Context;
use crate::outcome::Outcome;
use crate::table_arguments::TableArguments;
use crate::time_range::TimeRangeArguments;

const EXAMPLES: &str = "\
EXAMPLES
  timeloom align my_bag --to /camera/image_raw --topics /imu/data /odom -o aligned.parquet
  timeloom align my_bag --to /camera/image_raw --topics /imu/data:linear_acceleration,header.stamp --tolerance 20ms
  timeloom align my_bag --to /scan --topics /odom:pose.pose --method interpolate --by header --format csv
  timeloom align my_bag --to /camera/image_raw --topics /scan --by sync -o aligned.parquet

Each row is a message of the topic of --to. A topic is a column with its time, its distance in time from the row, and its
fields; it is null where no message is near enough, and the count of those rows is printed.";

/// Put the values of topics at the times of another topic into one table
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The bags, read as one
    #[arg(value_name = "BAG", required = true)]
    bags: Vec<PathBuf>,
    /// The topic whose messages are the rows
    #[arg(long, value_name = "TOPIC")]
    to: String,
    /// The topics whose values are wanted, with the fields of each; all fields unless given
    #[arg(long, value_name = "TOPIC[:FIELD,…]", num_args = 1.., required = true)]
    topics: Vec<String>,
    /// Which value belongs to a row
    #[arg(long, value_enum, default_value_t, value_name = "METHOD")]
    method: AlignMethod,
    /// The largest distance in time between a value and its row: seconds, or 20ms [default: any]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    tolerance: Option<i64>,
    /// Which time of the messages counts
    #[arg(long, value_enum, default_value_t, value_name = "TIME")]
    by: By,
    #[command(flatten)]
    table: TableArguments,
    #[command(flatten)]
    range: TimeRangeArguments,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum AlignMethod {
    /// The message that is nearest in time, before or after
    #[default]
    Nearest,
    /// The last message that is not later
    Previous,
    /// Floating point numbers between the messages before and after, the rest of the nearer one
    Interpolate,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum By {
    /// When it was received
    #[default]
    Log,
    /// When it was published
    Publish,
    /// The time that it carries itself: header.stamp
    Header,
    /// header.stamp as the time of the sensor's own clock, corrected as by `sync retime`
    Sync,
}

#[cfg(feature = "query")]
pub(crate) fn run(arguments: &Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    table::run(arguments, context)
}

/// Arrow comes with `DataFusion`, which is most of a build.
#[cfg(not(feature = "query"))]
pub(crate) fn run(_arguments: &Arguments, _context: &mut Context) -> anyhow::Result<Outcome> {
    Err(crate::table_arguments::not_built_in("tables").into())
}
