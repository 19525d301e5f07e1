//! `timeloom query`: SQL over many bags.

#[cfg(feature = "query")]
pub(crate) mod answer;
#[cfg(feature = "query")]
mod bag_list;
#[cfg(feature = "cluster")]
pub(crate) mod cluster;

use std::path::PathBuf;

use clap::Args;

use super::convert::writer_settings::size;
use crate::context::Context;
use crate::outcome::Outcome;
use crate::table_arguments::TableArguments;

const EXAMPLES: &str = "\
EXAMPLES
  timeloom query 'SELECT topic, messages, hz FROM topics' my_bag
  timeloom query 'SELECT avg(linear_acceleration.z) FROM \"/imu\"' monday tuesday
  timeloom query 'SELECT bag, max(size) FROM messages GROUP BY bag' bags/* --format csv
  timeloom query 'SELECT * FROM \"/odom\" WHERE log_time < $$2026-11-15T10:00:00Z$$' my_bag -o odom.parquet
  timeloom query 'SELECT topic, lost FROM losses WHERE lost > 0 ORDER BY lost DESC' my_bag
  timeloom query 'SELECT bag, count(*) FROM \"/imu\" GROUP BY bag' s3://robots/
  timeloom query 'SELECT bag, max(size) FROM messages GROUP BY bag' s3://robots/run_7 s3://robots/run_8 --cluster 10.0.0.5,10.0.0.6
  timeloom query 'SHOW TABLES' my_bag
  timeloom query 'DESCRIBE \"/imu\"' my_bag

TABLES
  bags, topics, messages, losses, loss_times, host_clock, lineage, latency, and one for each topic: a topic's name stands in double quotes";

/// Query many bags with SQL: topics are tables, fields are columns
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The query: a SELECT, or SHOW TABLES, DESCRIBE or EXPLAIN
    #[arg(value_name = "SQL")]
    sql: String,
    /// The bags, or folders of bags; of those in the catalogue of a folder (`timeloom index`), only bags that can match are
    /// opened
    #[arg(value_name = "BAG", required = true)]
    bags: Vec<String>,
    #[command(flatten)]
    table: TableArguments,
    /// Memory for sorts, joins and groups, such as 512M or 4G; what does not fit goes to temporary files
    #[arg(long, value_name = "SIZE", default_value = "1G", value_parser = size)]
    memory: u64,
    /// Workers that read the bags and compute: host:port, separated by commas; they run `timeloom worker`
    #[arg(long, value_name = "WORKERS", value_delimiter = ',')]
    cluster: Vec<String>,
    /// A file with the secret of the workers; else the variable `TIMELOOM_SECRET`
    #[arg(long, value_name = "FILE", requires = "cluster")]
    secret_file: Option<PathBuf>,
}

#[cfg(feature = "query")]
pub(crate) fn run(arguments: &Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    answer::run(arguments, context)
}

/// `DataFusion` is most of a build, so that it is not in every one.
#[cfg(not(feature = "query"))]
pub(crate) fn run(_arguments: &Arguments, _context: &mut Context) -> anyhow::Result<Outcome> {
    Err(crate::table_arguments::not_built_in("SQL").into())
}

/// What a binary says that was built without clusters.
#[cfg(not(feature = "cluster"))]
pub(crate) fn no_cluster() -> crate::failure::Failure {
    crate::failure::Failure::new("this timeloom was built without clusters").hint(
        "released binaries have them; build this one with `cargo install --locked --path crates/cli --features cluster`",
    )
}
