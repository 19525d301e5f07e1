//! `timeloom topic echo`: messages as they come, as JSON lines.

use clap::Args;
use serde_json::json;
use timeloom_bag::export::{self, LineContent, json_line};
use timeloom_bag::{Message, TopicId};
use timeloom_msg::value::JsonStyle;
use timeloom_msg::{Schema, Value};
use timeloom_text::counted;
use timeloom_time::{Clock, Duration, Steady, Time};
use timeloom_wire::Sample;

use crate::context::Context;
use crate::field_path;
use crate::live::{
    Feed, FeedArguments, FeedTimes, Live, LiveArguments, MessageFilter, SimClock, TypeFinder,
    seconds,
};
use crate::outcome::Outcome;
use crate::time_format::TimeFormat;
use crate::verbs::topic::left_out::LeftOut;

const EXAMPLES: &str = "\
EXAMPLES
  timeloom topic echo /odom                               every message, one line of JSON each
  timeloom topic echo /fix --field latitude               one number per line
  timeloom topic echo /chatter -n 5                       five messages, then it ends
  timeloom topic echo /camera/image_raw --no-arr          without the pixels
  timeloom topic echo /scan -l 8                          arrays and texts up to eight elements
  timeloom topic echo /imu --csv > imu.csv                all values, separated by commas
  timeloom topic echo /battery --filter 'm.percentage < 0.2'
  timeloom topic echo /odom --timeout 10                  what comes within ten seconds
  timeloom topic echo /chatter std_msgs/msg/String        also before there is a publisher
  timeloom topic echo /odom -s                            log_time in simulated time
  timeloom topic echo /tf | jq -c .message

Lines are those of `timeloom cat`: log_time is when the message came, publish_time when it was sent.
With --use-sim-time, log_time is that of /clock, and 0 before its first time.
Definitions come from the built-in ones, AMENT_PREFIX_PATH, or the node that publishes (~/get_type_description).
--filter takes fields of m, numbers, texts, True, False, == != < <= > >= in, len(), and, or, not and parentheses; no
other Python. Messages that were lost are counted at the end; the exit code is then 3.";

/// Polling interval for conditions without an event.
const PAUSE: Duration = Duration::from_secs(1);

/// Print messages as they come
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    feed: FeedArguments,
    /// Stop after this many messages
    #[arg(short = 'n', long, value_name = "COUNT")]
    limit: Option<u64>,
    /// Stop after one message
    #[arg(long, conflicts_with = "limit")]
    once: bool,
    /// Stop after this many seconds, also while waiting for a publisher
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    timeout: Option<Duration>,
    /// Only messages for which this is true, such as "m.data > 3"; with --field, m is that field
    #[arg(long, value_name = "EXPRESSION", conflicts_with = "raw")]
    filter: Option<MessageFilter>,
    #[command(flatten)]
    shown: ShownArguments,
    /// Measure `log_time` by `/clock`, not the machine's time
    #[arg(short = 's', long)]
    use_sim_time: bool,
    /// Do not print the number of lost messages; the exit code is the same
    #[arg(long)]
    no_lost_messages: bool,
    #[command(flatten)]
    live: LiveArguments,
}

/// The part of a message that is shown.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of the command line"
)]
struct ShownArguments {
    /// Only this field, such as `header.stamp.sec` or `points[0].x`
    #[arg(long, value_name = "PATH", conflicts_with = "raw")]
    field: Option<String>,
    /// All values of a message, separated by commas; no topic and no times
    #[arg(long, conflicts_with = "raw")]
    csv: bool,
    /// Print send and arrival time and sequence numbers before each message; with --csv, in the same line
    #[arg(short = 'i', long)]
    include_message_info: bool,
    /// Maximum number of array elements and of characters that are shown [default: all]
    #[arg(
        short = 'l',
        long,
        value_name = "LENGTH",
        conflicts_with = "full_length"
    )]
    truncate_length: Option<usize>,
    /// Accepted for compatibility with ros2; everything is printed in full
    #[arg(short = 'f', long)]
    full_length: bool,
    /// Only the type and length of arrays
    #[arg(long)]
    no_arr: bool,
    /// Only the length of texts
    #[arg(long)]
    no_str: bool,
    /// Accepted for compatibility with ros2; JSON is the flow style of YAML
    #[arg(long)]
    flow_style: bool,
    /// Payloads as base64 instead of decoded messages
    #[arg(long)]
    raw: bool,
    /// Time format
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    time_format: TimeFormat,
}

impl Arguments {
    fn limit(&self) -> Option<u64> {
        if self.once { Some(1) } else { self.limit }
    }
}

/// Progress of the output.
#[derive(Default)]
struct Progress {
    received: u64,
    printed: u64,
    undecoded: u64,
}

pub(crate) fn run(arguments: &Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    let live = Live::join(&arguments.live, context)?;
    let simulated = live.uses_sim_time(arguments.use_sim_time);
    let simulated = simulated.then(|| SimClock::new(&live)).transpose()?;
    let clock = live.clock();
    let end = arguments
        .timeout
        .map(|timeout| clock.now().saturating_add(timeout));
    let times = FeedTimes {
        clock: simulated.as_ref().map(SimClock::clock),
        patience: arguments.timeout,
    };
    let Some(feed) = Feed::open_timed(&arguments.feed, &live, times, context)? else {
        return Ok(Outcome::Done);
    };
    let schema = schema(arguments, &live, &feed, context)?;
    let limit = arguments.limit();
    let mut progress = Progress::default();
    let mut samples = Vec::new();
    while !live.interrupt().happened()
        && limit.is_none_or(|limit| progress.printed < limit)
        && end.is_none_or(|end| clock.now() < end)
    {
        samples.clear();
        feed.wait(&mut samples, left(end, &clock));
        feed.report_events(context);
        if let Some(simulated) = &simulated {
            simulated.report(context);
        }
        for sample in &samples {
            if limit.is_some_and(|limit| progress.printed >= limit) {
                break;
            }
            let text = text(
                arguments,
                schema.as_ref(),
                (&feed.topic, sample),
                &mut progress,
            )?;
            if let Some(text) = text {
                writeln!(context.printer.data(), "{text}")?;
            }
        }
        // Flush before waiting, so that received messages are visible.
        context.printer.flush()?;
    }
    if progress.undecoded > 0 {
        let text = format!(
            "{} could not be decoded; `--raw` prints the payload",
            counted(progress.undecoded, "message")
        );
        context.printer.loss(&text);
    }
    let lost = if arguments.no_lost_messages {
        feed.account().is_lossy()
    } else {
        feed.report_loss(context)
    };
    Ok(Outcome::lost_if(lost || progress.undecoded > 0))
}

/// How long to wait for messages now.
fn left(end: Option<Time<Steady>>, clock: &Clock<Steady>) -> Duration {
    end.map_or(PAUSE, |end| {
        let left = end.checked_since(clock.now()).unwrap_or_default();
        left.clamp(Duration::ZERO, PAUSE)
    })
}

/// The layout of the messages; `None` when payloads are printed instead.
fn schema(
    arguments: &Arguments,
    live: &Live,
    feed: &Feed,
    context: &mut Context,
) -> anyhow::Result<Option<Schema>> {
    let shown = &arguments.shown;
    if shown.raw {
        return Ok(None);
    }
    match TypeFinder::new().of_endpoint(live, &feed.publisher) {
        Ok(schema) => {
            if let Some(field) = &shown.field {
                field_path::check(&schema, &feed.topic, field)?;
            }
            if let Some(filter) = &arguments.filter {
                filter.check(&schema, &feed.topic, shown.field.as_deref())?;
            }
            Ok(Some(schema))
        }
        // Without a layout there are no fields to look at.
        Err(reason) if arguments.filter.is_some() || shown.csv => Err(reason.into()),
        Err(reason) => {
            context
                .printer
                .warning(&format!("{reason}; payloads are printed as base64"));
            Ok(None)
        }
    }
}

/// The text of a message; none if it is filtered out.
fn text(
    arguments: &Arguments,
    schema: Option<&Schema>,
    (topic, sample): (&str, &Sample),
    progress: &mut Progress,
) -> anyhow::Result<Option<String>> {
    progress.received += 1;
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
    let shown = &arguments.shown;
    let times: export::TimeFormat = shown.time_format.into();
    let text = match schema.map(|schema| (schema, schema.decode(&sample.payload))) {
        None => json_line(topic, &message, LineContent::Raw, times),
        Some((schema, Err(error))) => {
            progress.undecoded += 1;
            let reason = format!("cannot decode {}: {error}", schema.name());
            json_line(topic, &message, LineContent::Error(&reason), times)
        }
        Some((_, Ok(value))) => {
            if let Some(filter) = &arguments.filter
                && !filter.takes(&value, shown.field.as_deref())?
            {
                return Ok(None);
            }
            shown.text(value, |value| {
                json_line(topic, &message, LineContent::Value(value), times)
            })
        }
    };
    progress.printed += 1;
    Ok(Some(match (shown.include_message_info, shown.csv) {
        (false, _) => text,
        (true, false) => format!("{}\n{text}", info(&message, sample, progress.received)),
        (true, true) => {
            let number = sample.sequence.map(|number| number.to_string());
            format!(
                "{},{},{},{},{text}",
                times.text(message.publish_time_ns),
                times.text(message.log_time_ns),
                number.unwrap_or_default(),
                progress.received
            )
        }
    }))
}

/// The metadata of a message, by the names of ROS.
fn info(message: &Message<'_>, sample: &Sample, received: u64) -> String {
    json!({
        "source_timestamp": message.publish_time_ns,
        "received_timestamp": message.log_time_ns,
        "publication_sequence_number": sample.sequence,
        "reception_sequence_number": received,
    })
    .to_string()
}

impl ShownArguments {
    /// The selected part of a message; `whole` formats all of it.
    fn text(&self, value: Value, whole: impl Fn(&Value) -> String) -> String {
        let mut part = match &self.field {
            None => value,
            Some(field) => match value.get(field) {
                Some(part) => part,
                // An element beyond the end of this message's sequence.
                None => return "null".to_owned(),
            },
        };
        let left_out = LeftOut {
            arrays: self.no_arr,
            texts: self.no_str,
            longest: self.truncate_length,
        };
        left_out.shorten(&mut part);
        match (self.csv, &self.field) {
            (true, _) => part.to_csv(),
            (false, None) => whole(&part),
            (false, Some(_)) => {
                let mut text = String::new();
                part.write_json(&mut text, JsonStyle::default());
                text
            }
        }
    }
}
