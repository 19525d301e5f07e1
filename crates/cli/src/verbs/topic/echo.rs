//! `timeloom topic echo`: messages as they come, as JSON lines.

use clap::Args;
use timeloom_bag::{Message, TopicId};
use timeloom_msg::Schema;
use timeloom_msg::value::JsonStyle;
use timeloom_time::Duration;
use timeloom_wire::Sample;

use crate::context::Context;
use crate::field_path;
use crate::json_text::counted;
use crate::live::{Feed, FeedArguments, Live, LiveArguments, SimClock, TypeFinder};
use crate::message_line::{Content, TimeFormat, line};
use crate::outcome::Outcome;
use crate::verbs::topic::left_out::LeftOut;

const EXAMPLES: &str = "\
EXAMPLES
  timeloom topic echo /odom                               every message, one line of JSON each
  timeloom topic echo /fix --field latitude               one number per line
  timeloom topic echo /chatter -n 5                       five messages, then it ends
  timeloom topic echo /camera/image_raw --no-arr          without the pixels
  timeloom topic echo /chatter std_msgs/msg/String        also before there is a publisher
  timeloom topic echo /odom -s                            log_time in simulated time
  timeloom topic echo /tf | jq -c .message

Lines are those of `timeloom cat`: log_time is when the message came, publish_time when it was sent.
With --use-sim-time, log_time is that of /clock, and 0 before its first time.
Definitions come from the built-in ones, AMENT_PREFIX_PATH, or the node that publishes (~/get_type_description).
Messages that were lost are counted at the end; the exit code is then 3.";

/// Long enough to sleep, short enough to notice what no event tells.
const PAUSE: Duration = Duration::from_secs(1);

/// Print messages as they come
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of the command line"
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    feed: FeedArguments,
    /// Stop after this many messages
    #[arg(short = 'n', long, value_name = "COUNT")]
    limit: Option<u64>,
    /// Stop after one message
    #[arg(long, conflicts_with = "limit")]
    once: bool,
    /// Only this field, such as `header.stamp.sec` or `points[0].x`
    #[arg(long, value_name = "PATH", conflicts_with_all = ["raw", "no_arr", "no_str"])]
    field: Option<String>,
    /// Only the type and length of arrays
    #[arg(long)]
    no_arr: bool,
    /// Only the length of texts
    #[arg(long)]
    no_str: bool,
    /// Payloads as base64 instead of decoded messages
    #[arg(long)]
    raw: bool,
    /// Measure `log_time` by `/clock`, not the machine's time
    #[arg(short = 's', long)]
    use_sim_time: bool,
    /// How times are written
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    time_format: TimeFormat,
    #[command(flatten)]
    live: LiveArguments,
}

pub(crate) fn run(arguments: &Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    let live = Live::join(&arguments.live, context)?;
    let simulated = arguments.use_sim_time.then(|| SimClock::new(&live));
    let simulated = simulated.transpose()?;
    let time = simulated.as_ref().map(SimClock::clock);
    let Some(feed) = Feed::open_timed(&arguments.feed, &live, time, context)? else {
        return Ok(Outcome::Done);
    };
    let schema = schema(arguments, &live, &feed, context)?;
    let limit = if arguments.once {
        Some(1)
    } else {
        arguments.limit
    };
    let (mut printed, mut undecoded) = (0, 0);
    let mut samples = Vec::new();
    while !live.interrupt().happened() && limit.is_none_or(|limit| printed < limit) {
        samples.clear();
        feed.wait(&mut samples, PAUSE);
        feed.report_events(context);
        if let Some(simulated) = &simulated {
            simulated.report(context);
        }
        for sample in &samples {
            if limit.is_some_and(|limit| printed >= limit) {
                break;
            }
            let (text, decoded) = text(arguments, schema.as_ref(), &feed.topic, sample);
            undecoded += u64::from(!decoded);
            printed += 1;
            writeln!(context.printer.data(), "{text}")?;
        }
        // People watch: what came is shown before the next wait.
        context.printer.flush()?;
    }
    if undecoded > 0 {
        let text = format!(
            "{} could not be decoded; `--raw` prints the payload",
            counted(undecoded, "message")
        );
        context.printer.warning(&text);
    }
    let lost = feed.report_loss(context);
    Ok(Outcome::lost_if(lost || undecoded > 0))
}

/// The layout of the messages; `None` when payloads are printed instead.
fn schema(
    arguments: &Arguments,
    live: &Live,
    feed: &Feed,
    context: &mut Context,
) -> anyhow::Result<Option<Schema>> {
    if arguments.raw {
        return Ok(None);
    }
    match TypeFinder::new().of_endpoint(live, &feed.publisher) {
        Ok(schema) => {
            if let Some(field) = &arguments.field {
                field_path::check(&schema, &feed.topic, field)?;
            }
            Ok(Some(schema))
        }
        Err(reason) => {
            context
                .printer
                .warning(&format!("{reason}; payloads are printed as base64"));
            Ok(None)
        }
    }
}

/// The line of a message, and whether it could be decoded.
fn text(
    arguments: &Arguments,
    schema: Option<&Schema>,
    topic: &str,
    sample: &Sample,
) -> (String, bool) {
    let received = sample.receive_time.nanos();
    let message = Message {
        topic: TopicId(0),
        log_time_ns: received,
        publish_time_ns: sample
            .source_time
            .map_or(received, timeloom_time::Time::nanos),
        sequence: 0,
        data: &sample.payload,
    };
    let times = arguments.time_format;
    let Some(schema) = schema else {
        return (line(topic, &message, &Content::Raw, times), true);
    };
    let decoded = schema.decode(&sample.payload).map(|mut value| {
        let left_out = LeftOut {
            arrays: arguments.no_arr,
            texts: arguments.no_str,
        };
        left_out.shorten(&mut value);
        value
    });
    match (decoded, &arguments.field) {
        (Ok(value), None) => (line(topic, &message, &Content::Value(&value), times), true),
        (Ok(value), Some(field)) => {
            let mut text = String::new();
            match value.get(field) {
                Some(value) => value.write_json(&mut text, JsonStyle::default()),
                // An element beyond the end of this message's sequence.
                None => text.push_str("null"),
            }
            (text, true)
        }
        (Err(error), _) => {
            let reason = format!("cannot decode {}: {error}", schema.name());
            (
                line(topic, &message, &Content::Error(&reason), times),
                false,
            )
        }
    }
}
