use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use timeloom_bag::StorageReader as _;
use timeloom_msg::{Distro, TypeResolver};
use timeloom_text::nearest;
use timeloom_time::CancelToken;
use timeloom_time::sync::lock;
use timeloom_wire::Participant;

use crate::judge::{Judgement, judge};
use crate::plan::{RunPlan, TestPlan};
use crate::report::{Report, RunReport};
use crate::run::{Played, RunContext, open, play};
use crate::{Error, Result};

/// Joins the domain that variables of ROS name, given a function from a variable to its value.
pub type Connect = dyn Fn(&dyn Fn(&str) -> Option<String>) -> std::result::Result<Arc<dyn Participant>, String>
    + Send
    + Sync;

/// Progress of a test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    /// A run begins.
    Started {
        /// Its name.
        run: String,
        /// Its ROS domain.
        domain: u32,
    },
    /// A run has played and recorded, or failed.
    Played {
        /// Its name.
        run: String,
    },
}

/// Whether expected bags are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Update {
    /// They are compared with.
    #[default]
    Never,
    /// The first run of each expected bag that reaches its end is the new one.
    Write,
}

/// A replay test.
pub struct Replay<'a> {
    /// The plan.
    pub plan: &'a TestPlan,
    /// Where runs leave their bags and logs.
    pub output: PathBuf,
    /// Number of concurrent runs.
    pub jobs: usize,
    /// Whether expected bags are written.
    pub update: Update,
    /// Joins the domain of a run.
    pub connect: &'a Connect,
    /// Finds types that bags do not define.
    pub types: TypeResolver,
    /// Ends the test; processes are stopped as after the bag.
    pub cancel: CancelToken,
}

impl Replay<'_> {
    /// Checks that the bags exist and have the topics that the plan names.
    ///
    /// # Errors
    /// [`Error::Plan`] with the name of what is missing, [`Error::Bag`] for a bag that cannot be opened.
    pub fn check(&self) -> Result<()> {
        for run in &self.plan.runs {
            let bag = open(&run.bags)?;
            let topics = &bag.info().topics;
            let names: Vec<&str> = topics.iter().map(|topic| topic.name.as_str()).collect();
            let wanted = [&run.inputs.topics, &run.inputs.wait_for];
            for topic in wanted.into_iter().flatten().flatten() {
                if names.contains(&topic.as_str()) {
                    continue;
                }
                let reason = format!("{}: the bag has no topic {topic}", run.name);
                let error = Error::plan(&self.plan.path, reason);
                return Err(match nearest(topic, names.iter().copied()) {
                    Some(near) => error.hint(format!("did you mean {near}?")),
                    None => error,
                });
            }
            if !names.iter().any(|name| run.plays(name)) {
                let reason = format!("{}: the bag has no topic to play", run.name);
                return Err(Error::plan(&self.plan.path, reason));
            }
            self.check_expected(run)?;
        }
        Ok(())
    }

    fn check_expected(&self, run: &RunPlan) -> Result<()> {
        let Some(expected) = &run.expected else {
            return Ok(());
        };
        match self.update {
            Update::Write if expected.is_file() => {
                let reason = format!(
                    "{}: the expected bag {} is a single file, which cannot be updated",
                    run.name,
                    expected.display()
                );
                Err(Error::plan(&self.plan.path, reason))
            }
            Update::Never if !expected.exists() => {
                let reason = format!(
                    "{}: there is no expected bag {}",
                    run.name,
                    expected.display()
                );
                let error = Error::plan(&self.plan.path, reason);
                Err(error.hint("write it from a run with --update"))
            }
            _ => Ok(()),
        }
    }

    /// Executes all runs; `progress` is called from any thread. Blocks until all processes have ended.
    ///
    /// # Errors
    /// When an expected bag cannot be written.
    pub fn run(&self, progress: &(dyn Fn(Progress) + Sync)) -> Result<Report> {
        let next = AtomicUsize::new(0);
        let done: Mutex<BTreeMap<usize, Played>> = Mutex::default();
        std::thread::scope(|scope| {
            for _ in 0..self.jobs.clamp(1, self.plan.runs.len()) {
                scope.spawn(|| {
                    loop {
                        let index = next.fetch_add(1, Ordering::Relaxed);
                        let Some(run) = self.plan.runs.get(index) else {
                            return;
                        };
                        let played = self.play(run, progress);
                        let mut done = lock(&done);
                        done.insert(index, played);
                    }
                });
            }
        });
        let done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        let updated = self.update_expected(&done)?;
        let runs = self.plan.runs.iter().zip(done.into_values());
        let runs = runs
            .map(|(run, played)| self.judge(run, played))
            .collect::<Result<Vec<_>>>()?;
        Ok(Report {
            plan: self.plan.path.clone(),
            directory: self.output.clone(),
            updated,
            runs,
        })
    }

    fn directory(&self, run: &RunPlan) -> PathBuf {
        self.output.join(&run.name)
    }

    fn play(&self, run: &RunPlan, progress: &(dyn Fn(Progress) + Sync)) -> Played {
        let context = RunContext {
            plan: run,
            directory: self.directory(run),
            connect: self.connect,
            types: &self.types,
            cancel: &self.cancel,
            ros_distro: run
                .environment
                .get("ROS_DISTRO")
                .cloned()
                .or_else(|| std::env::var("ROS_DISTRO").ok())
                .unwrap_or_else(|| Distro::default().as_str().to_owned()),
        };
        let played = play(&context, |domain| {
            progress(Progress::Started {
                run: run.name.clone(),
                domain,
            });
        });
        progress(Progress::Played {
            run: run.name.clone(),
        });
        played
    }

    /// Writes the expected bags, each from the first run that can give it.
    fn update_expected(&self, done: &BTreeMap<usize, Played>) -> Result<Vec<PathBuf>> {
        let mut written = BTreeSet::new();
        if self.update == Update::Never {
            return Ok(Vec::new());
        }
        for (run, played) in self.plan.runs.iter().zip(done.values()) {
            let (Some(expected), Some(bag), None) = (&run.expected, &played.bag, &played.failure)
            else {
                continue;
            };
            if written.insert(expected.clone()) {
                replace(expected, bag)?;
            }
        }
        Ok(written.into_iter().collect())
    }

    fn judge(&self, run: &RunPlan, played: Played) -> Result<RunReport> {
        let directory = self.directory(run);
        // Outputs of a run that did not end are not compared: their differences follow from its failure.
        let judgement = match (&played.bag, &played.failure) {
            (Some(bag), None) => judge(run, bag, &self.types),
            _ => Judgement::default(),
        };
        if let Some(comparison) = &judgement.comparison {
            let path = directory.join("diff.html");
            let page = timeloom_compare::html(comparison);
            std::fs::write(&path, page).map_err(Error::file("write", &path))?;
        }
        Ok(RunReport::new(run, directory, played, judgement))
    }
}

/// Puts a copy of a bag in the place of another; a crash leaves one of the two whole.
fn replace(expected: &Path, bag: &Path) -> Result<()> {
    let beside = |suffix: &str| {
        let mut name = expected.as_os_str().to_owned();
        name.push(suffix);
        PathBuf::from(name)
    };
    let (new, old) = (beside(".new"), beside(".old"));
    for left in [&new, &old] {
        if left.exists() {
            std::fs::remove_dir_all(left).map_err(Error::file("replace", left))?;
        }
    }
    std::fs::create_dir_all(&new).map_err(Error::file("create", &new))?;
    let entries = std::fs::read_dir(bag).map_err(Error::file("read", bag))?;
    for entry in entries {
        let from = entry.map_err(Error::file("read", bag))?.path();
        let to = new.join(from.file_name().unwrap_or_default());
        std::fs::copy(&from, &to).map_err(Error::file("write", &to))?;
    }
    let existed = expected.exists();
    if existed {
        std::fs::rename(expected, &old).map_err(Error::file("replace", expected))?;
    }
    std::fs::rename(&new, expected).map_err(Error::file("write", expected))?;
    if existed {
        std::fs::remove_dir_all(&old).map_err(Error::file("replace", &old))?;
    }
    Ok(())
}
