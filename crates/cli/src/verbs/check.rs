//! `timeloom check`: a bag or a running robot held against a contract.

mod live;

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use timeloom_bag::StorageReader as _;
use timeloom_contract::{Contract, Report, check_bag, learn_bag};
use timeloom_time::Duration;
use timeloom_trace::{junit, parse_span};

use super::info::Format;
use crate::context::Context;
use crate::decode::resolver;
use crate::failure::Failure;
use crate::live::LiveArguments;
use crate::outcome::Outcome;
use timeloom_text::Table;
use timeloom_text::counted;

const EXAMPLES: &str = "\
EXAMPLES
  timeloom check my_bag contract.yaml
  timeloom check my_bag contract.yaml --format json
  timeloom check my_bag contract.yaml --junit check.xml     for the test view of a CI server
  timeloom check --learn good_bag -o contract.yaml          a contract from a good recording
  timeloom check --live contract.yaml --for 30s             a running robot, for half a minute
  timeloom check --live contract.yaml                       until Ctrl-C; violations are printed as they happen
  timeloom view my_bag --contract contract.yaml             violations on the timeline

A contract:
  topics:
    /imu:
      type: sensor_msgs/msg/Imu
      qos: {reliability: reliable, durability: volatile}
      rate: {min: 95, max: 105}               # Hz, mean
      max_gap: 50ms                           # the start and the end of the bag included
      stamps: {monotonic: true, max_age: 100ms, max_future: 5ms}
      frame_id: imu_link
      values:
        linear_acceleration.z: {min: 5, max: 15}
      max_lost: 0
      max_unknown: 0
    /map: {count: {min: 1}, optional: true}
  other_topics: forbidden                     # allowed unless given
  clock: {synchronised: true, sources: [chrony, ptp4l], max_offset: 1ms, max_error: 5ms, max_step: 0s}

EXIT CODES
  0 kept   1 violated, or failed   2 wrong usage   3 kept, but parts of the bag could not be read";

/// Check a bag or a running robot against a contract: topics, types, QoS, rates, gaps, stamps, values,
/// losses, clock; learn one
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The bag
    #[arg(value_name = "BAG", required_unless_present = "live")]
    bag: Option<PathBuf>,
    /// The contract, as YAML
    #[arg(
        value_name = "CONTRACT",
        required_unless_present_any = ["learn", "live"],
        conflicts_with_all = ["learn", "live"]
    )]
    contract: Option<PathBuf>,
    /// Check the running robot instead of a bag against this contract
    #[arg(long, value_name = "CONTRACT", conflicts_with_all = ["learn", "bag"])]
    live: Option<PathBuf>,
    /// With --live: time to check, such as 30s [default: until Ctrl-C]
    #[arg(long = "for", value_name = "DURATION", requires = "live", value_parser = span)]
    length: Option<Duration>,
    /// Write a contract from this bag instead
    #[arg(long)]
    learn: bool,
    /// With --learn: the file to write; stdout unless given, an existing file is not replaced
    #[arg(short, long, value_name = "FILE", requires = "learn")]
    output: Option<PathBuf>,
    /// Report format
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with = "learn",
        help = "Also write the verdicts as JUnit XML; an existing file is replaced"
    )]
    junit: Option<PathBuf>,
    /// Also list the checks that passed
    #[arg(short, long)]
    verbose: bool,
    #[command(flatten)]
    network: LiveArguments,
}

fn span(text: &str) -> Result<Duration, String> {
    let span = parse_span(text)?;
    if span <= Duration::ZERO {
        return Err(format!("{text} is not a positive length of time"));
    }
    Ok(span)
}

pub(crate) fn run(arguments: &Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    let (bag, path) = match (&arguments.live, &arguments.bag, &arguments.contract) {
        (Some(contract), ..) => return live::run(arguments, contract, context),
        (None, Some(bag), Some(contract)) => (bag, contract),
        (None, Some(bag), None) => return learn(arguments, bag, context),
        (None, None, _) => return Err(Failure::usage("no bag is given").into()),
    };
    let contract = read_contract(path)?;
    let name = bag.display().to_string();
    let mut bag = context.bags.open(bag)?;
    let report =
        check_bag(&mut bag, &contract, &resolver()).map_err(|error| explained(path, error))?;
    let damage = bag.info().damage.clone();
    context.printer.warnings(&damage);
    let problem = (!damage.is_empty()).then_some("parts of the bag could not be read");
    report_all(arguments, &report, &name, problem, context)?;
    if !report.is_kept() {
        return Ok(Outcome::ProblemFound);
    }
    Ok(Outcome::lost_if(!damage.is_empty()))
}

/// A field of the contract that a type does not have is a mistake in the contract.
fn explained(contract: &Path, error: timeloom_contract::Error) -> anyhow::Error {
    match error {
        timeloom_contract::Error::Field { .. } => {
            Failure::usage(format!("{}: {error}", contract.display())).into()
        }
        other => other.into(),
    }
}

fn report_all(
    arguments: &Arguments,
    report: &Report,
    name: &str,
    problem: Option<&str>,
    context: &mut Context,
) -> anyhow::Result<()> {
    if let Some(path) = &arguments.junit {
        let name = format!("timeloom check {name}");
        std::fs::write(path, junit(&report.verdicts(), &name, problem))
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    print(arguments, report, context)
}

pub(crate) fn read_contract(path: &Path) -> anyhow::Result<Contract> {
    let yaml =
        std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let contract = Contract::parse(&yaml)
        .map_err(|error| Failure::usage(format!("{}: {error}", path.display())))?;
    Ok(contract)
}

fn print(arguments: &Arguments, report: &Report, context: &mut Context) -> anyhow::Result<()> {
    if arguments.format == Format::Json {
        let json = serde_json::to_string_pretty(report)?;
        writeln!(context.printer.data(), "{json}")?;
        return Ok(());
    }
    let violated = report.checks.iter().filter(|check| !check.kept).count();
    let mut table = Table::new("", &["topic", "what", "allowed", "actual", "", ""]);
    let shown = report
        .checks
        .iter()
        .filter(|check| arguments.verbose || !check.kept);
    for check in shown {
        table.row(vec![
            check.topic.clone(),
            check.what.clone(),
            check.allowed.clone(),
            check.actual.clone(),
            if check.kept { "ok" } else { "VIOLATED" }.to_owned(),
            check.place_text(),
        ]);
    }
    if arguments.verbose || violated > 0 {
        context.printer.text(&table.text())?;
    }
    let checks = counted(report.checks.len() as u64, "check");
    let verdict = match violated {
        0 => format!("{checks}, all kept\n"),
        _ => format!("{checks}, {violated} violated\n"),
    };
    context.printer.text(&verdict)?;
    Ok(())
}

fn learn(arguments: &Arguments, path: &Path, context: &mut Context) -> anyhow::Result<Outcome> {
    let mut bag = context.bags.open(path)?;
    if bag.info().topics.is_empty() {
        let text = format!("{} has no topic to learn from", path.display());
        return Err(Failure::new(text).into());
    }
    let contract = learn_bag(&mut bag, &resolver())?;
    let yaml = format!(
        "# Learned from {}: bounds are wider than the measured values; tighten them, and add `values`.\n{}",
        path.display(),
        contract.to_yaml()
    );
    let damage = bag.info().damage.clone();
    context.printer.warnings(&damage);
    match &arguments.output {
        None => context.printer.text(&yaml)?,
        Some(path) => {
            let mut file = std::fs::File::create_new(path)
                .with_context(|| format!("cannot write {}", path.display()))?;
            std::io::Write::write_all(&mut file, yaml.as_bytes())
                .with_context(|| format!("cannot write {}", path.display()))?;
            let topics = counted(contract.topics.len() as u64, "topic");
            context
                .printer
                .note(&format!("{}: {topics}", path.display()));
        }
    }
    Ok(Outcome::lost_if(!damage.is_empty()))
}
