//! `timeloom cat`: messages as JSON lines.

mod frames;

use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use timeloom_bag::export::{LineContent, json_line};
use timeloom_bag::{
    BagReader, Decoder, Message, Order, Query, StorageReader as _, TopicId, TopicInfo,
};
use timeloom_msg::value::JsonStyle;
use timeloom_text::{counted, indent_json};

use crate::context::Context;
use crate::decode::decoder;
use crate::failure::Failure;
use crate::outcome::Outcome;
use crate::selection_arguments::SelectionArguments;
use crate::time_format::TimeFormat;
use crate::time_range::TimeRangeArguments;
use crate::topic_selection::CheckSelection as _;
use crate::{damage, field_path, hint};

const EXAMPLES: &str = "\
EXAMPLES
  timeloom cat my_bag                                        every message, one line of JSON each
  timeloom cat my_bag --topics /imu/data -n 1 --format json-pretty
  timeloom cat my_bag --topics /fix --field latitude         one number per line
  timeloom cat my_bag --start +10s --end +12s -e '^/camera' --raw
  timeloom cat my_bag --topics /chatter --reverse -n 5       the last five, newest first
  timeloom cat my_bag | jq -c 'select(.topic == \"/tf\") | .message'

A message that cannot be decoded is a line with \"error\" in place of \"message\"; the exit code is then 3.";

/// Print messages as JSON, with filters and limits
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The bags, read as one in log-time order
    #[arg(value_name = "BAG", required = true)]
    bags: Vec<PathBuf>,
    /// Stop after this many messages
    #[arg(short = 'n', long, value_name = "COUNT")]
    limit: Option<u64>,
    /// Newest first
    #[arg(long)]
    reverse: bool,
    /// Payloads as base64 instead of decoded messages
    #[arg(long, conflicts_with = "field")]
    raw: bool,
    /// Only this field, such as `header.stamp.sec` or `points[0].x`
    #[arg(long, value_name = "PATH")]
    field: Option<String>,
    /// Output format
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: CatFormat,
    /// Time format
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    time_format: TimeFormat,
    #[command(flatten)]
    range: TimeRangeArguments,
    #[command(flatten)]
    selection: SelectionArguments,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum CatFormat {
    /// One line of JSON per message
    #[default]
    Ndjson,
    /// Indented JSON
    JsonPretty,
    /// A binary stream for programs: a line of JSON, then topic, length, times and payload of each message
    Frames,
}

pub(crate) fn run(arguments: &Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    let mut reader = context.bags.open_all(&arguments.bags)?;
    let info = reader.info().clone();
    if arguments.format == CatFormat::Frames && arguments.field.is_some() {
        let text = "--field cannot be used with --format frames";
        return Err(Failure::usage(text).hint("use only one of them").into());
    }
    let selection = arguments.selection.selection();
    selection.check_names(&info.topics)?;
    selection.check_not_empty(&info.topics)?;
    let range = arguments.range.resolve(&info)?;
    let taken = info
        .topics
        .iter()
        .enumerate()
        .filter(|(_, topic)| selection.takes(topic));
    let taken: Vec<TopicId> = taken
        .filter_map(|(index, _)| TopicId::from_index(index))
        .collect();
    let decoder = decoder(&info);
    if let Some(field) = &arguments.field {
        check_field(&decoder, &info.topics, &taken, field)?;
    }
    let order = if arguments.reverse {
        Order::ReverseLogTime
    } else {
        Order::LogTime
    };
    reader.start(&Query {
        order,
        topics: Some(taken),
        start_ns: range.start_ns,
        end_ns: range.end_ns,
    })?;
    context.printer.warnings(&info.damage);
    let mut printed = Printed::default();
    if damage::means_loss(&info.damage) {
        printed.lost.clone_from(&info.damage);
    }
    if arguments.format == CatFormat::Frames {
        let header = frames::header(&info, &decoder);
        writeln!(context.printer.data(), "{header}")?;
        print(
            arguments,
            &mut reader,
            context,
            &mut printed,
            |out, message| frames::write(out, message).map(|()| true),
        )?;
        frames::end(context.printer.data(), &printed.lost)?;
    } else {
        print(
            arguments,
            &mut reader,
            context,
            &mut printed,
            |out, message| {
                let topic = info.topics.get(message.topic.index());
                let name = topic.map_or("", |topic| topic.name.as_str());
                let (text, decoded) = text(arguments, &decoder, name, message);
                writeln!(out, "{text}").map(|()| decoded)
            },
        )?;
    }
    if printed.undecoded > 0 {
        let text = format!(
            "{} could not be decoded; `--raw` prints the payload",
            counted(printed.undecoded, "message")
        );
        context.printer.warning(&text);
    }
    let lost = !printed.lost.is_empty();
    if let (Some(bag), true) = (arguments.bags.first(), lost) {
        context.printer.hint(&hint::recover(bag));
    }
    Ok(Outcome::lost_if(lost || printed.undecoded > 0))
}

/// Problems with the messages.
#[derive(Default)]
struct Printed {
    /// Descriptions of missing data.
    lost: Vec<String>,
    undecoded: u64,
}

/// Prints every message of the query with `write`, which returns whether it could be decoded.
fn print(
    arguments: &Arguments,
    reader: &mut BagReader,
    context: &mut Context,
    printed: &mut Printed,
    write: impl Fn(&mut dyn Write, &Message<'_>) -> io::Result<bool>,
) -> anyhow::Result<()> {
    let mut count = 0;
    while arguments.limit.is_none_or(|limit| count < limit) {
        match reader.next_message() {
            Ok(Some(message)) => {
                let decoded = write(context.printer.data(), &message)?;
                printed.undecoded += u64::from(!decoded);
                count += 1;
            }
            Ok(None) => break,
            Err(error) if !error.is_damage() => return Err(error.into()),
            Err(error) => {
                context.printer.warning(&error.to_string());
                printed.lost.push(error.to_string());
            }
        }
    }
    Ok(())
}

/// A field that the topic cannot have is refused before anything is printed.
fn check_field(
    decoder: &Decoder,
    topics: &[TopicInfo],
    taken: &[TopicId],
    field: &str,
) -> anyhow::Result<()> {
    for id in taken {
        let name = topics
            .get(id.index())
            .map_or("", |topic| topic.name.as_str());
        if let Ok(schema) = decoder.schema(id.index()) {
            field_path::check(schema, name, field)?;
        }
    }
    Ok(())
}

/// The text of a message, and whether it could be decoded.
fn text(
    arguments: &Arguments,
    decoder: &Decoder,
    name: &str,
    message: &Message<'_>,
) -> (String, bool) {
    let times = arguments.time_format.into();
    let (text, decoded) = if arguments.raw {
        (json_line(name, message, LineContent::Raw, times), true)
    } else {
        match (decoder.decode(message), &arguments.field) {
            (Ok(value), None) => {
                let content = LineContent::Value(&value);
                (json_line(name, message, content, times), true)
            }
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
                let reason = error.to_string();
                let content = LineContent::Error(&reason);
                (json_line(name, message, content, times), false)
            }
        }
    };
    let text = if arguments.format == CatFormat::JsonPretty {
        indent_json(&text)
    } else {
        text
    };
    (text, decoded)
}
