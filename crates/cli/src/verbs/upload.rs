//! `timeloom upload`: bags to object storage.

#[cfg(feature = "remote")]
pub(crate) mod beside;
#[cfg(feature = "remote")]
mod follow;
#[cfg(feature = "remote")]
mod once;
#[cfg(feature = "remote")]
mod outcome;
#[cfg(feature = "remote")]
mod sources;

use std::path::PathBuf;

use clap::Args;

use super::convert::writer_settings::size;
use super::info::Format;
use crate::context::Context;
use crate::outcome::Outcome;

const EXAMPLES: &str = "\
EXAMPLES
  timeloom upload run_7 --to s3://robots/r2/            as s3://robots/r2/run_7; again after a cut: goes on
  timeloom upload /data/bags --to s3://robots/r2/ --delete
  timeloom upload /data/bags --to gs://robots/r2 --follow --limit 5MB
  timeloom upload /data/bags --to s3://robots/r2/ --status

EXIT CODES
  0 everything is there   1 something is not, or failed   2 wrong usage";

/// Upload bags to object storage: resumed after a cut, compared by hash, deleted here only if asked
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(crate) struct Arguments {
    /// Bags, or directories of bags
    #[arg(value_name = "BAG", required = true)]
    bags: Vec<PathBuf>,
    #[arg(
        long,
        value_name = "ADDRESS",
        help = "Where to: s3://bucket/folder or gs://bucket/folder; each bag becomes a folder below it"
    )]
    to: String,
    /// Delete each file here once it has arrived and was compared, and the directory of a bag once all of it has
    #[arg(long)]
    delete: bool,
    /// Go on: upload files as recorders close them, and new bags in the directories, until Ctrl-C
    #[arg(long)]
    follow: bool,
    /// Bytes a second at most, such as 5MB
    #[arg(long, value_name = "SIZE", value_parser = size)]
    limit: Option<u64>,
    /// Replace what is there under the same name with another content
    #[arg(long)]
    overwrite: bool,
    /// Only print what is there and what is not
    #[arg(long, conflicts_with_all = ["delete", "follow", "limit", "overwrite"])]
    status: bool,
    /// Form of the result
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
}

/// The flags of `record` that upload what it closes.
#[derive(Debug, Args)]
#[command(next_help_heading = "Upload")]
pub(crate) struct RecordArguments {
    #[arg(
        long,
        value_name = "ADDRESS",
        help = "Upload each closed file: s3://bucket/folder or gs://bucket/folder"
    )]
    pub(crate) upload: Option<String>,
    /// Bytes a second at most, such as 5MB
    #[arg(long, value_name = "SIZE", value_parser = size, requires = "upload")]
    pub(crate) upload_limit: Option<u64>,
    /// Delete each file here once it has arrived and was compared
    #[arg(long, requires = "upload")]
    pub(crate) delete_uploaded: bool,
}

#[cfg(feature = "remote")]
pub(crate) fn run(arguments: &Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    use timeloom_remote::{RemoteOptions, UploadOptions, UploadTarget};
    let target = UploadTarget::open(&arguments.to, &RemoteOptions::default());
    let target = target.map_err(timeloom_bag::Error::from)?;
    let options = UploadOptions {
        delete: arguments.delete,
        overwrite: arguments.overwrite,
        bytes_per_second: arguments.limit,
    };
    if arguments.follow {
        return follow::run(arguments, target, options, context);
    }
    once::run(arguments, &target, &options, context)
}

#[cfg(not(feature = "remote"))]
pub(crate) fn run(_arguments: &Arguments, _context: &mut Context) -> anyhow::Result<Outcome> {
    Err(not_built().into())
}

/// Object storage is a minute of build, so that it is not in every one.
#[cfg(not(feature = "remote"))]
pub(crate) fn not_built() -> crate::failure::Failure {
    let text = "this timeloom was built without object storage";
    let hint = "build it with `cargo install --locked --path crates/cli --features remote`";
    crate::failure::Failure::new(text).hint(hint)
}
