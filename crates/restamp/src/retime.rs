//! Copies a bag with new stamps in some topics.

use std::path::Path;

use timeloom_bag::{
    BagOptions, BagReader, BagWriter, Message, MessageDefinition, Query, StorageReader as _,
    TopicId, TopicInfo, UnknownMessages,
};
use timeloom_msg::{Definitions, Schema};
use timeloom_sync::{DeviceTime, Mapping};
use timeloom_time::Time;

use crate::Result;
use crate::sample_fields::SampleFields;
use crate::stamp_writer::StampWriter;

/// Suffix of the topic with the original headers.
pub const ORIGINAL_HEADER: &str = "/original_header";

const HEADER: &str = "std_msgs/msg/Header";

/// A topic to retime: its stamps are replaced by the host's time.
#[derive(Debug)]
pub struct RetimedTopic {
    name: String,
    writer: StampWriter,
    schema: Schema,
    /// The device's time, if it is not in `header.stamp`.
    device: Option<SampleFields>,
    report: TopicReport,
}

/// The result for one topic.
#[derive(Debug, Clone, Default)]
pub struct TopicReport {
    /// The topic.
    pub name: String,
    /// Messages with a new stamp.
    pub retimed: u64,
    /// Messages that were copied without change.
    pub unchanged: u64,
    /// The reason for the first of these.
    pub problem: Option<String>,
    shift_s: f64,
}

impl TopicReport {
    /// The mean change of the stamps, in seconds.
    pub fn mean_shift_s(&self) -> f64 {
        self.shift_s / self.retimed.max(1) as f64
    }
}

/// The result of retiming a bag.
#[derive(Debug, Default)]
pub struct Retimed {
    /// One report for each retimed topic.
    pub topics: Vec<TopicReport>,
    /// Messages of the old bag that were copied or retimed.
    pub messages: u64,
    /// Damage of the old bag.
    pub damage: Vec<String>,
}

impl RetimedTopic {
    /// A topic whose device time is in `device`, or in `header.stamp`.
    ///
    /// # Errors
    ///
    /// [`Error::NoStamp`](crate::Error::NoStamp) for a type without `header.stamp`.
    pub fn new(name: &str, schema: &Schema, device: Option<SampleFields>) -> Result<Self> {
        Ok(Self {
            name: name.to_owned(),
            writer: StampWriter::new(schema, name)?,
            schema: schema.clone(),
            device,
            report: TopicReport {
                name: name.to_owned(),
                ..TopicReport::default()
            },
        })
    }

    /// The payload with a new stamp, and the original header; none if the message is copied without change.
    fn apply(
        &mut self,
        message: &Message<'_>,
        mapping: &Mapping,
        header: &Schema,
    ) -> Option<(Vec<u8>, Vec<u8>)> {
        let result = self.try_apply(message.data, message.log_time_ns, mapping, header);
        result
            .map_err(|error| {
                self.report.unchanged += 1;
                self.report.problem.get_or_insert(error.to_string());
            })
            .ok()
    }

    fn try_apply(
        &mut self,
        payload: &[u8],
        received_ns: i64,
        mapping: &Mapping,
        header: &Schema,
    ) -> Result<(Vec<u8>, Vec<u8>)> {
        let original = self.writer.read(payload)?;
        let device = match &mut self.device {
            Some(fields) => {
                let value = self.schema.decode(payload)?;
                fields.sample(&value, received_ns)?.device_event
            }
            None => DeviceTime::from_nanos(original),
        };
        let received = Time::from_nanos(received_ns);
        let host = mapping.convert_near(device, received)?.host.nanos();
        let restamped = self.writer.replace(payload, host)?;
        let kept = header.encode(&restamped.original)?;
        self.report.retimed += 1;
        self.report.shift_s += (i128::from(host) - i128::from(original)) as f64 * 1e-9;
        Ok((restamped.payload, kept))
    }
}

/// Copies a bag with new stamps in some topics, each by its mapping to the host's clock, and their original headers
/// beside them ([`ORIGINAL_HEADER`]).
/// `progress` gets the finished share and the number of messages.
///
/// # Errors
///
/// As the reader and the writer of bags; damage of the old bag is reported in the result.
pub fn retime(
    mut reader: BagReader,
    output: &Path,
    options: BagOptions,
    mut topics: Vec<(RetimedTopic, Mapping)>,
    mut progress: impl FnMut(f64, u64),
) -> Result<Retimed> {
    let info = reader.info().clone();
    let header = Definitions::builtin().schema(HEADER)?;
    let mut writer = BagWriter::create(output, options)?;
    let mut targets = Vec::with_capacity(info.topics.len());
    for topic in &info.topics {
        let id = writer.add_topic(topic)?;
        let place = topics
            .iter()
            .position(|(retimed, _)| retimed.name == topic.name);
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
    let mut retimed = Retimed::default();
    let total = info.message_count().max(1) as f64;
    loop {
        let message = match reader.next_message() {
            Ok(Some(message)) => message,
            Ok(None) => break,
            Err(error) if !error.is_damage() => return Err(error.into()),
            Err(error) => {
                retimed.damage.push(error.to_string());
                continue;
            }
        };
        let Some((topic, beside)) = targets.get(message.topic.index()).copied() else {
            continue;
        };
        let copy = Message { topic, ..message };
        let changed = beside.and_then(|(place, original)| {
            let (topic, mapping) = topics.get_mut(place)?;
            let pair = topic.apply(&message, mapping, &header)?;
            Some((pair, original))
        });
        let outcome = match &changed {
            None => writer.write(&[copy], 0),
            Some(((payload, kept), original)) => {
                let restamped = Message {
                    data: payload,
                    ..copy
                };
                let kept = Message {
                    topic: *original,
                    data: kept,
                    ..copy
                };
                writer.write(&[restamped, kept], 0)
            }
        };
        outcome.into_result()?;
        retimed.messages += 1;
        progress(retimed.messages as f64 / total, retimed.messages);
    }
    let (_, outcome) = writer.finish()?;
    outcome.into_result()?;
    retimed.topics = topics.into_iter().map(|(topic, _)| topic.report).collect();
    Ok(retimed)
}

fn original_topic(topic: &TopicInfo, header: &Schema) -> Result<TopicInfo> {
    Ok(TopicInfo {
        name: format!("{}{ORIGINAL_HEADER}", topic.name),
        type_name: HEADER.into(),
        type_description_hash: header.type_hash()?.to_string(),
        definition: MessageDefinition {
            encoding: "ros2msg".into(),
            text: header.ros2msg()?,
        },
        ..topic.clone()
    })
}

/// Copies the losses of the old recording.
fn keep_losses(writer: &mut BagWriter, reader: &BagReader, ids: &[TopicId]) {
    for (account, id) in reader.accounts().iter().zip(ids) {
        match account {
            Some(account) => writer.add_missing(*id, account),
            None => writer.leave_open(*id, UnknownMessages::UNCOUNTED),
        }
    }
}
