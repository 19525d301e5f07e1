//! `timeloom sync relay`: a topic again, with stamps on the host's clock.

use std::sync::Arc;

use clap::Args;
use timeloom_node::TypeService;
use timeloom_restamp::{Relay, Relayed};
use timeloom_sync::{ClockPair, HostStamps};
use timeloom_text::counted;
use timeloom_time::{Clock, Duration, Reading, System};
use timeloom_wire::{PublishOptions, Publisher, TopicSpec};

use super::device_field::FieldArguments;
use super::limits_arguments::LimitsArguments;
use crate::context::Context;
use crate::failure::Failure;
use crate::field_path;
use crate::live::{Feed, FeedArguments, Live, LiveArguments, TypeFinder, seconds};
use crate::outcome::Outcome;

const EXAMPLES: &str = "\
EXAMPLES
  timeloom sync relay /imu --output /imu/synced                   header.stamp is the device's time
  timeloom sync relay /imu --device-field ticks --device-unit us --device-bits 32 --output /imu/synced
  timeloom sync relay /scan --output /scan/synced --ros-args -r __node:=scan_clock

Every message of the topic is published again with header.stamp on the host's clock: the time of the event, not of its
arrival. With each one, /imu/synced/sync_status (diagnostic_msgs/msg/DiagnosticArray, with the same stamp) has offset,
drift, sigma, bounds, health and epoch. offset_ns is what was added to the device's time.
The exit code is 3 when a message was lost or could not be relayed; the count is printed.";

/// Longest wait for messages between checks for the end.
const SLICE: Duration = Duration::from_millis(200);
/// Timeout for reliable subscriptions to acknowledge the last message.
const PATIENCE: Duration = Duration::from_secs(2);

/// Publish a topic again with stamps on the host's clock
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    feed: FeedArguments,
    /// Topic of the relayed messages
    #[arg(short, long, value_name = "TOPIC")]
    output: String,
    /// The field that gets the host's time
    #[arg(long, value_name = "PATH", default_value = "header.stamp")]
    stamp_field: String,
    /// Name of the node
    #[arg(long, value_name = "NAME", default_value = "timeloom_relay")]
    node_name: String,
    /// Stop after this many messages
    #[arg(short = 'n', long, value_name = "COUNT")]
    limit: Option<u64>,
    /// Stop after this many seconds
    #[arg(short, long, value_name = "SECONDS", value_parser = seconds)]
    duration: Option<Duration>,
    #[command(flatten)]
    fields: FieldArguments,
    #[command(flatten)]
    limits: LimitsArguments,
    #[command(flatten)]
    live: LiveArguments,
}

/// Where the results go.
struct Outlets {
    messages: Box<dyn Publisher>,
    status: Box<dyn Publisher>,
    // Answers those who ask for the type of the messages.
    _described: TypeService,
}

pub(crate) fn run(arguments: &Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    let live = Live::join_as(&arguments.node_name, &arguments.live, context)?;
    let output = live.topic(&arguments.output)?;
    let Some(feed) = Feed::open(&arguments.feed, &live, context)? else {
        return Ok(Outcome::Done);
    };
    if output == feed.topic {
        let text = format!("--output {output} is the topic that is read");
        return Err(Failure::usage(text)
            .hint("choose another name, such as the topic with /synced behind it")
            .into());
    }
    let schema = TypeFinder::new().of_endpoint(&live, &feed.publisher)?;
    field_path::check(&schema, &feed.topic, &arguments.stamp_field)?;
    let fields = arguments.fields.of_topic(&schema, &feed.topic)?;
    let text = format!(
        "device time is {} of {}; {} has the host's",
        fields.device_field(),
        feed.topic,
        output
    );
    context.printer.aside(&text);
    let mut clock = arguments.limits.estimator.clock(arguments.limits.limits());
    clock.set_device_clock(arguments.fields.device_clock());
    if !fields.has_host_field() {
        clock.set_host_stamps(HostStamps::Steady);
    }
    let relay = Relay::new(schema, fields, clock, &arguments.stamp_field, &feed.topic);
    let mut relay = relay.map_err(|error| {
        Failure::new(error.to_string())
            .hint("name the field that gets the host's time with --stamp-field")
    })?;
    let outlets = Outlets::open(&live, &feed, &relay, &output)?;
    forward(arguments, &live, &feed, &mut relay, &outlets, context)?;
    outlets.settle();
    let lost = feed.report_loss(context);
    Ok(Outcome::lost_if(report(&relay, &output, context) || lost))
}

impl Outlets {
    fn open(live: &Live, feed: &Feed, relay: &Relay, output: &str) -> anyhow::Result<Self> {
        let (schema, status) = (relay.schema(), relay.status_schema());
        let spec = |name: String, schema: &timeloom_msg::Schema| TopicSpec {
            name,
            type_name: schema.name().clone(),
            type_hash: schema.type_hash().ok(),
            // As strong as the original, and no stronger.
            qos: feed.qos(),
        };
        let described = TypeService::start(live.node(), &live.base())?;
        for schema in [schema, status] {
            described.add(&Arc::new(schema.clone()));
        }
        Ok(Self {
            messages: live.node().publish(&spec(output.to_owned(), schema))?,
            status: live
                .node()
                .publish(&spec(format!("{output}/sync_status"), status))?,
            _described: described,
        })
    }

    /// Waits for what was sent last, if subscriptions acknowledge it.
    fn settle(&self) {
        for publisher in [&self.messages, &self.status] {
            // A transport without acknowledgements has nothing to wait for.
            let _acknowledged = publisher.wait_for_acknowledgements(PATIENCE);
        }
    }

    fn publish(&self, relayed: Relayed) -> anyhow::Result<()> {
        let options = PublishOptions::default;
        self.messages.publish(relayed.message, options())?;
        self.status.publish(relayed.status, options())?;
        Ok(())
    }
}

/// Publishes corrected messages until the limit is reached.
fn forward(
    arguments: &Arguments,
    live: &Live,
    feed: &Feed,
    relay: &mut Relay,
    outlets: &Outlets,
    context: &mut Context,
) -> anyhow::Result<()> {
    let steady = live.clock();
    let system = Clock::<System>::on(&live.base());
    let end = arguments
        .duration
        .map(|duration| steady.now().saturating_add(duration));
    let mut samples = Vec::new();
    loop {
        let left = end.map_or(SLICE, |end| (end - steady.now()).min(SLICE));
        feed.wait(&mut samples, left.max(Duration::ZERO));
        feed.report_events(context);
        for sample in samples.drain(..) {
            // A step of the system clock touches only the messages around it.
            let reading = Reading::take(&steady, &system);
            let pair = ClockPair::new(reading.after(), reading.other());
            let arrived = pair.to_steady(sample.receive_time);
            if let Some(relayed) = relay.relay(&sample.payload, arrived, &pair) {
                outlets.publish(relayed)?;
            }
            if arguments.limit.is_some_and(|limit| relay.taken() >= limit) {
                return Ok(());
            }
        }
        for text in relay.take_warnings() {
            context.printer.warning(&text);
        }
        let over = end.is_some_and(|end| steady.now() >= end);
        if over || live.interrupt().happened() {
            return Ok(());
        }
    }
}

/// Says what was relayed; true if a message was left out.
fn report(relay: &Relay, output: &str, context: &mut Context) -> bool {
    let relayed = counted(relay.relayed(), "message");
    context
        .printer
        .note(&format!("relayed {relayed} to {output}"));
    let left_out = relay.taken() - relay.relayed();
    if left_out > 0 {
        let first = relay.problem().unwrap_or("unknown");
        let text = format!(
            "{} left out; the first: {first}",
            counted(left_out, "message")
        );
        context.printer.loss(&text);
    }
    left_out > 0
}
