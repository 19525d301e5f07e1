//! `timeloom topic pub`.

use bytes::Bytes;
use clap::Args;
use timeloom_time::{Duration, Rate, WaitOptions};
use timeloom_wire::{PublishOptions, Publisher, TopicSpec};

use crate::context::Context;
use crate::failure::Failure;
use crate::json_text::counted;
use crate::live::{
    Live, LiveArguments, QosArguments, TypeFinder, full_name, message_value, seconds,
};
use crate::outcome::Outcome;

const EXAMPLES: &str = "\
EXAMPLES
  timeloom topic pub /chatter std_msgs/msg/String '{\"data\": \"hello\"}'      once a second until Ctrl-C
  timeloom topic pub /cmd_vel geometry_msgs/msg/Twist '{linear: {x: 0.5}}' -r 20
  timeloom topic pub /mode std_msgs/msg/UInt8 '{data: 1}' --once

The message is JSON or YAML; what is not said keeps its default.
With --once or -n the first message waits for a subscription, and the end for its acknowledgement.";

/// How often the number of subscriptions is looked at: publishers are told, but a wait must end at Ctrl-C too.
const LOOK_AGAIN: Duration = Duration::from_millis(10);
/// How long reliable subscriptions may take to acknowledge the last message.
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
    /// Messages per second
    #[arg(short, long, value_name = "HERTZ", default_value = "1")]
    rate: f64,
    /// Stop after this many messages
    #[arg(short = 'n', long, visible_alias = "times", value_name = "COUNT")]
    limit: Option<u64>,
    /// Stop after one message
    #[arg(short = '1', long, conflicts_with = "limit")]
    once: bool,
    /// Wait for this many subscriptions first [default: 1 with --once or -n, else 0]
    #[arg(short, long, value_name = "COUNT")]
    wait_matching_subscriptions: Option<usize>,
    /// Give up the wait for subscriptions after this time
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    max_wait_time_secs: Option<Duration>,
    #[command(flatten)]
    qos: QosArguments,
    #[command(flatten)]
    live: LiveArguments,
}

pub(crate) fn run(arguments: &Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    let topic = full_name(&arguments.topic)?;
    let schema = TypeFinder::new().by_name(&arguments.type_name)?;
    let payload = Bytes::from(schema.encode(&message_value(&schema, &arguments.message)?)?);
    let limit = if arguments.once {
        Some(1)
    } else {
        arguments.limit
    };
    let live = Live::join(&arguments.live, context)?;
    let clock = live.clock();
    let mut rate = Rate::from_hertz(&clock, arguments.rate)
        .map_err(|error| Failure::usage(format!("-r {}: {error}", arguments.rate)))?;
    let publisher = live.node().publish(&TopicSpec {
        name: topic.clone(),
        type_name: schema.name().clone(),
        type_hash: schema.type_hash().ok(),
        qos: arguments.qos.profile(),
    })?;
    let wanted = arguments
        .wait_matching_subscriptions
        .unwrap_or(usize::from(limit.is_some()));
    if !wait_for_subscriptions(
        &live,
        &*publisher,
        wanted,
        arguments.max_wait_time_secs,
        context,
    ) {
        if live.interrupt().happened() {
            return Ok(Outcome::Done);
        }
        let text = format!(
            "{} of {wanted} on {topic}",
            counted(publisher.matched() as u64, "subscription")
        );
        let hint = format!(
            "`timeloom topic info {topic} -v` shows who subscribes, and whose QoS does not match"
        );
        return Err(Failure::new(text).hint(hint).into());
    }
    let options = WaitOptions::new().cancel(live.interrupt().token());
    let mut sent = 0_u64;
    rate.reset();
    while !live.interrupt().happened() && limit.is_none_or(|limit| sent < limit) {
        publisher.publish(payload.clone(), PublishOptions::default())?;
        sent += 1;
        if limit != Some(sent) && rate.sleep_with(&options).is_err() {
            break;
        }
    }
    // Where there are none, messages are on their way in order, and leaving waits for them.
    let none = !live.participant().capabilities().acknowledgements;
    let acknowledged = none || publisher.wait_for_acknowledgements(PATIENCE)?;
    let to = counted(publisher.matched() as u64, "subscription");
    context.printer.note(&format!(
        "published {} on {topic} to {to}",
        counted(sent, "message")
    ));
    if !acknowledged {
        let text = format!(
            "not every subscription of {topic} has acknowledged all messages within {PATIENCE}"
        );
        context.printer.warning(&text);
    }
    Ok(Outcome::lost_if(!acknowledged))
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
