//! `timeloom worker`: reads bags and computes for `timeloom query --cluster`.

#[cfg(feature = "cluster")]
mod serve;

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

use super::convert::writer_settings::size;
use crate::context::Context;
use crate::outcome::Outcome;

const EXAMPLES: &str = "\
EXAMPLES
  timeloom worker                                       for queries of this machine, on port 7420
  timeloom worker --listen 10.0.0.5:7420 --secret-file /etc/timeloom/secret
  timeloom worker --listen 0.0.0.0:7420 --memory 8G     with the secret in TIMELOOM_SECRET

  timeloom query 'SELECT avg(linear_acceleration.z) FROM \"/imu\"' s3://robots/run_7 --cluster 10.0.0.5,10.0.0.6";

/// Read bags and compute for `timeloom query --cluster`, until Ctrl-C
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Where to listen; anything but this machine needs a secret
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7420")]
    listen: SocketAddr,
    /// A file with the secret that queries must have, too; else the variable `TIMELOOM_SECRET`
    #[arg(long, value_name = "FILE")]
    secret_file: Option<PathBuf>,
    /// Memory for sorts, joins and groups of all queries, such as 512M or 4G; what does not fit goes to temporary files
    #[arg(long, value_name = "SIZE", default_value = "1G", value_parser = size)]
    memory: u64,
    /// Threads that read and compute [default: one for each processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
}

#[cfg(feature = "cluster")]
pub(crate) fn run(arguments: &Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    serve::run(arguments, context)
}

/// The engine behind it is not in every build.
#[cfg(not(feature = "cluster"))]
pub(crate) fn run(_arguments: &Arguments, _context: &mut Context) -> anyhow::Result<Outcome> {
    Err(super::query::no_cluster().into())
}
