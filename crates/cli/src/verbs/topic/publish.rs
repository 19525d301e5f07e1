//! `timeloom topic pub`.

use std::sync::Arc;

use clap::Args;
use timeloom_msg::{QosProfile, Schema};
use timeloom_node::TypeService;
use timeloom_text::counted;
use timeloom_time::{Clock, Duration, Rate, System, WaitOptions, WireTime};
use timeloom_wire::{PublishOptions, Publisher, TopicSpec};

use crate::context::Context;
use crate::failure::Failure;
use crate::live::{
    Live, LiveArguments, QosArguments, SimClock, Template, TypeFinder, hertz, seconds,
};
use crate::outcome::Outcome;

const EXAMPLES: &str = "\
EXAMPLES
  timeloom topic pub /chatter std_msgs/msg/String '{\"data\": \"hello\"}'      once a second until Ctrl-C
  timeloom topic pub /cmd_vel geometry_msgs/msg/Twist '{linear: {x: 0.5}}' -r 20
  timeloom topic pub /mode std_msgs/msg/UInt8 '{data: 1}' --once
  timeloom topic pub /point geometry_msgs/msg/PointStamped '{header: auto, point: {x: 1}}'
  timeloom topic pub /map_name std_msgs/msg/String --stdin --once < name.yaml

The message is JSON or YAML; missing fields have their defaults; a time may be `now` and a header `auto`.
With --once or -t the first message waits for a subscription, and the end for its acknowledgement.";

/// Polling interval of the subscription count, so that Ctrl-C ends the wait.
const LOOK_AGAIN: Duration = Duration::from_millis(10);
/// Timeout for reliable subscriptions to acknowledge the last message.
const PATIENCE: Duration = Duration::from_secs(10);

/// Publish a message, once or again and again
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The topic
    #[arg(value_name = "TOPIC")]
    topic: String,
    /// Its type, such as `std_msgs/msg/String`
    #[arg(value_name = "TYPE")]
    type_name: String,
    /// The message as JSON or YAML
    #[arg(value_name = "MESSAGE", default_value = "{}")]
    message: String,
    /// Read the message from standard input
    #[arg(long)]
    stdin: bool,
    /// Messages per second
    #[arg(short, long, value_name = "HERTZ", default_value = "1", value_parser = hertz)]
    rate: f64,
    /// Stop after this many messages
    #[arg(short, long, visible_alias = "limit", value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..))]
    times: Option<u64>,
    /// Stop after one message
    #[arg(short = '1', long, conflicts_with = "times")]
    once: bool,
    /// Wait for this many subscriptions first [default: 1 with --once or -t, else 0]
    #[arg(short, long, value_name = "COUNT")]
    wait_matching_subscriptions: Option<usize>,
    /// Stop waiting for subscriptions after this time
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    max_wait_time_secs: Option<Duration>,
    /// Keep running for this long after the last message, for late joiners
    #[arg(long, value_name = "SECONDS", default_value = "0", value_parser = seconds)]
    keep_alive: Duration,
    /// Print every n-th message as JSON; 0 prints none
    #[arg(short, long, value_name = "NUMBER", default_value = "0")]
    print: u64,
    /// The name of the publishing node [default: a hidden one]
    #[arg(short, long, value_name = "NAME")]
    node_name: Option<String>,
    /// Use the time of `/clock` for `now` and `auto`; the first message waits for it
    #[arg(short = 's', long)]
    use_sim_time: bool,
    #[command(flatten)]
    qos: QosArguments,
    #[command(flatten)]
    live: LiveArguments,
}

impl Arguments {
    fn limit(&self) -> Option<u64> {
        if self.once { Some(1) } else { self.times }
    }

    fn template(&self, schema: &Schema) -> anyhow::Result<Template> {
        Template::new(schema, (!self.stdin).then_some(self.message.as_str()))
    }

    fn join(&self, context: &mut Context) -> anyhow::Result<Live> {
        match &self.node_name {
            Some(name) => Live::join_as(name, &self.live, context),
            None => Live::join(&self.live, context),
        }
    }
}

pub(crate) fn run(arguments: &Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    if arguments.stdin && arguments.message != "{}" {
        return Err(Failure::usage("a message and --stdin cannot be used together").into());
    }
    let types = TypeFinder::new();
    // Check what is known locally before using the network.
    let here = match types.by_name(&arguments.type_name) {
        Ok(schema) => Ok((arguments.template(&schema)?, schema)),
        Err(unknown) => Err(unknown),
    };
    let live = arguments.join(context)?;
    let topic = live.topic(&arguments.topic)?;
    let (template, schema) = match here {
        Ok(known) => known,
        Err(unknown) => {
            let schema = types.of_others(&live, &arguments.type_name, unknown)?;
            (arguments.template(&schema)?, schema)
        }
    };
    let publisher = live.node().publish(&TopicSpec {
        name: topic.clone(),
        type_name: schema.name().clone(),
        type_hash: schema.type_hash().ok(),
        qos: arguments.qos.over(QosProfile::DEFAULT),
    })?;
    // Subscribers without the package ask for the type.
    let described = TypeService::start(live.node(), &live.base())?;
    described.add(&Arc::new(schema.clone()));
    let wanted = arguments
        .wait_matching_subscriptions
        .unwrap_or(usize::from(arguments.limit().is_some()));
    let enough = wait_for_subscriptions(
        &live,
        &*publisher,
        wanted,
        arguments.max_wait_time_secs,
        context,
    );
    if !enough {
        return ended_early(&live, &*publisher, wanted, &topic);
    }
    let sent = send(arguments, &live, (&*publisher, &template, &schema), context)?;
    finish(arguments, &live, &*publisher, &sent, &topic, context)
}

/// The messages that were sent.
#[derive(Debug, Default)]
struct Sent {
    messages: u64,
    /// Number of subscriptions at the last message; one may leave as soon as it has it.
    subscriptions: usize,
}

/// Sends until the limit or Ctrl-C.
fn send(
    arguments: &Arguments,
    live: &Live,
    (publisher, template, schema): (&dyn Publisher, &Template, &Schema),
    context: &mut Context,
) -> anyhow::Result<Sent> {
    let clock = live.clock();
    let mut rate = Rate::from_hertz(&clock, arguments.rate)
        .map_err(|error| Failure::usage(format!("-r {}: {error}", arguments.rate)))?;
    let simulated = arguments.use_sim_time.then(|| SimClock::new(live));
    let simulated = simulated.transpose()?;
    if let Some(simulated) = &simulated
        && !simulated.wait_for_time(live, context)
    {
        return Ok(Sent::default());
    }
    let machine = Clock::<System>::on(&live.base());
    let now = || match &simulated {
        Some(simulated) => WireTime::saturating_from(simulated.clock().now()),
        None => WireTime::saturating_from(machine.now()),
    };
    let options = WaitOptions::new().cancel(live.interrupt().token());
    let limit = arguments.limit();
    let mut sent = Sent::default();
    rate.reset();
    while !live.interrupt().happened() && limit.is_none_or(|limit| sent.messages < limit) {
        let payload = template.payload(now)?;
        sent.subscriptions = publisher.matched();
        publisher.publish(payload.clone(), PublishOptions::default())?;
        sent.messages += 1;
        if arguments.print > 0 && sent.messages.is_multiple_of(arguments.print) {
            let text = schema.decode(&payload)?.to_json();
            writeln!(context.printer.data(), "{text}")?;
            context.printer.flush()?;
        }
        if let Some(simulated) = &simulated {
            simulated.report(context);
        }
        if limit != Some(sent.messages) && rate.sleep_with(&options).is_err() {
            break;
        }
    }
    Ok(sent)
}

/// Waits for acknowledgements and reports the result.
fn finish(
    arguments: &Arguments,
    live: &Live,
    publisher: &dyn Publisher,
    sent: &Sent,
    topic: &str,
    context: &mut Context,
) -> anyhow::Result<Outcome> {
    let options = WaitOptions::new().cancel(live.interrupt().token());
    if arguments.keep_alive > Duration::from_nanos(0) {
        let _woke = live.clock().sleep_for_with(arguments.keep_alive, &options);
    }
    // Where there are none, messages are on their way in order, and leaving waits for them.
    let none = !live.participant().capabilities().acknowledgements;
    let acknowledged = none || publisher.wait_for_acknowledgements(PATIENCE)?;
    let to = counted(sent.subscriptions as u64, "subscription");
    context.printer.note(&format!(
        "published {} on {topic} to {to}",
        counted(sent.messages, "message")
    ));
    if !acknowledged {
        let text = format!(
            "not every subscription of {topic} has acknowledged all messages within {PATIENCE}"
        );
        context.printer.loss(&text);
    }
    Ok(Outcome::lost_if(!acknowledged))
}

/// There were not enough subscriptions.
fn ended_early(
    live: &Live,
    publisher: &dyn Publisher,
    wanted: usize,
    topic: &str,
) -> anyhow::Result<Outcome> {
    if live.interrupt().happened() {
        return Ok(Outcome::Done);
    }
    let text = format!(
        "{} of {wanted} on {topic}",
        counted(publisher.matched() as u64, "subscription")
    );
    let hint = format!(
        "`timeloom topic info {topic} -v` shows the subscriptions and why they do not match"
    );
    Err(Failure::new(text).hint(hint).into())
}

/// True once there are enough; false at the limit of time and at Ctrl-C.
fn wait_for_subscriptions(
    live: &Live,
    publisher: &dyn Publisher,
    wanted: usize,
    limit: Option<Duration>,
    context: &mut Context,
) -> bool {
    if publisher.matched() >= wanted {
        return true;
    }
    let text = format!("waiting for {}", counted(wanted as u64, "subscription"));
    context.printer.aside(&text);
    let clock = live.clock();
    let end = limit.map(|limit| clock.now().saturating_add(limit));
    let options = WaitOptions::new().cancel(live.interrupt().token());
    while publisher.matched() < wanted {
        let over = end.is_some_and(|end| clock.now() >= end);
        if over || live.interrupt().happened() {
            return false;
        }
        let _woke = clock.sleep_for_with(LOOK_AGAIN, &options);
    }
    true
}
