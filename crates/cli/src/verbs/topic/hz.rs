//! `timeloom topic hz`: the rate of a topic.

use clap::Args;
use serde_json::json;

use super::window::Window;
use crate::context::Context;
use crate::live::{Account, FeedArguments, LiveArguments, MessageFilter};
use crate::outcome::Outcome;
use crate::verbs::info::Format;
use crate::verbs::topic::measure::{MeasuredBy, Measurement, measure};

const EXAMPLES: &str = "\
EXAMPLES
  timeloom topic hz /imu/data                   one line a second
  timeloom topic hz /imu/data --window 100      over the last 100 messages
  timeloom topic hz /imu/data -n 500            500 messages, then it ends
  timeloom topic hz /imu/data --use-sim-time    the rate in simulated time
  timeloom topic hz /tf --filter 'len(m.transforms) > 1'

Messages that were lost are in every line; the exit code is then 3.";

/// Measure the rate of a topic, and what is lost
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    feed: FeedArguments,
    /// Number of the latest messages that are measured
    #[arg(short, long, value_name = "COUNT", default_value = "10000", value_parser = clap::value_parser!(u32).range(2..))]
    window: u32,
    /// Stop after this many messages
    #[arg(short = 'n', long, value_name = "COUNT")]
    limit: Option<u64>,
    /// Measure in the time of `/clock`, not the machine's
    #[arg(short = 's', long)]
    use_sim_time: bool,
    /// Measure in the machine's time, even if the parameter `use_sim_time` is set
    #[arg(long, conflicts_with = "use_sim_time")]
    wall_time: bool,
    /// Only messages for which this is true, such as "m.data > 3"
    #[arg(long, value_name = "EXPRESSION")]
    filter: Option<MessageFilter>,
    /// Output format
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
    #[command(flatten)]
    live: LiveArguments,
}

pub(crate) fn run(arguments: &Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    let measurement = Measurement {
        feed: &arguments.feed,
        live: &arguments.live,
        window: arguments.window,
        limit: arguments.limit,
        time: MeasuredBy::new(arguments.use_sim_time, arguments.wall_time),
        filter: arguments.filter.as_ref(),
    };
    measure(&measurement, context, |window, account, _| {
        line(arguments.format, window, account)
    })
}

fn line(format: Format, window: &Window, account: &Account) -> Option<String> {
    let gaps = window.gaps()?;
    let rate = 1.0 / gaps.mean;
    let (messages, lost, dropped) = (window.len(), account.lost_in_transport, account.dropped);
    Some(match format {
        Format::Text => format!(
            "average rate: {rate:.3}  min: {:.3}s max: {:.3}s std dev: {:.5}s window: {messages}  lost: {}",
            gaps.min,
            gaps.max,
            gaps.deviation,
            lost + dropped
        ),
        Format::Json => json!({
            "rate_hz": rate.is_finite().then_some(rate),
            "min_s": gaps.min,
            "max_s": gaps.max,
            "std_dev_s": gaps.deviation,
            "window": messages,
            "received": account.received,
            "lost_in_transport": lost,
            "dropped": dropped,
        })
        .to_string(),
    })
}
