//! `timeloom info`: what a bag holds.

mod host_clock;
mod merged_hosts;
mod robot;
pub(crate) mod trigger_windows;

use std::cmp::Reverse;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use jiff::Timestamp;
use timeloom_bag::info::{InfoLayout, SortTopics, render};
use timeloom_bag::{BagInfo, StorageId, StorageReader as _};

use crate::context::Context;
use crate::damage;
use crate::failure::Failure;
use crate::outcome::Outcome;

const EXAMPLES: &str = "\
EXAMPLES
  timeloom info my_bag                       the text of `ros2 bag info`
  timeloom info my_bag -v --sort size        bytes of each topic, requests and responses, what is missing and when
  timeloom info my_bag -t                    the names of the topics
  timeloom info my_bag --robot               nodes, parameters and their changes, environment, clock
  timeloom info my_bag --format json | jq '.topics[].name'
  timeloom info my_bag_0.mcap                a single file
  timeloom info s3://robots/run_7            on S3; only its end is fetched

Damage of a bag is listed, and the exit code is 3. Losses that the recorder counted are shown by -v; the exit code is
then 0, since the bag is whole.";

/// Show what a bag holds, without reading its messages
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The bag: a directory, or one .mcap or .db3 file
    #[arg(value_name = "BAG")]
    bag: PathBuf,
    /// Only the names of the topics
    #[arg(short = 't', long)]
    topic_name: bool,
    /// Also bytes, requests and responses, and what is missing, when and why; reads all messages if the bag has no counts
    #[arg(short, long)]
    verbose: bool,
    /// Show the state of the robot instead of the messages: nodes, parameters, environment and clock of the host
    #[arg(long, conflicts_with_all = ["topic_name", "verbose", "sort"])]
    robot: bool,
    /// Order of topics and services (default: name); equal ones keep the order of the bag
    #[arg(long, value_enum, value_name = "BY")]
    sort: Option<Sort>,
    /// Output format
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
    /// The storage that the bag must have: mcap or sqlite3
    #[arg(
        short,
        long,
        value_name = "STORAGE",
        default_value = "",
        hide_default_value = true
    )]
    storage: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Sort {
    /// By name
    Name,
    /// By type
    Type,
    /// Fewest messages first, as ros2 bag
    Count,
    /// Most bytes first
    Size,
}

/// Form of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum Format {
    /// For people
    #[default]
    Text,
    /// For programs
    Json,
}

pub(crate) fn run(arguments: &Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    let mut info = context.bags.info(&arguments.bag)?;
    check_storage(&arguments.storage, &info.storage_identifier)?;
    if arguments.robot {
        return show_robot(arguments, &info, context);
    }
    let wants_sizes = arguments.verbose || arguments.sort == Some(Sort::Size);
    if wants_sizes && !is_counted(&info) {
        // A bag that cannot be read to its end is still shown, using its metadata.
        let counted = context
            .bags
            .open(&arguments.bag)
            .and_then(|reader| Ok(info.count_messages(reader)?));
        if let Err(error) = counted {
            info.damage.push(error.to_string());
        }
    }
    if arguments.sort == Some(Sort::Size) {
        info.topics
            .sort_by_cached_key(|topic| (Reverse(topic.size_bytes), topic.name.clone()));
    }
    match arguments.format {
        Format::Text => {
            let mut text = render(&info, &layout(arguments, &info));
            if !arguments.topic_name {
                text.push_str(&trigger_windows::lines(&info.custom_data));
            }
            if arguments.verbose && !arguments.topic_name {
                text.push_str(&merged_hosts::lines(&info.custom_data));
                text.push_str(&host_clock::lines(&info.custom_data));
            }
            context.printer.text(&text)?;
        }
        Format::Json => {
            let text = serde_json::to_string_pretty(&info)?;
            writeln!(context.printer.data(), "{text}")?;
        }
    }
    if arguments.topic_name {
        context.printer.warnings(&info.damage);
        context.printer.warnings(&info.compatibility);
    }
    let remedy = damage::remedy(&arguments.bag, &info.damage);
    let rewrite = || damage::compatibility_remedy(&arguments.bag, &info.compatibility);
    if let Some(remedy) = remedy.or_else(rewrite) {
        context.printer.hint(&remedy);
    }
    Ok(Outcome::lost_if(damage::means_loss(&info.damage)))
}

/// Shows the state of the robot.
fn show_robot(
    arguments: &Arguments,
    info: &BagInfo,
    context: &mut Context,
) -> anyhow::Result<Outcome> {
    let mut reader = context.bags.open(&arguments.bag)?;
    let (graph, parameters) = (reader.graph()?, reader.parameters()?);
    let is_known = !graph.is_empty() || !parameters.nodes.is_empty();
    let robot = robot::Robot::new(graph, parameters, info);
    match arguments.format {
        Format::Text => context.printer.text(&robot.text())?,
        Format::Json => {
            let text = serde_json::to_string_pretty(&robot.json())?;
            writeln!(context.printer.data(), "{text}")?;
        }
    }
    if !is_known {
        let hint = "only `timeloom record` without --no-state saves the state of the robot";
        context.printer.hint(hint);
    }
    Ok(Outcome::Done)
}

/// Refuses a bag whose storage differs from the requested one.
pub(crate) fn check_storage(wanted: &str, found: &str) -> anyhow::Result<()> {
    if wanted.is_empty() {
        return Ok(());
    }
    let wanted = StorageId::from_name(wanted)
        .map_err(Failure::invalid_value)?
        .name();
    if wanted != found {
        let text = format!("the bag is stored as {found}, not as {wanted}");
        return Err(Failure::new(text)
            .hint("omit --storage: the storage is detected")
            .into());
    }
    Ok(())
}

/// Whether the bag contains these numbers, so that its messages need not be read.
fn is_counted(info: &BagInfo) -> bool {
    let sizes = info.topics.iter().all(|topic| topic.size_bytes.is_some());
    sizes
        && info
            .services
            .iter()
            .all(|service| service.request_count.is_some() || service.event_count == 0)
}

fn layout(arguments: &Arguments, info: &BagInfo) -> InfoLayout {
    let start =
        Timestamp::from_nanosecond(info.start_time_ns.unwrap_or(0).into()).unwrap_or_default();
    InfoLayout {
        utc_offset_seconds: Context::time_zone().to_offset(start).seconds(),
        sort: match arguments.sort {
            Some(Sort::Size) => SortTopics::Recorded,
            None | Some(Sort::Name) => SortTopics::Name,
            Some(Sort::Type) => SortTopics::Type,
            Some(Sort::Count) => SortTopics::Count,
        },
        names_only: arguments.topic_name,
        size_contribution: arguments.verbose,
        losses: arguments.verbose,
        damage: true,
    }
}
