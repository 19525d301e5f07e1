//! What the verbs of lineage share: their arguments, and a bag's report.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use timeloom_bag::{BagReader, EndpointRole, RobotGraph, StorageReader as _};
use timeloom_text::counted;
use timeloom_time::Duration;
use timeloom_trace::{
    AccountOf, AccountScope, Direction, Engine, EngineOptions, Intake, LinkSearch,
    ObservedEndpoint, ObservedGraph, Plan, RecorderAccount, RecordingFeed, Report, Sink,
    is_lineage_type, main_topic,
};

use super::bag_input::BagRecording;
use crate::context::Context;
use crate::damage;
use crate::failure::Failure;
use crate::hint;
use crate::live::seconds;
use crate::time_range::TimeRangeArguments;

/// What to look at, and how.
#[derive(Debug, Args, Default)]
pub(crate) struct AnalysisArguments {
    /// Topics at which paths end; all that nothing else is made of, unless given
    #[arg(long = "to", value_name = "TOPIC", num_args = 1.., value_delimiter = ',')]
    pub(crate) targets: Vec<String>,
    /// Topics at which paths begin; those without inputs, unless given
    #[arg(long = "from", value_name = "TOPIC", num_args = 1.., value_delimiter = ',')]
    pub(crate) sources: Vec<String>,
    /// Topics to leave out
    #[arg(long, value_name = "TOPIC", num_args = 1.., value_delimiter = ',')]
    pub(crate) ignore: Vec<String>,
    /// Budgets, node models and hosts, as YAML
    #[arg(long, value_name = "FILE")]
    pub(crate) plan: Option<PathBuf>,
    /// How links are found
    #[arg(long, value_enum, default_value_t, value_name = "HOW")]
    pub(crate) links: Links,
    /// How long a message may take to its last use
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    pub(crate) keep: Duration,
    #[command(flatten)]
    pub(crate) range: TimeRangeArguments,
}

/// How links are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum Links {
    /// By tags; without any, by the plan's node model and the recorded graph, or by equal stamps
    #[default]
    Auto,
    /// By tags only
    Tags,
    /// By equal stamps
    Stamp,
    /// By the plan's node model
    Model,
    /// By the graph of the nodes that was recorded, also where there are tags
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

/// What there was in a bag, and what could not be read.
#[derive(Debug, Default)]
pub(super) struct BagIntake {
    lineage: Intake,
    damaged: u64,
    /// The end of a file is missing, and its content is unknown.
    cut: bool,
}

impl BagIntake {
    /// Whether something of the bag is not in the result.
    pub(super) fn is_incomplete(&self) -> bool {
        self.unread() > 0 || self.cut
    }

    /// Messages and stretches that were there and could not be read.
    pub(super) fn unread(&self) -> u64 {
        self.lineage.broken + self.damaged
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

    /// The graph of the nodes as the recorder saw it.
    fn graph(&self, bag: &Path, reader: &mut BagReader) -> anyhow::Result<ObservedGraph> {
        if matches!(self.links, Links::Tags | Links::Stamp | Links::Model) {
            return Ok(ObservedGraph::default());
        }
        let graph = observed_graph(&reader.graph()?);
        if self.links == Links::Graph && graph.is_empty() {
            let text = format!("{} has no recorded graph", bag.display());
            let hint = "only `timeloom record` keeps the graph; declare the nodes in --plan";
            return Err(Failure::new(text).hint(hint).into());
        }
        Ok(graph)
    }

    /// Reads a bag into any sink.
    pub(super) fn read(
        &self,
        bag: &Path,
        plan: &Plan,
        sink: &mut dyn Sink,
        context: &mut Context,
    ) -> anyhow::Result<BagIntake> {
        if self.links == Links::Model && plan.model.nodes.is_empty() {
            let hint = "give --plan a file with `nodes:`";
            return Err(Failure::usage("there is no node model").hint(hint).into());
        }
        let mut reader = context.bags.open(bag)?;
        let info = reader.info().clone();
        context.printer.warnings(&info.damage);
        let range = self.range.resolve(&info)?;
        let feed = RecordingFeed {
            links: self.links.search(),
            model: plan.model.clone(),
            graph: self.graph(bag, &mut reader)?,
        };
        let mut recording = BagRecording::new(&mut reader, range, context);
        let mut intake = BagIntake {
            lineage: feed.run(&mut recording, sink)?,
            ..BagIntake::default()
        };
        intake.damaged = recording.damaged();
        if damage::means_loss(&info.damage) {
            // What is missing at the end was said when the bag was opened, and is met by no reader.
            intake.cut = true;
            context.printer.hint(&hint::recover(bag));
        }
        if intake.lineage.tags == 0 && self.links == Links::Tags {
            let text = format!("{} has no tags", bag.display());
            let hint = "without --links tags, links are found by stamps or by a node model";
            return Err(Failure::new(text).hint(hint).into());
        }
        Ok(intake)
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
        self.add_accounts(bag, &mut engine, context)?;
        let mut report = engine.report();
        report.notes.splice(0..0, notes(&intake.lineage));
        Ok(Analysis {
            report,
            unread: intake.unread(),
            lost: intake.is_incomplete(),
        })
    }

    /// What the recorder says was published: of the topics themselves, and of their tags.
    fn add_accounts(
        &self,
        bag: &Path,
        engine: &mut Engine,
        context: &Context,
    ) -> anyhow::Result<()> {
        let reader = context.bags.open(bag)?;
        let is_part = self.range.start.is_some() || self.range.end.is_some();
        let scope = if is_part {
            AccountScope::Part
        } else {
            AccountScope::Whole
        };
        for (info, account) in reader.info().topics.iter().zip(reader.accounts()) {
            let name = info.name.as_str();
            let (topic, of) = match main_topic(name) {
                Some(main) if is_lineage_type(&info.type_name) => (main, AccountOf::Tags),
                _ => (name, AccountOf::Messages),
            };
            if let Some(statistics) = account.as_ref().map(|it| it.statistics) {
                let account = RecorderAccount {
                    recorded: statistics.messages_recorded,
                    in_transport: statistics.messages_lost_in_transport,
                    in_recorder: statistics.messages_lost_in_recorder(),
                };
                engine.recorder_account(topic, of, account, scope);
            }
        }
        Ok(())
    }
}

/// Who publishes and who takes what in a recorded graph.
fn observed_graph(graph: &RobotGraph) -> ObservedGraph {
    ObservedGraph::new(graph.endpoints().filter_map(|endpoint| {
        let direction = match endpoint.role {
            EndpointRole::Publisher => Direction::Publishes,
            EndpointRole::Subscription => Direction::Subscribes,
            EndpointRole::Server | EndpointRole::Client => return None,
        };
        Some(ObservedEndpoint {
            node: endpoint.node.clone(),
            topic: endpoint.topic.clone(),
            direction,
            appeared_ns: endpoint.appeared_ns,
            vanished_ns: endpoint.vanished_ns,
        })
    }))
}

pub(super) fn read_plan(path: &Path) -> anyhow::Result<Plan> {
    let text =
        std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut plan = Plan::parse(&text).with_context(|| path.display().to_string())?;
    let directory = path.parent().unwrap_or(Path::new(""));
    for (host, file) in std::mem::take(&mut plan.synced_hosts) {
        let file = directory.join(file);
        let (offset, bound) = synced(&file).with_context(|| file.display().to_string())?;
        for domain in plan.domains.iter_mut().filter(|domain| domain.name == host) {
            (domain.offset, domain.bound) = (Some(offset), Some(bound));
        }
    }
    Ok(plan)
}

/// Offset and bound of a clock, from what `timeloom sync fit --format json` prints.
fn synced(path: &Path) -> anyhow::Result<(Duration, Duration)> {
    let report: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(path)?)?;
    let nanos = |value: &serde_json::Value, name: &str| {
        let nanos = value.as_i64().map(Duration::from_nanos);
        nanos.ok_or_else(|| Failure::new(format!("there is no {name}")))
    };
    let offset = nanos(&report["offset_ns"], "offset_ns")?;
    // Reports of before have no bound of the offset itself.
    let bound = match &report["offset_bound_ns"] {
        serde_json::Value::Null => nanos(&report["upper_bound_ns"]["max"], "upper_bound_ns.max")?,
        bound => nanos(bound, "offset_bound_ns")?,
    };
    Ok((offset, bound))
}

/// What is to be known of the bag itself.
fn notes(intake: &Intake) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(how) = intake.inferred {
        let why = if intake.tags == 0 {
            "there are no tags: "
        } else {
            ""
        };
        notes.push(format!("{why}links are found by {how}"));
    }
    if intake.not_known > 0 {
        let messages = counted(intake.not_known, "message");
        notes.push(format!(
            "{messages} may come from several topics or nodes: which is not known"
        ));
    }
    if intake.sim_time {
        notes.push(
            "tags are in simulated time: topics without tags count from their reception".to_owned(),
        );
    }
    if intake.header_only > 0 {
        let tags = counted(intake.header_only, "tag");
        notes.push(format!("{tags} of tilde_lite name no inputs"));
    }
    if intake.broken > 0 {
        let tags = counted(intake.broken, "tag");
        notes.push(format!("{tags} could not be decoded"));
    }
    notes
}
