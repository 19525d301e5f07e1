//! `timeloom diff`: two bags compared.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use timeloom_bag::{BagReader, StorageReader as _};
use timeloom_compare::{
    AlignBy, Alignment, CompareOptions, Comparison, Kind, Rules, compare, html, text, verdicts,
};
use timeloom_trace::{junit, parse_span};

use super::info::Format;
use crate::context::Context;
use crate::decode::resolver;
use crate::failure::Failure;
use crate::outcome::Outcome;
use crate::selection_arguments::SelectionArguments;
use crate::time_range::TimeRangeArguments;

const EXAMPLES: &str = "\
EXAMPLES
  timeloom diff before after
  timeloom diff before after --tolerance '/odom:pose.*=0.01' --tolerance float32=1e-6
  timeloom diff before after --tolerance geometry_msgs/msg/Quaternion=0.5deg --ignore header.stamp
  timeloom diff before after --align time --within 20ms     by the log time since the start of each bag
  timeloom diff before after --rules rules.yaml --junit diff.xml --html diff.html

TOLERANCES
  0.01 absolute   1% relative   0.5deg, 0.01rad angles, and quaternions by their rotation   5ms times and durations
  0.01,1% either of the two   0.5,wrap=360 angles in degrees   nan=different NaN is a difference   ignore
  A rule is [TOPIC:]FIELD=TOLERANCE or [TOPIC:]TYPE=TOLERANCE; * stands for any characters; a field includes the
  fields below it; of the rules that match, the last one counts. A file has two lists: tolerances and ignore.

EXIT CODES
  0 same   1 different, or failed   2 wrong usage   3 same, but parts of a bag could not be read";

/// Compare two bags: topics, types, QoS, counts, losses, and messages field by field
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The first bag
    #[arg(value_name = "LEFT")]
    left: PathBuf,
    /// The second bag
    #[arg(value_name = "RIGHT")]
    right: PathBuf,
    /// How messages of the two bags are paired
    #[arg(long, value_enum, default_value_t, value_name = "BY")]
    align: AlignArgument,
    /// With --align stamp, time or absolute-time: the largest distance of two messages [default: 0 for stamps, 20ms for times]
    #[arg(long, value_name = "DURATION", value_parser = within)]
    within: Option<u64>,
    #[arg(
        short,
        long,
        value_name = "RULE",
        help = "A difference to tolerate: [TOPIC:]FIELD=TOLERANCE; see below"
    )]
    tolerance: Vec<String>,
    #[arg(
        short,
        long,
        value_name = "FIELD",
        help = "A field or topic to ignore: [TOPIC:]FIELD, [TOPIC:]TYPE or /TOPIC"
    )]
    ignore: Vec<String>,
    /// A YAML file of tolerances and ignored fields; flags take precedence
    #[arg(long, value_name = "FILE")]
    rules: Option<PathBuf>,
    /// Kinds of differences to ignore
    #[arg(long, value_enum, value_delimiter = ',', value_name = "KIND")]
    allow: Vec<KindArgument>,
    /// Also compare rates: the largest difference in percent
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    rate_tolerance: Option<f64>,
    /// Memory for messages without a partner so far, in MiB
    #[arg(long, default_value_t = 256, value_name = "MIB", value_parser = clap::value_parser!(u32).range(1..))]
    memory: u32,
    /// Also list the topics without a difference, and every field
    #[arg(short, long)]
    verbose: bool,
    /// Report format
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
    #[arg(
        long,
        value_name = "FILE",
        help = "Also write the verdicts as JUnit XML; an existing file is replaced"
    )]
    junit: Option<PathBuf>,
    /// Also write a page with a timeline of each topic; an existing file is replaced
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    #[command(flatten)]
    range: TimeRangeArguments,
    #[command(flatten)]
    selection: SelectionArguments,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum AlignArgument {
    /// By stamp where the type has a header, else by order
    #[default]
    Auto,
    /// The n-th message with the n-th
    Order,
    /// By the publisher's sequence number
    Sequence,
    /// By header stamp
    Stamp,
    /// By log time since the start of each bag
    Time,
    /// By log time
    AbsoluteTime,
}

impl AlignArgument {
    fn by(self) -> AlignBy {
        match self {
            Self::Auto => AlignBy::Auto,
            Self::Order => AlignBy::Order,
            Self::Sequence => AlignBy::Sequence,
            Self::Stamp => AlignBy::Stamp,
            Self::Time => AlignBy::Time,
            Self::AbsoluteTime => AlignBy::AbsoluteTime,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum KindArgument {
    /// Topics that only one bag has
    Topics,
    /// Other types
    Types,
    /// Other QoS
    Qos,
    /// Messages without a partner
    Messages,
    /// Other values
    Values,
    /// Another order
    Order,
    /// Other numbers of lost messages
    Losses,
}

impl KindArgument {
    fn kinds(self) -> &'static [Kind] {
        let value = self.to_possible_value();
        value
            .and_then(|value| Kind::group(value.get_name()))
            .unwrap_or_default()
    }
}

fn within(text: &str) -> Result<u64, String> {
    let span = parse_span(text)?;
    u64::try_from(span.nanos()).map_err(|_negative| format!("{text} is negative"))
}

fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim_end_matches('%').parse::<f64>().ok();
    let valid = number.filter(|number| number.is_finite() && *number >= 0.0);
    valid
        .map(|number| number / 100.0)
        .ok_or_else(|| "expected a percentage such as 5%".to_owned())
}

pub(crate) fn run(arguments: &Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    let mut left = context.bags.open(&arguments.left)?;
    let mut right = context.bags.open(&arguments.right)?;
    let options = arguments.options(&left, &right)?;
    let names = [&arguments.left, &arguments.right].map(|path| path.display().to_string());
    let found = compare(
        &mut left,
        &mut right,
        [&names[0], &names[1]],
        &options,
        &resolver(),
    )?;
    if found.topics.is_empty() {
        let text = "no topic to compare: neither bag has one that is selected";
        return Err(Failure::usage(text)
            .hint("`timeloom info` lists the topics of a bag")
            .into());
    }
    arguments.write_files(&found)?;
    match arguments.format {
        Format::Json => {
            let json = serde_json::to_string_pretty(&found)?;
            writeln!(context.printer.data(), "{json}")?;
        }
        Format::Text => context.printer.text(&text(&found, arguments.verbose))?,
    }
    if !found.is_same() {
        return Ok(Outcome::ProblemFound);
    }
    Ok(Outcome::lost_if(found.is_damaged()))
}

impl Arguments {
    fn options(&self, left: &BagReader, right: &BagReader) -> anyhow::Result<CompareOptions> {
        let mut rules = Rules::default();
        if let Some(path) = &self.rules {
            let yaml = read(path)?;
            let added = rules.add_file(&yaml);
            added.map_err(|error| Failure::usage(format!("{}: {error}", path.display())))?;
        }
        let usage = |error: timeloom_compare::Error| Failure::usage(error.to_string());
        for rule in &self.tolerance {
            rules.add(rule).map_err(usage)?;
        }
        for field in &self.ignore {
            rules.ignore(field).map_err(usage)?;
        }
        let by = self.align.by();
        let alignment = Alignment::new(by, self.within).ok_or_else(|| {
            let text = format!("--within has no effect with --align {}", by.name());
            Failure::usage(text).hint("give --align stamp, time or absolute-time")
        })?;
        let ranges = [
            self.range.resolve(left.info())?,
            self.range.resolve(right.info())?,
        ];
        Ok(CompareOptions {
            alignment,
            rules,
            ignore: self
                .allow
                .iter()
                .flat_map(|kind| kind.kinds())
                .copied()
                .collect(),
            rate_tolerance: self.rate_tolerance,
            topics: self.topics(&[left, right]),
            start_ns: ranges.map(|range| range.start_ns),
            end_ns: ranges.map(|range| range.end_ns),
            memory: usize::try_from(self.memory).unwrap_or(usize::MAX) << 20,
        })
    }

    /// The selected topics of both bags; `None` without a selection.
    fn topics(&self, bags: &[&BagReader]) -> Option<Vec<String>> {
        if !self.selection.is_given() {
            return None;
        }
        let selection = self.selection.selection();
        let topics = bags.iter().flat_map(|bag| &bag.info().topics);
        let taken = topics.filter(|topic| selection.takes(topic));
        Some(taken.map(|topic| topic.name.clone()).collect())
    }

    fn write_files(&self, found: &Comparison) -> anyhow::Result<()> {
        if let Some(path) = &self.junit {
            let name = format!("timeloom diff {} {}", found.left.name, found.right.name);
            let problem = found
                .is_damaged()
                .then_some("parts of a bag could not be read");
            write(path, &junit(&verdicts(found), &name, problem))?;
        }
        if let Some(path) = &self.html {
            write(path, &html(found))?;
        }
        Ok(())
    }
}

fn read(path: &Path) -> anyhow::Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}
