//! One run: player, recorder and process, from the start to the end.

mod test_run;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use timeloom_bag::{BagReader, StorageReader as _};
use timeloom_msg::TypeResolver;
use timeloom_time::CancelToken;

use crate::domain::Domain;
use crate::failure::{Failure, FailureKind};
use crate::plan::RunPlan;
use crate::process::{Process, ProcessOptions};
use crate::runner::Connect;
use crate::{Error, Result};
use test_run::TestRun;

/// Context of a run.
pub(crate) struct RunContext<'a> {
    pub(crate) plan: &'a RunPlan,
    /// Where its bag and its logs are written.
    pub(crate) directory: PathBuf,
    pub(crate) connect: &'a Connect,
    pub(crate) types: &'a TypeResolver,
    pub(crate) cancel: &'a CancelToken,
    /// The distribution in the metadata of the bag.
    pub(crate) ros_distro: String,
}

/// Result of a run.
#[derive(Debug, Default)]
pub(crate) struct Played {
    /// Input messages.
    pub(crate) inputs: u64,
    /// The recorded bag, if there is one.
    pub(crate) bag: Option<PathBuf>,
    /// Why the run did not reach its end.
    pub(crate) failure: Option<Failure>,
    /// Remarks that change no verdict.
    pub(crate) notes: Vec<String>,
}

/// Plays the bag to the command and records its outputs.
pub(crate) fn play(context: &RunContext<'_>, started: impl FnOnce(u32)) -> Played {
    match try_play(context, started) {
        Ok(played) => played,
        Err(error) => Played {
            failure: Some(Failure::new(FailureKind::Setup, error.to_string())),
            ..Played::default()
        },
    }
}

fn try_play(context: &RunContext<'_>, started: impl FnOnce(u32)) -> Result<Played> {
    let plan = context.plan;
    std::fs::create_dir_all(&context.directory)
        .map_err(Error::file("create", &context.directory))?;
    let reader = open(&plan.bags)?;
    let Some(domain) = Domain::reserve() else {
        return Ok(setup("all ROS domains from 1 to 101 are in use"));
    };
    started(domain.number());
    let environment = environment(plan, &domain);
    let get = |name: &str| {
        let own = || std::env::var(name).ok();
        environment.get(name).cloned().or_else(own)
    };
    let participant = match (context.connect)(&get) {
        Ok(participant) => participant,
        Err(reason) => return Ok(setup(&reason)),
    };
    let session = match TestRun::open(context, &participant, reader) {
        Ok(session) => session,
        Err(error) => return Ok(setup(&error.to_string())),
    };
    let process = Process::start(&ProcessOptions {
        command: plan.command.clone(),
        directory: plan.directory.clone(),
        environment,
        logs: context.directory.clone(),
    });
    match process {
        Ok(process) => Ok(session.run(process)),
        Err(error) => {
            session.close();
            Err(error)
        }
    }
}

fn setup(reason: &str) -> Played {
    Played {
        failure: Some(Failure::new(FailureKind::Setup, reason)),
        ..Played::default()
    }
}

/// Opens the bags of a run.
pub(crate) fn open(bags: &[PathBuf]) -> Result<BagReader> {
    let first = bags.first().map_or(Path::new(""), PathBuf::as_path);
    BagReader::open_all(bags).map_err(|source| Error::Bag {
        path: first.to_path_buf(),
        source,
    })
}

/// The variables of the process: its domain, on this host only unless the plan or the environment say otherwise.
fn environment(plan: &RunPlan, domain: &Domain) -> BTreeMap<String, String> {
    const RANGE: &str = "ROS_AUTOMATIC_DISCOVERY_RANGE";
    let mut environment = plan.environment.clone();
    if std::env::var_os(RANGE).is_none() && std::env::var_os("ROS_LOCALHOST_ONLY").is_none() {
        environment
            .entry(RANGE.to_owned())
            .or_insert_with(|| "LOCALHOST".to_owned());
    }
    environment.insert("ROS_DOMAIN_ID".to_owned(), domain.number().to_string());
    environment
}

/// Number of messages of each of these topics in a bag.
pub(crate) fn counts(bag: &BagReader, topics: &[String]) -> BTreeMap<String, u64> {
    let info = bag.info();
    let all = info.topics.iter().zip(&info.message_counts);
    let mut counts: BTreeMap<String, u64> = topics.iter().map(|name| (name.clone(), 0)).collect();
    for (topic, count) in all {
        if let Some(sum) = counts.get_mut(&topic.name) {
            *sum += count;
        }
    }
    counts
}

/// The participant of a run.
pub(crate) type SharedParticipant = Arc<dyn timeloom_wire::Participant>;
