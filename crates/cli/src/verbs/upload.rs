//! `timeloom upload`: bags to object storage.

#[cfg(feature = "remote")]
pub(crate) mod beside;
#[cfg(all(feature = "remote", feature = "query"))]
mod catalog;
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
  timeloom upload /data/bags --to s3://robots/r2/ --index   with a catalogue for queries

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
    #[arg(long, conflicts_with_all = ["delete", "follow", "limit", "overwrite", "index", "no_index"])]
    status: bool,
    /// Enter the bags into the catalogue at the address, and create it if there is none; one that is there is kept up to
    /// date in any case
    #[arg(long)]
    index: bool,
    /// Leave the catalogue at the address as it is
    #[arg(long, conflicts_with = "index")]
    no_index: bool,
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
    /// Enter uploaded bags into the catalogue at the address, and create it if there is none; one that is there is kept up
    /// to date in any case
    #[arg(long, requires = "upload")]
    pub(crate) index_uploaded: bool,
    /// Leave the catalogue at the address as it is
    #[arg(long, requires = "upload", conflicts_with = "index_uploaded")]
    pub(crate) no_index_uploaded: bool,
}

/// When uploaded bags are entered into the catalogue at the target.
#[cfg(feature = "remote")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CatalogPolicy {
    /// Where there is one.
    IfThere,
    /// Always; it is created where there is none.
    Always,
    Never,
}

#[cfg(feature = "remote")]
impl CatalogPolicy {
    fn new(always: bool, never: bool) -> Self {
        match (always, never) {
            (_, true) => Self::Never,
            (true, false) => Self::Always,
            (false, false) => Self::IfThere,
        }
    }

    /// What follows the upload of a bag.
    #[cfg(feature = "query")]
    fn after_upload(self, target: &str) -> Option<timeloom_remote::AfterUpload> {
        catalog::TargetCatalog::new(target, self).after_upload()
    }

    /// Without the feature `query` there are no tables; it is only said if one was asked for.
    #[cfg(not(feature = "query"))]
    fn after_upload(self, _target: &str) -> Option<timeloom_remote::AfterUpload> {
        (self == Self::Always).then(|| {
            let text = "this timeloom was built without catalogues (feature query)";
            let refuse = |_uri: &str| Err(text.to_owned());
            std::sync::Arc::new(refuse) as timeloom_remote::AfterUpload
        })
    }
}

/// A bag that is there, but not in the catalogue.
#[cfg(feature = "remote")]
fn warn_uncatalogued(uri: &str, reason: &str, target: &str, context: &mut Context) {
    let text = format!("{uri} is not in the catalogue: {reason}");
    context.printer.warning(&text);
    let hint = format!("the bag is uploaded; `timeloom index {target}` enters it");
    context.printer.hint(&hint);
}

#[cfg(feature = "remote")]
pub(crate) fn run(arguments: &Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    use timeloom_remote::{RemoteOptions, UploadOptions, UploadTarget};
    let target = UploadTarget::open(&arguments.to, &RemoteOptions::default());
    let target = target.map_err(timeloom_bag::Error::from)?;
    let policy = CatalogPolicy::new(arguments.index, arguments.no_index);
    let after = policy.after_upload(target.uri());
    let options = UploadOptions {
        delete: arguments.delete,
        overwrite: arguments.overwrite,
        bytes_per_second: arguments.limit,
    };
    if arguments.follow {
        return follow::run(arguments, target, options, after, context);
    }
    once::run(arguments, &target, &options, after.as_ref(), context)
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
