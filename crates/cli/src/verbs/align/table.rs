//! Reads the topics and writes the table.

use std::collections::BTreeMap;

use timeloom_bag::StorageReader as _;
use timeloom_columns::{
    AlignOptions, Alignment, Correction, Error, FileMetadata, Method, RowOrder, TimeBase,
    TopicReader, TopicRequest, TopicTimes, lost_in,
};
use timeloom_restamp::host_times;
use timeloom_text::{counted, nearest};

use super::{AlignMethod, Arguments, By};
use crate::context::Context;
use crate::damage;
use crate::decode::resolver;
use crate::failure::Failure;
use crate::outcome::Outcome;
use crate::table_output::TableOutput;
use crate::time_range::TimeRange;

pub(super) fn run(arguments: &Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    let info = context.bags.open_all(&arguments.bags)?.info().clone();
    let alignment = alignment(arguments, arguments.range.resolve(&info)?)?;
    let open = |request: &TopicRequest| -> anyhow::Result<TopicReader> {
        let bag = context.bags.open_all(&arguments.bags)?;
        Ok(TopicReader::new(bag, &resolver(), request)?)
    };
    let correction = (arguments.by == By::Sync).then_some(correct as Correction<_>);
    let started = alignment.start(&open, correction);
    let (stream, unusable) = started.map_err(|error| match error.downcast() {
        Ok(error) => explained(error),
        Err(other) => other,
    })?;
    let mut lost = lost_in(&info.damage);
    let found = unusable.into_iter().filter(|text| !lost.contains(text));
    lost.extend(found.collect::<Vec<_>>());
    let (rows, unmatched) = (stream.rows(), stream.unmatched());
    let metadata = metadata(arguments, &unmatched);
    let (schema, order) = (stream.schema(), RowOrder::FirstColumn);
    let mut output = TableOutput::create(&arguments.table, &schema, order, metadata)?;
    for batch in stream {
        output.write(&batch.map_err(explained)?, context)?;
    }
    output.finish(FileMetadata::new(), context)?;
    report(arguments, rows, &unmatched, context);
    context.printer.warnings(&lost);
    if let (Some(bag), Some(_)) = (arguments.bags.first(), info.damage.first()) {
        let remedy = damage::remedy(bag, &info.damage);
        context.printer.hint(&remedy.unwrap_or_default());
    }
    Ok(Outcome::lost_if(!lost.is_empty()))
}

/// The topics and their fields: `/imu/data`, or `/imu/data:linear_acceleration,header.stamp`.
fn requests(arguments: &Arguments) -> Result<Vec<TopicRequest>, Failure> {
    let mut requests: Vec<TopicRequest> = Vec::new();
    for text in &arguments.topics {
        let (topic, fields) = match text.split_once(':') {
            Some((topic, fields)) => (topic, Some(fields.split(',').map(str::to_owned).collect())),
            None => (text.as_str(), None),
        };
        if requests.iter().any(|known| known.topic == topic) {
            let text = format!("{topic} is named twice in --topics");
            let hint = format!("name all fields at once: {topic}:FIELD,FIELD");
            return Err(Failure::usage(text).hint(hint));
        }
        requests.push(TopicRequest {
            fields,
            ..TopicRequest::new(topic)
        });
    }
    Ok(requests)
}

fn alignment(arguments: &Arguments, range: TimeRange) -> Result<Alignment, Failure> {
    Ok(Alignment {
        to: TopicRequest {
            start_ns: range.start_ns,
            end_ns: range.end_ns,
            ..TopicRequest::new(&arguments.to)
        },
        topics: requests(arguments)?,
        base: match arguments.by {
            By::Log => TimeBase::LogTime,
            By::Publish => TimeBase::PublishTime,
            By::Header | By::Sync => TimeBase::HeaderStamp,
        },
        options: options(arguments),
    })
}

/// Replaces the stamps of a topic by times of the host's clock.
fn correct(times: &mut TopicTimes) -> anyhow::Result<()> {
    times.times = host_times(&times.topic, &times.times, &times.log_times)?;
    Ok(())
}

fn options(arguments: &Arguments) -> AlignOptions {
    AlignOptions {
        method: match arguments.method {
            AlignMethod::Nearest => Method::Nearest,
            AlignMethod::Previous => Method::Previous,
            AlignMethod::Interpolate => Method::Interpolate,
        },
        tolerance_ns: arguments.tolerance,
    }
}

/// Metadata of the file.
fn metadata(arguments: &Arguments, unmatched: &[(String, u64)]) -> FileMetadata {
    let counts: BTreeMap<&str, u64> = unmatched
        .iter()
        .map(|(topic, count)| (topic.as_str(), *count))
        .collect();
    let name = |value: &dyn std::fmt::Debug| format!("{value:?}").to_lowercase();
    let pairs = [
        ("to", arguments.to.clone()),
        ("method", name(&arguments.method)),
        ("by", name(&arguments.by)),
        ("unmatched", serde_json::json!(counts).to_string()),
    ];
    let tolerance = arguments.tolerance;
    let tolerance = tolerance.map(|tolerance| ("tolerance_ns", tolerance.to_string()));
    let pairs = pairs.into_iter().chain(tolerance);
    pairs
        .map(|(name, value)| (format!("timeloom.{name}"), value))
        .collect()
}

/// Reports the rows without a value of a topic.
fn report(arguments: &Arguments, rows: usize, unmatched: &[(String, u64)], context: &mut Context) {
    let place = arguments.table.output.as_ref();
    let place = place.map_or(String::new(), |path| format!("wrote {}: ", path.display()));
    let parts = unmatched.iter().map(|(topic, count)| match count {
        0 => format!("{topic} all matched"),
        count => format!("{topic} {count} without a partner"),
    });
    let parts = parts.collect::<Vec<_>>().join(", ");
    let rows = counted(rows as u64, "row");
    context.printer.note(&format!("{place}{rows}; {parts}"));
}

/// Errors with what to do about them; wrong names are wrong usage.
fn explained(error: Error) -> anyhow::Error {
    let text = error.to_string();
    let hint = match &error {
        Error::UnknownTopic { name, known } => {
            let near = nearest(name, known.iter().map(String::as_str));
            Some(near.map_or_else(
                || "`timeloom info <bag>` lists the topics".to_owned(),
                |near| format!("did you mean {near}?"),
            ))
        }
        Error::UnknownField { known, .. } => Some(format!("the fields are {}", known.join(", "))),
        Error::NoStamp { .. } => Some("use --by log or --by publish".to_owned()),
        Error::Overlap { .. } | Error::SeveralTypes { .. } => None,
        _ => return crate::table_output::explained(error),
    };
    Failure::usage(text).hint_if(hint).into()
}
