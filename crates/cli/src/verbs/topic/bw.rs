//! `timeloom topic bw`: the bandwidth of a topic.

use clap::Args;
use serde_json::json;
use timeloom_text::{bandwidth, size};

use super::window::Window;
use crate::context::Context;
use crate::live::{Account, FeedArguments, LiveArguments};
use crate::outcome::Outcome;
use crate::verbs::info::Format;
use crate::verbs::topic::measure::{MeasuredBy, Measurement, measure};

const EXAMPLES: &str = "\
EXAMPLES
  timeloom topic bw /camera/image_raw           one line a second
  timeloom topic bw /points -n 100              100 messages, then it ends

Messages that were lost are in every line; the exit code is then 3.";

/// Measure the bandwidth of a topic, and what is lost
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    feed: FeedArguments,
    /// Number of the latest messages that are measured
    #[arg(short, long, value_name = "COUNT", default_value = "100", value_parser = clap::value_parser!(u32).range(2..))]
    window: u32,
    /// Stop after this many messages
    #[arg(short = 'n', long, value_name = "COUNT")]
    limit: Option<u64>,
    /// Measure in the time of `/clock`, not the machine's
    #[arg(short = 's', long)]
    use_sim_time: bool,
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
        time: MeasuredBy::new(arguments.use_sim_time, false),
        filter: None,
    };
    measure(&measurement, context, |window, account, now| {
        line(arguments.format, window, account, now)
    })
}

fn line(format: Format, window: &Window, account: &Account, now_ns: i64) -> Option<String> {
    let seconds = window.seconds_until(now_ns);
    if seconds <= 0.0 {
        return None;
    }
    let (sum, min, max) = window.bytes();
    let messages = window.len();
    let (rate, mean) = (sum as f64 / seconds, sum as f64 / messages as f64);
    let (lost, dropped) = (account.lost_in_transport, account.dropped);
    Some(match format {
        Format::Text => format!(
            "{} from {messages} messages  size mean: {} min: {} max: {}  lost: {}",
            bandwidth(rate),
            size((sum / messages.max(1)) as u64),
            size(min as u64),
            size(max as u64),
            lost + dropped
        ),
        Format::Json => json!({
            "bytes_per_s": rate,
            "messages": messages,
            "mean_bytes": mean,
            "min_bytes": min,
            "max_bytes": max,
            "received": account.received,
            "lost_in_transport": lost,
            "dropped": dropped,
        })
        .to_string(),
    })
}
