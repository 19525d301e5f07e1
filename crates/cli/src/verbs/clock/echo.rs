//! `timeloom clock echo`.

use std::collections::BTreeSet;

use clap::Args;
use serde_json::json;
use timeloom_time::Duration;

use super::clock_listener::{CLOCK, ClockListener, Tick, is_named, owner_of};
use crate::context::Context;
use crate::live::{Live, LiveArguments};
use crate::outcome::Outcome;
use crate::verbs::info::Format;

const EXAMPLES: &str = "\
EXAMPLES
  timeloom clock echo               each sample: time, step, rate and publisher
  timeloom clock echo -n 1          the current time
  timeloom clock echo --format json | jq .time_ns

A step back is marked. A warning names the nodes if more than one publishes /clock.";

const PAUSE: Duration = Duration::from_secs(1);
/// Timeout for the name of a publisher.
const NAMING: Duration = Duration::from_secs(3);

/// Print the samples of /clock
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Stop after this many samples
    #[arg(short = 'n', long, value_name = "COUNT")]
    limit: Option<u64>,
    /// Output format
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
    #[command(flatten)]
    live: LiveArguments,
}

pub(crate) fn run(arguments: &Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    let live = Live::join(&arguments.live, context)?;
    let listener = ClockListener::open(&live)?;
    let (mut last, mut printed) = (None, 0);
    let mut silence_told = false;
    let mut named = BTreeSet::new();
    while !live.interrupt().happened() && arguments.limit.is_none_or(|limit| printed < limit) {
        let ticks = listener.wait(PAUSE, context);
        if ticks.is_empty() && last.is_none() && !silence_told {
            silence_told = true;
            let text = format!("no sample on {CLOCK} yet");
            context.printer.aside(&text);
        }
        for tick in ticks {
            if arguments.limit.is_some_and(|limit| printed >= limit) {
                break;
            }
            if named.insert(tick.writer) {
                // The name of a node may come later than its messages.
                live.wait_for(Some(NAMING), |graph| is_named(graph, &tick.writer));
            }
            let owner = owner_of(&live.graph(), &tick.writer);
            let text = line(arguments.format, &tick, last.as_ref(), &owner);
            writeln!(context.printer.data(), "{text}")?;
            printed += 1;
            last = Some(tick);
        }
        context.printer.flush()?;
    }
    listener.report(context);
    Ok(Outcome::Done)
}

fn line(format: Format, tick: &Tick, last: Option<&Tick>, owner: &str) -> String {
    let step = last.map(|last| (tick.time.nanos()).saturating_sub(last.time.nanos()));
    let passed = last.map(|last| tick.received.nanos().saturating_sub(last.received.nanos()));
    let rate = step.zip(passed).filter(|(_, passed)| *passed > 0);
    let rate = rate.map(|(step, passed)| step as f64 / passed as f64);
    match format {
        Format::Json => json!({
            "time_ns": tick.time.nanos(),
            "received_ns": tick.received.nanos(),
            "step_ns": step,
            "rate": rate,
            "owner": owner,
        })
        .to_string(),
        Format::Text => {
            let time = tick.time.nanos();
            let mut words = vec![format!(
                "{}.{:09}",
                time.div_euclid(1_000_000_000),
                time.rem_euclid(1_000_000_000)
            )];
            if let (Some(step), Some(rate)) = (step, rate) {
                let mark = if step < 0 { "  jumped back" } else { "" };
                words.push(format!("{:+.9}  ×{rate:.2}{mark}", step as f64 / 1e9));
            }
            words.push(owner.to_owned());
            words.join("  ")
        }
    }
}

#[cfg(test)]
mod tests {
    use timeloom_time::Time;
    use timeloom_wire::Gid;

    use super::*;

    #[test]
    fn a_line_has_time_step_rate_and_owner() {
        let tick = |millis: i64, received: i64| Tick {
            time: Time::from_nanos(millis * 1_000_000),
            received: Time::from_nanos(received * 1_000_000),
            writer: Gid([1; 16]),
        };
        let first = tick(1500, 0);
        let text = |tick: &Tick, last| line(Format::Text, tick, last, "/sim");
        assert_eq!(text(&first, None), "1.500000000  /sim");
        let later = tick(1600, 50);
        assert_eq!(
            text(&later, Some(&first)),
            "1.600000000  +0.100000000  ×2.00  /sim"
        );
        let back = text(&tick(100, 100), Some(&later));
        assert!(
            back.contains("-1.500000000  ×-30.00  jumped back"),
            "{back}"
        );
        let json = line(Format::Json, &later, Some(&first), "/sim");
        assert!(json.contains("\"step_ns\":100000000"), "{json}");
    }
}
