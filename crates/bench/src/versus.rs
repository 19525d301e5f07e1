//! `timeloom-bench` without a verb: the same jobs by Timeloom and by other tools.

mod jobs;
mod live;
mod peers;
mod row;

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;

use self::jobs::{Job, Sizes};
use self::peers::{Measured, Peers};
use self::row::Row;
use crate::output::{self, Format, Outcome, Usage, note, positive};

/// Options of the comparison.
#[derive(Debug, Args)]
pub(crate) struct VersusArguments {
    /// Only jobs whose name begins with this
    #[arg(long, value_name = "NAME")]
    only: Option<String>,
    /// Runs per side and job; the median counts
    #[arg(long, value_name = "COUNT", default_value = "5", value_parser = clap::value_parser!(u16).range(1..=101))]
    rounds: u16,
    /// Multiply the number of messages
    #[arg(long, value_name = "FACTOR", default_value = "1", value_parser = positive)]
    scale: f64,
    /// Directory for temporary bags [default: /dev/shm, else the directory for temporary files]
    #[arg(long, value_name = "DIRECTORY")]
    work: Option<PathBuf>,
    /// Output format
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
}

pub(crate) fn run(arguments: &VersusArguments) -> anyhow::Result<Outcome> {
    let work = Work::new(arguments.work.as_deref())?;
    let peers = Peers::find(&work.0)?;
    let sizes = Sizes::new(arguments.scale);
    let wanted = |job: &Job| {
        let only = arguments.only.as_deref().unwrap_or("");
        job.name.starts_with(only)
    };
    let jobs: Vec<Job> = jobs::all().into_iter().filter(wanted).collect();
    if jobs.is_empty() {
        let names: Vec<&str> = jobs::all().iter().map(|job| job.name).collect();
        let text = format!("no job has that name; the jobs are {}", names.join(", "));
        return Err(Usage(text).into());
    }
    let mut rows = Vec::new();
    for job in &jobs {
        note(&format!("{} …", job.name));
        rows.extend(compare(job, &peers, sizes, arguments.rounds, &work.0)?);
    }
    output::result(
        arguments.format,
        || row::table(&rows),
        || row::as_json(&rows),
    )?;
    for hint in peers.hints() {
        note(&hint);
    }
    Ok(Outcome::Done)
}

/// Runs the sides in turns, so that a busy machine affects all alike.
fn compare(
    job: &Job,
    peers: &Peers,
    sizes: Sizes,
    rounds: u16,
    work: &Path,
) -> anyhow::Result<Vec<Row>> {
    job.prepare(peers, sizes, work)?;
    let mut values: Vec<Vec<f64>> = job.sides.iter().map(|_| Vec::new()).collect();
    let mut missing: Vec<Option<String>> = job.sides.iter().map(|_| None).collect();
    let mut agreed = None;
    for _ in 0..rounds {
        for (index, side) in job.sides.iter().enumerate() {
            if missing.get(index).is_some_and(Option::is_some) {
                continue;
            }
            match job.run(peers, *side, sizes, work)? {
                Measured::Done { value, answer } => {
                    if *agreed.get_or_insert(answer) != answer {
                        anyhow::bail!(
                            "{}: {} found {answer}, where others found {agreed:?}",
                            job.name,
                            side.name()
                        );
                    }
                    if let Some(values) = values.get_mut(index) {
                        values.push(value);
                    }
                }
                Measured::Missing(why) => {
                    if let Some(place) = missing.get_mut(index) {
                        *place = Some(why);
                    }
                }
            }
        }
    }
    Ok(row::rows(job, &values, &missing))
}

/// A directory that is deleted on drop.
struct Work(PathBuf);

impl Work {
    fn new(given: Option<&Path>) -> anyhow::Result<Self> {
        let shared = Path::new("/dev/shm");
        let root = match given {
            Some(given) => given.to_owned(),
            None if shared.is_dir() => shared.to_owned(),
            None => std::env::temp_dir(),
        };
        let path = root.join(format!("timeloom_bench_{}", std::process::id()));
        std::fs::create_dir_all(&path)
            .with_context(|| format!("cannot create {}", path.display()))?;
        Ok(Self(path))
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        // The directory for temporary files is cleaned by the system.
        let _deleted = std::fs::remove_dir_all(&self.0);
    }
}
