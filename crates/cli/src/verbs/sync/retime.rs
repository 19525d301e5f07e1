//! `timeloom sync retime`: `header.stamp` of a bag's topics, on the host's clock.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use timeloom_bag::{
    BagOptions, BagReader, StorageId, StorageOptions, StorageReader as _, TopicInfo,
};
use timeloom_restamp::{ORIGINAL_HEADER, Retimed, RetimedTopic, retime};
use timeloom_sync::{Limits, Mapping, Sample, smooth};
use timeloom_text::counted;

use super::bag_samples::{no_topic, read_topic};
use super::device_field::FieldArguments;
use super::limits_arguments::LimitsArguments;
use crate::context::Context;
use crate::decode::decoder;
use crate::extras::warn_left_out;
use crate::failure::Failure;
use crate::outcome::Outcome;

const EXAMPLES: &str = "\
EXAMPLES
  timeloom sync retime my_bag -o better --topic /scan                   its stamps are those of the sensor
  timeloom sync retime my_bag -o better --topic /scan --topic /imu      each has a clock of its own
  timeloom sync retime my_bag -o better --topic /scan --clock-topic /r2000_header
  timeloom sync retime my_bag -o better --topic /scan --least-delay 300
  timeloom sync retime my_bag -o better --topic /imu --device-field ticks --device-unit us

header.stamp, or what --device-field names, is read as device time, related to the time of receiving, smoothed forwards and backwards, and replaced by
host time. The original header of every message is kept in <topic>/original_header (std_msgs/msg/Header) with the same
log time; metadata.yaml describes the change under timeloom_retime. With --clock-topic one topic gives the mapping for
all others; --device-field is then a field of that topic, and the others have the device's time in header.stamp. Messages whose stamp cannot be replaced stay as they are and are counted; the exit code is then 3.";

/// Rewrite header.stamp of topics whose stamps are a sensor's, on the host's clock
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The bag
    #[arg(value_name = "BAG")]
    bag: PathBuf,
    /// The new bag
    #[arg(short, long, value_name = "OUTPUT")]
    output: PathBuf,
    /// A topic whose header.stamp is device time; repeatable
    #[arg(long, value_name = "TOPIC", required = true, num_args = 1)]
    topic: Vec<String>,
    /// The topic that shows the device's clock [default: each topic by itself]
    #[arg(long, value_name = "TOPIC")]
    clock_topic: Option<String>,
    /// The storage of the new bag [default: that of the old one]
    #[arg(short, long, value_name = "STORAGE")]
    storage: Option<String>,
    #[command(flatten)]
    fields: FieldArguments,
    #[command(flatten)]
    limits: LimitsArguments,
}

pub(crate) fn run(arguments: &Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    crate::bags::check_writable(&arguments.output)?;
    let reader = context.bags.open(&arguments.bag)?;
    let info = reader.info().clone();
    check_topics(arguments, &info.topics)?;
    if arguments.output.exists() {
        let path = arguments.output.clone();
        return Err(timeloom_bag::Error::Exists { path }.into());
    }
    let decoder = decoder(&info);
    let limits = arguments.limits.limits();
    let shared = match &arguments.clock_topic {
        Some(topic) => Some(mapping(
            arguments,
            topic,
            &arguments.fields,
            &limits,
            context,
        )?),
        None => None,
    };
    let mut topics = Vec::new();
    let mut lost = false;
    for name in &arguments.topic {
        let place = info.topics.iter().position(|topic| topic.name == *name);
        let schema = decoder
            .schema(place.unwrap_or_default())
            .map_err(|error| Failure::new(error.to_string()))?;
        let reads_field = arguments.fields.device_field.is_some() && shared.is_none();
        let device = reads_field.then(|| arguments.fields.of_topic(schema, name));
        let topic = RetimedTopic::new(name, schema, device.transpose()?).map_err(|error| {
            Failure::new(format!("{error} to rewrite"))
                .hint("topics without a header can show the clock: name it with --clock-topic")
        })?;
        let (mapping, damaged) = match &shared {
            Some((mapping, damaged)) => (mapping.clone(), *damaged),
            None => mapping(arguments, name, &arguments.fields, &limits, context)?,
        };
        lost |= damaged;
        topics.push((topic, mapping));
    }
    let options = options(arguments, &reader)?;
    let mut progress = context.progress("retiming");
    let retimed = retime(
        reader,
        &arguments.output,
        options,
        topics,
        |share, messages| {
            progress.update(share, messages);
        },
    );
    drop(progress);
    lost |= report(arguments, &retimed?, context);
    let reason = format!("{} does not hold them", arguments.output.display());
    lost |= warn_left_out(info.extras, &reason, context);
    Ok(Outcome::lost_if(lost))
}

/// The mapping that a topic shows, and whether the bag was damaged.
fn mapping(
    arguments: &Arguments,
    topic: &str,
    fields: &FieldArguments,
    limits: &Limits,
    context: &mut Context,
) -> anyhow::Result<(Mapping, bool)> {
    let mut samples: Vec<Sample> = Vec::new();
    let account = read_topic(
        &arguments.bag,
        Some(topic),
        fields,
        context,
        &mut |sample, _| {
            samples.push(*sample);
            Ok(())
        },
    )?;
    if samples.is_empty() {
        let text = format!("{topic} shows no device times");
        return Err(Failure::new(text).into());
    }
    let rows = smooth(&samples, limits)?;
    let rows = samples.iter().map(Sample::device).zip(rows);
    Ok((Mapping::new(rows, limits), account.damaged))
}

fn check_topics(arguments: &Arguments, topics: &[TopicInfo]) -> Result<(), Failure> {
    let names = || topics.iter().map(|topic| topic.name.as_str());
    for wanted in arguments.topic.iter().chain(&arguments.clock_topic) {
        if !names().any(|name| name == wanted) {
            return Err(no_topic(wanted, names()));
        }
        if names().any(|name| name == format!("{wanted}{ORIGINAL_HEADER}")) {
            let text = format!(
                "{wanted} has been retimed before: {wanted}{ORIGINAL_HEADER} is in the bag"
            );
            return Err(Failure::new(text).hint("retime the original bag"));
        }
    }
    Ok(())
}

fn options(arguments: &Arguments, reader: &BagReader) -> anyhow::Result<BagOptions> {
    let first = reader.bags().first().and_then(|bag| bag.files.first());
    let storage = match &arguments.storage {
        Some(name) => StorageId::from_name(name).map_err(Failure::invalid_value)?,
        None => first.map_or(StorageId::Mcap, |file| file.storage),
    };
    let info = reader.info();
    let mut custom_data = info
        .metadata
        .as_ref()
        .map(|metadata| metadata.custom_data.clone())
        .unwrap_or_default();
    let done = json!({
        "topics": arguments.topic,
        "clock_topic": arguments.clock_topic,
        "device_field": arguments.fields.device_field,
        "original": ORIGINAL_HEADER,
    });
    custom_data.push(("timeloom_retime".into(), done.to_string()));
    Ok(BagOptions {
        storage: StorageOptions::preset(storage, "")?,
        ros_distro: info.ros_distro.clone(),
        custom_data,
        ..BagOptions::default()
    })
}

/// Says what was done; whether something could not be.
fn report(arguments: &Arguments, retimed: &Retimed, context: &mut Context) -> bool {
    for topic in &retimed.topics {
        let text = format!(
            "{}: {} retimed, {:+.6} s on average",
            topic.name,
            counted(topic.retimed, "message"),
            topic.mean_shift_s()
        );
        context.printer.note(&text);
        if topic.unchanged > 0 {
            let text = format!(
                "{}: {} left as they were; the first: {}",
                topic.name,
                counted(topic.unchanged, "message"),
                topic.problem.as_deref().unwrap_or("unknown")
            );
            context.printer.warning(&text);
        }
    }
    context.printer.warnings(&retimed.damage);
    let written = counted(retimed.messages, "message");
    let output = arguments.output.display();
    context.printer.note(&format!("wrote {output}: {written}"));
    !retimed.damage.is_empty() || retimed.topics.iter().any(|topic| topic.unchanged > 0)
}
