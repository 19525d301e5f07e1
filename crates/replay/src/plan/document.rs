//! The YAML of a plan.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use timeloom_compare::{AlignBy, Alignment, Kind};
use timeloom_contract::{Contract, Span};
use timeloom_msg::name::validate_full_topic_name;
use timeloom_node::Remap;
use timeloom_node::player::sane_rate;
use timeloom_text::nearest;
use timeloom_time::Duration;

use super::{ComparePlan, Inputs, PacePlan, Plan, RunPlan, Timeouts};
use crate::{Error, Result};

/// The settings of a run, and the defaults of all runs at the top.
#[derive(Deserialize, Default, Clone)]
#[serde(deny_unknown_fields, default)]
struct Settings {
    /// Only in `runs`.
    name: Option<String>,
    /// Only in `runs`.
    repeat: Option<u32>,
    /// Only at the top.
    runs: Vec<Self>,
    /// Only at the top.
    jobs: Option<usize>,
    bag: Option<OneOrMany>,
    command: Option<OneOrMany>,
    directory: Option<PathBuf>,
    environment: BTreeMap<String, String>,
    inputs: Option<InputsEntry>,
    outputs: Option<Vec<String>>,
    wait_for_publishers: Option<bool>,
    rate: Option<f64>,
    pace: Option<Pace>,
    lockstep: Option<LockstepEntry>,
    expected: Option<PathBuf>,
    compare: Option<CompareEntry>,
    contract: Option<PathBuf>,
    budgets: Option<PathBuf>,
    max_lost: Option<u64>,
    timeouts: Option<TimeoutsEntry>,
}

#[derive(Deserialize, Clone)]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

#[derive(Deserialize, Default, Clone)]
#[serde(deny_unknown_fields, default)]
struct InputsEntry {
    topics: Option<Vec<String>>,
    remaps: BTreeMap<String, String>,
    wait_for: Option<Vec<String>>,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "snake_case")]
enum Pace {
    Lockstep,
    WaitAcked,
}

#[derive(Deserialize, Default, Clone)]
#[serde(deny_unknown_fields, default)]
struct LockstepEntry {
    topic: Option<String>,
    window: Option<Span>,
}

#[derive(Deserialize, Default, Clone)]
#[serde(deny_unknown_fields, default)]
struct CompareEntry {
    align: AlignBy,
    within: Option<Span>,
    tolerances: Vec<String>,
    ignore: Vec<String>,
    rules: Option<PathBuf>,
    allow: Vec<String>,
    /// In per cent.
    rate_tolerance: Option<f64>,
}

#[derive(Deserialize, Default, Clone)]
#[serde(deny_unknown_fields, default)]
struct TimeoutsEntry {
    start: Option<Span>,
    idle: Option<Span>,
    finish: Option<Span>,
    stop: Option<Span>,
}

const DEFAULT_WINDOW: Duration = Duration::from_millis(100);

pub(super) fn parse(path: &Path, text: &str) -> Result<Plan> {
    let options = serde_saphyr::options! { with_snippet: false };
    let top: Settings = serde_saphyr::from_str_with_options(text, options)
        .map_err(|error| unreadable(path, &error.to_string()))?;
    let wrong = |reason: &str| Error::plan(path, reason);
    if top.name.is_some() || top.repeat.is_some() {
        return Err(wrong("`name` and `repeat` belong to an entry of `runs`"));
    }
    if top.jobs == Some(0) {
        return Err(wrong("jobs: expected 1 or more"));
    }
    let entries = if top.runs.is_empty() {
        vec![Settings::default()]
    } else {
        top.runs.clone()
    };
    let mut runs = Vec::new();
    let mut names = BTreeSet::new();
    for (index, entry) in entries.into_iter().enumerate() {
        if !entry.runs.is_empty() || entry.jobs.is_some() {
            return Err(wrong("`runs` and `jobs` belong to the top of the plan"));
        }
        let name = entry.name.clone().unwrap_or_else(|| default_name(index));
        let repeat = entry.repeat.unwrap_or(1);
        let context = Resolver { path, run: &name };
        let run = context.run(top.clone().overridden_by(entry))?;
        for number in 1..=repeat {
            let name = if repeat > 1 {
                format!("{name}-{number}")
            } else {
                name.clone()
            };
            if !names.insert(name.clone()) {
                return Err(wrong(&format!("two runs have the name {name}")));
            }
            runs.push(RunPlan {
                name,
                ..run.clone()
            });
        }
    }
    if runs.is_empty() {
        return Err(wrong("there is no run: repeat is 0"));
    }
    Ok(Plan {
        path: path.to_path_buf(),
        runs,
        jobs: top.jobs,
    })
}

fn default_name(index: usize) -> String {
    format!("run{}", index + 1)
}

/// The error of the parser, with a suggestion for an unknown key.
fn unreadable(path: &Path, reason: &str) -> Error {
    let error = Error::plan(path, reason.trim());
    let unknown = reason
        .strip_prefix("unknown field `")
        .and_then(|rest| rest.split_once('`'));
    let Some((unknown, rest)) = unknown else {
        return error;
    };
    let known = rest.split_once("expected").map_or("", |(_, known)| known);
    let known = known
        .split_once(" at line")
        .map_or(known, |(known, _)| known);
    let known = known.trim_start_matches(" one of").split(", ");
    match nearest(unknown, known.map(str::trim)) {
        Some(near) => error.hint(format!("did you mean {near}?")),
        None => error,
    }
}

impl Settings {
    fn overridden_by(mut self, other: Self) -> Self {
        self.environment.extend(other.environment);
        Self {
            name: None,
            repeat: None,
            runs: Vec::new(),
            jobs: None,
            bag: other.bag.or(self.bag),
            command: other.command.or(self.command),
            directory: other.directory.or(self.directory),
            environment: self.environment,
            inputs: other.inputs.or(self.inputs),
            outputs: other.outputs.or(self.outputs),
            wait_for_publishers: other.wait_for_publishers.or(self.wait_for_publishers),
            rate: other.rate.or(self.rate),
            pace: other.pace.or(self.pace),
            lockstep: other.lockstep.or(self.lockstep),
            expected: other.expected.or(self.expected),
            compare: other.compare.or(self.compare),
            contract: other.contract.or(self.contract),
            budgets: other.budgets.or(self.budgets),
            max_lost: other.max_lost.or(self.max_lost),
            timeouts: other.timeouts.or(self.timeouts),
        }
    }
}

/// Turns the settings of a run into its plan.
struct Resolver<'a> {
    path: &'a Path,
    run: &'a str,
}

impl Resolver<'_> {
    fn wrong(&self, reason: impl std::fmt::Display) -> Error {
        Error::plan(self.path, format!("{}: {reason}", self.run))
    }

    /// A path of the plan, which is relative to it.
    fn file(&self, path: &Path) -> PathBuf {
        self.path.parent().unwrap_or(Path::new("")).join(path)
    }

    fn read(&self, path: &Path) -> Result<(PathBuf, String)> {
        let file = self.file(path);
        let text = std::fs::read_to_string(&file).map_err(Error::file("read", &file))?;
        Ok((file, text))
    }

    fn run(&self, settings: Settings) -> Result<RunPlan> {
        self.check_name()?;
        let outputs = settings.outputs.unwrap_or_default();
        if outputs.is_empty() {
            let error = self.wrong("`outputs` lists no topic");
            return Err(error.hint("it lists the topics that are recorded"));
        }
        self.check_topics("outputs", &outputs)?;
        let inputs = self.inputs(settings.inputs.unwrap_or_default(), &outputs)?;
        let directory = settings.directory.unwrap_or_default();
        let rate = sane_rate(settings.rate.unwrap_or(1.0));
        let wants_judge = settings.expected.is_some()
            || settings.contract.is_some()
            || settings.budgets.is_some();
        if !wants_judge {
            let error = self.wrong("there is nothing to compare with");
            return Err(error.hint("give `expected`, `contract` or `budgets`"));
        }
        Ok(RunPlan {
            name: self.run.to_owned(),
            bags: self.bags(settings.bag)?,
            command: self.command(settings.command)?,
            directory: self.file(&directory),
            environment: settings.environment,
            pace: self.pace(settings.pace, settings.lockstep, &outputs)?,
            inputs,
            outputs,
            waits_for_publishers: settings.wait_for_publishers.unwrap_or(true),
            rate: rate.map_err(|refusal| self.wrong(format!("rate: {refusal}")))?,
            expected: settings.expected.map(|path| self.file(&path)),
            compare: self.compare(&settings.compare.unwrap_or_default())?,
            contract: settings
                .contract
                .map(|path| self.contract(&path))
                .transpose()?,
            budgets: settings
                .budgets
                .map(|path| self.budgets(&path))
                .transpose()?,
            max_lost: settings.max_lost.unwrap_or(0),
            timeouts: timeouts(&settings.timeouts.unwrap_or_default()),
        })
    }

    /// The name of a run is that of a directory.
    fn check_name(&self) -> Result<()> {
        let plain = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.');
        let valid = self.run.starts_with(char::is_alphanumeric) && self.run.chars().all(plain);
        if valid {
            return Ok(());
        }
        let reason = format!(
            "the name of a run has letters, digits, _, - and . only: {:?}",
            self.run
        );
        Err(Error::plan(self.path, reason))
    }

    fn check_topics(&self, what: &str, topics: &[String]) -> Result<()> {
        for topic in topics {
            validate_full_topic_name(topic)
                .map_err(|error| self.wrong(format!("{what}: {error}")))?;
        }
        Ok(())
    }

    fn bags(&self, given: Option<OneOrMany>) -> Result<Vec<PathBuf>> {
        let bags = match given {
            None => Vec::new(),
            Some(OneOrMany::One(bag)) => vec![bag],
            Some(OneOrMany::Many(bags)) => bags,
        };
        if bags.is_empty() {
            return Err(self.wrong("`bag` is missing: it is what is played"));
        }
        Ok(bags.iter().map(|bag| self.file(Path::new(bag))).collect())
    }

    fn command(&self, given: Option<OneOrMany>) -> Result<Vec<String>> {
        let words = match given {
            None => Vec::new(),
            Some(OneOrMany::Many(words)) => words,
            Some(OneOrMany::One(line)) if line.trim().is_empty() => Vec::new(),
            // `exec`, so that signals and the exit code are those of the program.
            Some(OneOrMany::One(line)) => {
                vec!["/bin/sh".into(), "-c".into(), format!("exec {line}")]
            }
        };
        if words.is_empty() {
            return Err(self.wrong("`command` is missing: it is what is tested"));
        }
        Ok(words)
    }

    fn inputs(&self, given: InputsEntry, outputs: &[String]) -> Result<Inputs> {
        for (what, topics) in [
            ("inputs.topics", &given.topics),
            ("inputs.wait_for", &given.wait_for),
        ] {
            let topics = topics.as_deref().unwrap_or_default();
            self.check_topics(what, topics)?;
            if let Some(both) = topics.iter().find(|topic| outputs.contains(topic)) {
                return Err(self.wrong(format!("{both} is an input and an output")));
            }
        }
        let remaps = given
            .remaps
            .iter()
            .map(|(from, to)| {
                let rule = format!("{from}:={to}").parse::<Remap>();
                rule.map_err(|error| self.wrong(format!("inputs.remaps: {error}")))
            })
            .collect::<Result<_>>()?;
        Ok(Inputs {
            topics: given.topics,
            remaps,
            wait_for: given.wait_for,
        })
    }

    fn pace(
        &self,
        pace: Option<Pace>,
        lockstep: Option<LockstepEntry>,
        outputs: &[String],
    ) -> Result<PacePlan> {
        match (pace.unwrap_or(Pace::Lockstep), lockstep) {
            (Pace::WaitAcked, None) => Ok(PacePlan::WaitAcked),
            (Pace::WaitAcked, Some(_)) => {
                Err(self.wrong("`lockstep` has no effect with `pace: wait_acked`"))
            }
            (Pace::Lockstep, entry) => {
                let entry = entry.unwrap_or_default();
                let first = outputs.first().cloned().unwrap_or_default();
                let topic = entry.topic.unwrap_or(first);
                self.check_topics("lockstep.topic", std::slice::from_ref(&topic))?;
                Ok(PacePlan::Lockstep {
                    topic,
                    window: entry.window.map_or(DEFAULT_WINDOW, duration),
                })
            }
        }
    }

    fn compare(&self, given: &CompareEntry) -> Result<ComparePlan> {
        let mut plan = ComparePlan::default();
        let options = &mut plan.options;
        let align = Alignment::new(given.align, given.within.map(|span| span.0));
        options.alignment = align.ok_or_else(|| {
            self.wrong(format!(
                "compare.within has no effect with align: {}",
                given.align.name()
            ))
        })?;
        if let Some(path) = &given.rules {
            let (file, yaml) = self.read(path)?;
            let added = options.rules.add_file(&yaml);
            added.map_err(|error| Error::plan(&file, error.to_string()))?;
        }
        let wrong = |error: timeloom_compare::Error| self.wrong(format!("compare: {error}"));
        for rule in &given.tolerances {
            options.rules.add(rule).map_err(wrong)?;
        }
        for field in &given.ignore {
            options.rules.ignore(field).map_err(wrong)?;
        }
        for name in &given.allow {
            let kinds = Kind::group(name).ok_or_else(|| {
                let names = Kind::GROUPS.map(|(name, _)| name);
                self.wrong(format!(
                    "compare.allow: {name:?} is not one of {}",
                    names.join(", ")
                ))
            })?;
            options.ignore.extend(kinds);
        }
        options.rate_tolerance = given.rate_tolerance.map(|percent| percent / 100.0);
        Ok(plan)
    }

    fn contract(&self, path: &Path) -> Result<Contract> {
        let (file, yaml) = self.read(path)?;
        Contract::parse(&yaml).map_err(|error| Error::plan(&file, error.to_string()))
    }

    fn budgets(&self, path: &Path) -> Result<timeloom_trace::Plan> {
        let (file, yaml) = self.read(path)?;
        let wrong = |reason: &dyn std::fmt::Display| Error::plan(&file, reason.to_string());
        let plan = timeloom_trace::Plan::parse(&yaml).map_err(|error| wrong(&error))?;
        if plan.budgets.is_empty() {
            return Err(wrong(&"`paths:` lists no budget"));
        }
        if !plan.synced_hosts.is_empty() {
            return Err(wrong(
                &"`hosts:` with `sync` has no place in a replay test: all runs on one host",
            ));
        }
        Ok(plan)
    }
}

fn timeouts(given: &TimeoutsEntry) -> Timeouts {
    let default = Timeouts::default();
    let or = |given: Option<Span>, default| given.map_or(default, duration);
    Timeouts {
        start: or(given.start, default.start),
        idle: or(given.idle, default.idle),
        finish: or(given.finish, default.finish),
        stop: or(given.stop, default.stop),
    }
}

fn duration(span: Span) -> Duration {
    Duration::from_nanos(i64::try_from(span.0).unwrap_or(i64::MAX))
}
