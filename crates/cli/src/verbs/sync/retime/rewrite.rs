//! Copies a bag, with other stamps in some of its topics.

use std::path::Path;

use timeloom_bag::{
    BagOptions, BagReader, BagWriter, Message, MessageDefinition, Query, StorageReader as _,
    TopicId, TopicInfo,
};
use timeloom_msg::{Definitions, Schema};
use timeloom_sync::{DeviceTime, Mapping};
use timeloom_time::Time;

use super::super::device_field::SampleFields;
use super::ORIGINAL;
use super::stamps::StampWriter;
use crate::progress::Progress;

const HEADER: &str = "std_msgs/msg/Header";

/// A topic that gets other stamps.
pub(super) struct Rewrite {
    name: String,
    writer: StampWriter,
    /// Where the device's time is, if it is not `header.stamp`.
    device: Option<DeviceTimes>,
    mapping: Mapping,
    done: TopicDone,
}

/// Reads the device's time of messages from a field.
pub(super) struct DeviceTimes {
    pub(super) schema: Schema,
    pub(super) fields: SampleFields,
}

impl DeviceTimes {
    fn read(&mut self, payload: &[u8], received_ns: i64) -> Result<DeviceTime, String> {
        let value = self.schema.decode(payload);
        let value = value.map_err(|error| error.to_string())?;
        let sample = self.fields.sample(&value, received_ns);
        let sample = sample.map_err(|failure| failure.to_string())?;
        Ok(sample.device_event)
    }
}

/// What was done to a topic.
#[derive(Debug, Clone, Default)]
pub(super) struct TopicDone {
    pub(super) name: String,
    pub(super) retimed: u64,
    pub(super) unchanged: u64,
    pub(super) problem: String,
    shift_s: f64,
}

impl TopicDone {
    /// How far stamps moved on average, in seconds.
    pub(super) fn mean_shift_s(&self) -> f64 {
        self.shift_s / self.retimed.max(1) as f64
    }
}

/// What was done.
#[derive(Debug, Default)]
pub(super) struct Rewritten {
    pub(super) topics: Vec<TopicDone>,
    pub(super) messages: u64,
    pub(super) damage: Vec<String>,
}

impl Rewrite {
    pub(super) fn new(
        name: &str,
        writer: StampWriter,
        device: Option<DeviceTimes>,
        mapping: Mapping,
    ) -> Self {
        Self {
            name: name.to_owned(),
            writer,
            device,
            mapping,
            done: TopicDone {
                name: name.to_owned(),
                ..TopicDone::default()
            },
        }
    }

    /// The payload with another stamp, and the original header; none if it has to stay as it is.
    fn apply(&mut self, message: &Message<'_>, header: &Schema) -> Option<(Vec<u8>, Vec<u8>)> {
        let result = self.try_apply(message.data, message.log_time_ns, header);
        match result {
            Ok(pair) => Some(pair),
            Err(problem) => {
                self.done.unchanged += 1;
                if self.done.problem.is_empty() {
                    self.done.problem = problem;
                }
                None
            }
        }
    }

    fn try_apply(
        &mut self,
        payload: &[u8],
        received_ns: i64,
        header: &Schema,
    ) -> Result<(Vec<u8>, Vec<u8>), String> {
        let told = |error: &dyn std::fmt::Display| error.to_string();
        let original = self.writer.read(payload)?;
        let device = match &mut self.device {
            Some(device) => device.read(payload, received_ns)?,
            None => DeviceTime::from_nanos(original),
        };
        let mapped = self
            .mapping
            .convert_near(device, Time::from_nanos(received_ns));
        let mapped = mapped.map_err(|error| told(&error))?;
        let restamped = self.writer.replace(payload, mapped.host.nanos())?;
        let kept = header.encode(&restamped.original);
        let kept = kept.map_err(|error| told(&error))?;
        self.done.retimed += 1;
        self.done.shift_s += (i128::from(mapped.host.nanos()) - i128::from(original)) as f64 * 1e-9;
        Ok((restamped.payload, kept))
    }
}

/// Copies a bag.
pub(super) fn run(
    mut reader: BagReader,
    output: &Path,
    options: BagOptions,
    mut rewrites: Vec<Rewrite>,
    progress: &mut Progress,
) -> anyhow::Result<Rewritten> {
    let info = reader.info().clone();
    let header = Definitions::builtin().schema(HEADER)?;
    let mut writer = BagWriter::create(output, options)?;
    let mut targets = Vec::with_capacity(info.topics.len());
    for topic in &info.topics {
        let id = writer.add_topic(topic)?;
        let place = rewrites
            .iter()
            .position(|rewrite| rewrite.name == topic.name);
        let beside = match place {
            Some(place) => Some((place, writer.add_topic(&original_topic(topic, &header)?)?)),
            None => None,
        };
        targets.push((id, beside));
    }
    keep_losses(
        &mut writer,
        &reader,
        &targets.iter().map(|(id, _)| *id).collect::<Vec<_>>(),
    );
    reader.start(&Query::default())?;
    let mut rewritten = Rewritten::default();
    let total = info.message_count().max(1) as f64;
    loop {
        let message = match reader.next_message() {
            Ok(Some(message)) => message,
            Ok(None) => break,
            Err(error) if !error.is_damage() => return Err(error.into()),
            Err(error) => {
                rewritten.damage.push(error.to_string());
                continue;
            }
        };
        let Some((topic, beside)) = targets.get(message.topic.index()).copied() else {
            continue;
        };
        let copy = Message { topic, ..message };
        let changed = beside.and_then(|(place, original)| {
            let pair = rewrites.get_mut(place)?.apply(&message, &header)?;
            Some((pair, original))
        });
        let outcome = match &changed {
            None => writer.write(&[copy], 0),
            Some(((payload, kept), original)) => {
                let retimed = Message {
                    data: payload,
                    ..copy
                };
                let kept = Message {
                    topic: *original,
                    data: kept,
                    ..copy
                };
                writer.write(&[retimed, kept], 0)
            }
        };
        outcome.into_result()?;
        rewritten.messages += 1;
        progress.update(rewritten.messages as f64 / total, rewritten.messages);
    }
    let (_, outcome) = writer.finish()?;
    outcome.into_result()?;
    rewritten.topics = rewrites.into_iter().map(|rewrite| rewrite.done).collect();
    Ok(rewritten)
}

fn original_topic(topic: &TopicInfo, header: &Schema) -> anyhow::Result<TopicInfo> {
    Ok(TopicInfo {
        name: format!("{}{ORIGINAL}", topic.name),
        type_name: HEADER.into(),
        type_description_hash: header.type_hash()?.to_string(),
        definition: MessageDefinition {
            encoding: "ros2msg".into(),
            text: header.ros2msg()?,
        },
        ..topic.clone()
    })
}

/// The new bag keeps the account of what the old one never got.
fn keep_losses(writer: &mut BagWriter, reader: &BagReader, ids: &[TopicId]) {
    for (account, id) in reader.accounts().iter().zip(ids) {
        if let Some(account) = account {
            writer.add_missing(*id, account);
        }
    }
}
