//! The workers of `--cluster`, and the secret.

use std::fs;
use std::path::Path;

use timeloom_bag::place::is_address;
use timeloom_query::{Cluster, Secret, WorkerAddress};

use super::Arguments;
use super::answer::explained;
use crate::environment::{TIMELOOM_SECRET, is_set, text};
use crate::failure::Failure;

/// The workers of a query, whose bags they can open.
pub(super) fn cluster(arguments: &Arguments) -> anyhow::Result<Cluster> {
    for bag in &arguments.bags {
        if !is_address(Path::new(bag)) {
            let text = format!("{bag} is a path of this machine, which workers cannot open");
            let hint = "put bags where all machines reach them, as `timeloom upload` does, and name their addresses: s3://…";
            return Err(Failure::usage(text).hint(hint).into());
        }
    }
    let workers = arguments.cluster.iter().map(|worker| worker.parse());
    let workers: Result<Vec<WorkerAddress>, _> = workers.collect();
    let workers = workers.map_err(explained)?;
    let secret = secret(arguments.secret_file.as_deref())?;
    Ok(Cluster::new(workers, secret))
}

/// The secret: from a file, else from the environment; never from the command line, which all users can read.
pub(crate) fn secret(file: Option<&Path>) -> anyhow::Result<Option<Secret>> {
    let text = match file {
        Some(file) => fs::read_to_string(file).map_err(|error| {
            let text = format!("cannot read the secret {}: {error}", file.display());
            Failure::new(text)
                .hint("`openssl rand -hex 32 > secret` makes one; all machines need the same")
        })?,
        None if is_set(TIMELOOM_SECRET) => text(TIMELOOM_SECRET),
        None => return Ok(None),
    };
    Secret::new(&text).map(Some).map_err(explained)
}
