//! The arguments and the report of a bag that the verbs share.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use timeloom_bag::StorageReader as _;
use timeloom_bag::storage::FileInfo;
use timeloom_time::Duration;
use timeloom_trace::{
    BagFeed, BagObserver, Engine, EngineOptions, Error, LinkSearch, Plan, Report, Sink,
};

use crate::context::Context;
use crate::damage;
use crate::decode::resolver;
use crate::failure::Failure;
use crate::hint;
use crate::live::seconds;
use crate::progress::Progress;
use crate::time_range::{TimeRange, TimeRangeArguments};

/// The topics to analyse, and how.
#[derive(Debug, Args, Default)]
pub(crate) struct AnalysisArguments {
    /// Topics at which paths end [default: all that are not an input of another topic]
    #[arg(long = "to", value_name = "TOPIC", num_args = 1.., value_delimiter = ',')]
    pub(crate) targets: Vec<String>,
    /// Topics at which paths begin [default: those without inputs]
    #[arg(long = "from", value_name = "TOPIC", num_args = 1.., value_delimiter = ',')]
    pub(crate) sources: Vec<String>,
    /// Topics to leave out
    #[arg(long, value_name = "TOPIC", num_args = 1.., value_delimiter = ',')]
    pub(crate) ignore: Vec<String>,
    /// Budgets, node models and hosts, as YAML
    #[arg(long, value_name = "FILE")]
    pub(crate) plan: Option<PathBuf>,
    /// Evidence for links
    #[arg(long, value_enum, default_value_t, value_name = "HOW")]
    pub(crate) links: Links,
    /// Time that a message is kept after its last use
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    pub(crate) keep: Duration,
    #[command(flatten)]
    pub(crate) range: TimeRangeArguments,
}

/// Evidence for links.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum Links {
    /// By tags; in a bag without tags, by the plan's node model and the recorded graph, or by equal stamps
    #[default]
    Auto,
    /// By tags only
    Tags,
    /// By equal stamps
    Stamp,
    /// By the plan's node model
    Model,
    /// By the plan's node model and the recorded graph; tags are ignored
    Graph,
}

impl Links {
    fn search(self) -> LinkSearch {
        match self {
            Self::Auto => LinkSearch::Auto,
            Self::Tags => LinkSearch::Tags,
            Self::Stamp => LinkSearch::Stamp,
            Self::Model => LinkSearch::Model,
            Self::Graph => LinkSearch::Graph,
        }
    }
}

/// A bag's report, and whether all of the bag could be read.
pub(super) struct Analysis {
    pub(super) report: Report,
    /// Messages and stretches that could not be read.
    pub(super) unread: u64,
    pub(super) lost: bool,
}

impl AnalysisArguments {
    pub(super) fn read_plan(&self) -> anyhow::Result<Plan> {
        self.plan
            .as_deref()
            .map_or_else(|| Ok(Plan::default()), read_plan)
    }

    pub(super) fn options(&self, plan: &Plan) -> EngineOptions {
        let mut options = EngineOptions {
            targets: self.targets.clone(),
            sources: self.sources.clone(),
            ignored: self.ignore.clone(),
            keep: self.keep,
            ..EngineOptions::default()
        };
        plan.apply(&mut options);
        options
    }

    /// Reads a bag into any sink.
    pub(super) fn read(
        &self,
        bag: &Path,
        plan: &Plan,
        sink: &mut dyn Sink,
        context: &mut Context,
    ) -> anyhow::Result<BagIntake> {
        let mut reader = context.bags.open(bag)?;
        let info = reader.info().clone();
        context.printer.warnings(&info.damage);
        let range = self.range.resolve(&info)?;
        let feed = BagFeed {
            links: self.links.search(),
            model: plan.model.clone(),
            start_ns: range.start_ns,
            end_ns: range.end_ns,
            types: resolver(),
        };
        let progress = context.progress("tracing");
        let mut observer = Observer {
            info: &info,
            range,
            progress,
            context,
        };
        let lineage = feed
            .run(&mut reader, sink, &mut observer)
            .map_err(|error| explained(bag, error))?;
        drop(observer);
        feed.add_accounts(&reader, sink.engine());
        let is_cut = damage::means_loss(&info.damage);
        if is_cut {
            context.printer.hint(&hint::recover(bag));
        }
        let unread = lineage.broken + lineage.damaged;
        Ok(BagIntake {
            notes: lineage.notes(),
            unread,
            is_incomplete: unread > 0 || is_cut,
        })
    }

    /// The report of a bag.
    pub(super) fn analyse(
        &self,
        bag: &Path,
        plan: &Plan,
        context: &mut Context,
    ) -> anyhow::Result<Analysis> {
        let mut engine = Engine::new(self.options(plan));
        let intake = self.read(bag, plan, &mut engine, context)?;
        let mut report = engine.report();
        report.notes.splice(0..0, intake.notes);
        Ok(Analysis {
            report,
            unread: intake.unread,
            lost: intake.is_incomplete,
        })
    }
}

/// The coverage of reading a bag.
pub(super) struct BagIntake {
    /// For the report.
    notes: Vec<String>,
    /// Messages and parts of the bag that could not be read.
    pub(super) unread: u64,
    /// Whether the result does not cover the whole bag.
    pub(super) is_incomplete: bool,
}

/// Shows progress and warnings while a bag is read.
struct Observer<'a> {
    info: &'a FileInfo,
    range: TimeRange,
    progress: Progress,
    context: &'a mut Context,
}

impl BagObserver for Observer<'_> {
    fn progress(&mut self, log_time_ns: i64, messages: u64) {
        let fraction = self.range.fraction(self.info, log_time_ns);
        self.progress.update(fraction, messages);
    }

    fn damage(&mut self, error: &timeloom_bag::Error) {
        self.context.printer.warning(&error.to_string());
    }
}

/// Adds the name of the bag and a way out.
fn explained(bag: &Path, error: timeloom_trace::Error) -> anyhow::Error {
    let bag = bag.display();
    let (text, hint) = match error {
        Error::NoGraph => (
            format!("{bag} has no recorded graph"),
            "only `timeloom record` saves the graph; declare the nodes in --plan",
        ),
        Error::NoTags => (
            format!("{bag} has no tags"),
            "without --links tags, links are found by stamps or by a node model",
        ),
        Error::NoModel => {
            let hint = "give --plan a file with `nodes:`";
            return Failure::usage("there is no node model").hint(hint).into();
        }
        Error::Bag(error) => return error.into(),
        other => return other.into(),
    };
    Failure::new(text).hint(hint).into()
}

pub(super) fn read_plan(path: &Path) -> anyhow::Result<Plan> {
    let text =
        std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut plan = Plan::parse(&text).with_context(|| path.display().to_string())?;
    let directory = path.parent().unwrap_or(Path::new(""));
    for (host, file) in std::mem::take(&mut plan.synced_hosts) {
        let file = directory.join(file);
        let report = std::fs::read_to_string(&file);
        let report = report.with_context(|| format!("cannot read {}", file.display()))?;
        plan.set_synced(&host, &report)
            .with_context(|| file.display().to_string())?;
    }
    Ok(plan)
}
