//! `timeloom clock lag`: how far nodes are behind `/clock`.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use clap::Args;
use serde_json::json;
use timeloom_msg::{StampProgram, TypeName};
use timeloom_time::{Clock, Duration, Ros, WaitOptions};
use timeloom_wire::{
    EndpointInfo, EndpointKind, Gid, Graph, Receiver, Sample, Subscription, TopicSpec,
    adapt_to_offers,
};

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

/// A node with a larger lag uses another clock.
const ELSEWHERE: i64 = 3600 * 1_000_000_000;

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

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Lag {
    messages: u64,
    least: i64,
    most: i64,
    sum: f64,
}

impl Lag {
    fn add(&mut self, lag: i64) {
        self.least = if self.messages == 0 {
            lag
        } else {
            self.least.min(lag)
        };
        self.most = if self.messages == 0 {
            lag
        } else {
            self.most.max(lag)
        };
        self.sum += lag as f64;
        self.messages += 1;
    }

    fn mean(&self) -> f64 {
        self.sum / self.messages.max(1) as f64
    }

    fn is_elsewhere(&self) -> bool {
        self.least.saturating_abs().min(self.most.saturating_abs()) > ELSEWHERE
    }
}

type Lags = Arc<Mutex<BTreeMap<Gid, Lag>>>;

/// Takes the stamps of one topic.
struct Stamps {
    program: StampProgram,
    clock: Clock<Ros>,
    lags: Lags,
}

impl Receiver for Stamps {
    fn sample(&self, sample: Sample) {
        let Ok(stamp) = self.program.read(&sample.payload) else {
            return;
        };
        if self.clock.started() {
            let lag = self.clock.now().nanos().saturating_sub(stamp.nanos());
            let mut lags = self.lags.lock().unwrap_or_else(PoisonError::into_inner);
            lags.entry(sample.writer).or_default().add(lag);
        }
    }
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
    let lags = Lags::default();
    let graph = live.settled();
    let subscriptions = subscribe(&live, &graph, &sim.clock(), &lags)?;
    let clock = live.clock();
    let until = clock.now().saturating_add(arguments.duration);
    let mut ticks = 0_u64;
    while clock.now() < until && !live.interrupt().happened() {
        ticks += listener.wait(until - clock.now(), context).len() as u64;
    }
    drop(subscriptions);
    let found = lags.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let hertz = ticks as f64 / arguments.duration.as_secs_f64().max(1e-9);
    let owners = owners(&live.graph(), &live.topic(CLOCK)?);
    print(
        arguments.format,
        &live.graph(),
        &found,
        (hertz, owners),
        context,
    )?;
    Ok(Outcome::Done)
}

/// Listens to every topic whose messages have stamps that we can read.
fn subscribe(
    live: &Live,
    graph: &Graph,
    clock: &Clock<Ros>,
    lags: &Lags,
) -> anyhow::Result<Vec<Box<dyn Subscription>>> {
    let own = live.topic(CLOCK)?;
    let finder = TypeFinder::new();
    let mut topics: BTreeMap<(&str, &str), Vec<&EndpointInfo>> = BTreeMap::new();
    for info in graph.endpoints() {
        if info.kind == EndpointKind::Publisher && info.topic != own {
            let key = (info.topic.as_str(), info.type_name.as_str());
            topics.entry(key).or_default().push(info);
        }
    }
    let mut subscriptions = Vec::new();
    for ((topic, type_name), publishers) in topics {
        let Some(first) = publishers.first() else {
            continue;
        };
        let schema = finder.of_endpoint(live, first).ok();
        let program = schema.as_ref().and_then(StampProgram::compile);
        let (Some(program), Ok(type_name)) = (program, TypeName::parse(type_name)) else {
            continue;
        };
        let offers: Vec<_> = publishers.iter().map(|info| info.qos).collect();
        let spec = TopicSpec {
            name: topic.to_owned(),
            type_name,
            type_hash: first.type_hash,
            qos: adapt_to_offers(&offers),
        };
        let stamps = Stamps {
            program,
            clock: clock.clone(),
            lags: Arc::clone(lags),
        };
        subscriptions.extend(live.node().subscribe(&spec, Arc::new(stamps)));
    }
    Ok(subscriptions)
}

fn print(
    format: Format,
    graph: &Graph,
    lags: &BTreeMap<Gid, Lag>,
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
                        "max_s": lag.most as f64 / 1e9, "follows_clock": !lag.is_elsewhere(),
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

fn text(lag: &Lag) -> String {
    if lag.is_elsewhere() {
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
        let mut lag = Lag::default();
        for millis in [10, 30, 20] {
            lag.add(millis * 1_000_000);
        }
        assert_eq!(
            text(&lag),
            "3 messages, behind by 20.0 ms (min 10.0, max 30.0)"
        );
        let mut other = Lag::default();
        other.add(-1_700_000_000 * 1_000_000_000);
        assert_eq!(
            text(&other),
            "1 messages: on another clock (+1700000000 s away)"
        );
    }
}
