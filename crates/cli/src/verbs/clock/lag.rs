//! `timeloom clock lag`: how far nodes are behind `/clock`.

use std::collections::BTreeMap;

use clap::Args;
use serde_json::json;
use timeloom_node::{ClockLag, ClockLagMeter};
use timeloom_time::{Duration, WaitOptions};
use timeloom_wire::{Gid, Graph};

use super::clock_listener::{CLOCK, ClockListener, owner_of, owners};
use crate::context::Context;
use crate::failure::Failure;
use crate::live::{Live, LiveArguments, SimClock, TypeFinder, seconds};
use crate::outcome::Outcome;
use crate::verbs::info::Format;

const EXAMPLES: &str = "\
EXAMPLES
  timeloom clock lag                     two seconds of all stamped topics
  timeloom clock lag --duration 10 --format json

The lag of a message is the time of /clock at its arrival minus its stamp: the delay of the node's clock, of its
processing and of the transport. A node that is hours off does not follow /clock: its use_sim_time is false.";

/// Measure how far the stamps of nodes are behind /clock
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Time to measure
    #[arg(long, value_name = "SECONDS", default_value = "2", value_parser = seconds)]
    duration: Duration,
    /// Output format
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
    #[command(flatten)]
    live: LiveArguments,
}

pub(crate) fn run(arguments: &Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    let live = Live::join(&arguments.live, context)?;
    let sim = SimClock::new(&live)?;
    let listener = ClockListener::open(&live)?;
    let cancel = WaitOptions::new().cancel(live.interrupt().token());
    let _started = sim
        .clock()
        .wait_until_started(&cancel.clone().real_timeout(arguments.duration));
    if !sim.clock().started() {
        let text = format!("no sample on {CLOCK} within {}", arguments.duration);
        return Err(Failure::new(text)
            .hint("`timeloom play BAG --clock` and `timeloom clock publish` publish it")
            .into());
    }
    let graph = live.settled();
    let finder = TypeFinder::new();
    let clock_topic = live.topic(CLOCK)?;
    let meter = ClockLagMeter::start(
        live.node(),
        &graph,
        (&sim.clock(), &clock_topic),
        |publisher| finder.of_endpoint(&live, publisher).ok(),
    );
    let clock = live.clock();
    let until = clock.now().saturating_add(arguments.duration);
    let mut ticks = 0_u64;
    while clock.now() < until && !live.interrupt().happened() {
        ticks += listener.wait(until - clock.now(), context).len() as u64;
    }
    let found = meter.lags();
    drop(meter);
    let hertz = ticks as f64 / arguments.duration.as_secs_f64().max(1e-9);
    let owners = owners(&live.graph(), &clock_topic);
    print(
        arguments.format,
        &live.graph(),
        &found,
        (hertz, owners),
        context,
    )?;
    Ok(Outcome::Done)
}

fn print(
    format: Format,
    graph: &Graph,
    lags: &BTreeMap<Gid, ClockLag>,
    (hertz, owners): (f64, Vec<String>),
    context: &mut Context,
) -> anyhow::Result<()> {
    let mut rows: Vec<_> = lags
        .iter()
        .map(|(writer, lag)| {
            let topic = graph
                .endpoint(writer)
                .map_or("", |info| info.topic.as_str());
            (owner_of(graph, writer), topic.to_owned(), *lag)
        })
        .collect();
    rows.sort_by(|a, b| (&a.0, &a.1).cmp(&(&b.0, &b.1)));
    let out = context.printer.data();
    match format {
        Format::Json => {
            let rows: Vec<_> = rows
                .iter()
                .map(|(node, topic, lag)| {
                    json!({
                        "node": node, "topic": topic, "messages": lag.messages,
                        "min_s": lag.least as f64 / 1e9, "mean_s": lag.mean() / 1e9,
                        "max_s": lag.most as f64 / 1e9, "follows_clock": !lag.is_another_clock(),
                    })
                })
                .collect();
            let all = json!({"owners": owners, "clock_hz": hertz, "publishers": rows});
            writeln!(out, "{all}")?;
        }
        Format::Text => {
            writeln!(out, "/clock of {} at {hertz:.1} Hz", owners.join(", "))?;
            for (node, topic, lag) in &rows {
                writeln!(out, "{node}  {topic}  {}", text(lag))?;
            }
            if rows.is_empty() {
                writeln!(out, "no messages with stamps")?;
            }
        }
    }
    Ok(())
}

fn text(lag: &ClockLag) -> String {
    if lag.is_another_clock() {
        return format!(
            "{} messages: on another clock ({:+.0} s away)",
            lag.messages,
            -lag.mean() / 1e9
        );
    }
    let millis = |nanos: f64| nanos / 1e6;
    format!(
        "{} messages, behind by {:.1} ms (min {:.1}, max {:.1})",
        lag.messages,
        millis(lag.mean()),
        millis(lag.least as f64),
        millis(lag.most as f64)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lags_are_summarised_and_other_clocks_detected() {
        let mut lag = ClockLag::default();
        for millis in [10, 30, 20] {
            lag.add(millis * 1_000_000);
        }
        assert_eq!(
            text(&lag),
            "3 messages, behind by 20.0 ms (min 10.0, max 30.0)"
        );
        let mut other = ClockLag::default();
        other.add(-1_700_000_000 * 1_000_000_000);
        assert_eq!(
            text(&other),
            "1 messages: on another clock (+1700000000 s away)"
        );
    }
}
