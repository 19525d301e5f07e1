//! Jobs on bags.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;

use timeloom_bag::convert::{ConvertOutput, OnDamage};
use timeloom_bag::{
    BagInfo, BagOptions, BagReader, BagWriter, Message, MessageDefinition, Query, StorageId,
    StorageOptions, StorageReader as _, TopicId, TopicInfo,
};

use super::Done;
use super::cost::Cost;
use crate::payload::{Content, Payload};

/// Start time of all bags; the scripts of the other tools use the same number.
const BEGIN_NS: i64 = 1_700_000_000_000_000_000;
/// Interval between messages.
const STEP_NS: i64 = 1_000_000;
/// Messages are distributed over these topics.
const TOPICS: u32 = 10;
/// Messages per batch, as in the recorder.
const BATCH: u64 = 64;
const RAW_CALL: usize = 1 << 20;

fn options(storage: &str) -> anyhow::Result<BagOptions> {
    Ok(BagOptions {
        storage: StorageOptions::preset(StorageId::from_name(storage)?, "")?,
        // rosbags does not read version 10.
        metadata_version: Some(9),
        ..BagOptions::default()
    })
}

fn time(number: u64) -> i64 {
    BEGIN_NS + i64::try_from(number).unwrap_or(0) * STEP_NS
}

/// Writes a bag; `message` returns the payload of a number.
fn fill(
    directory: &Path,
    storage: &str,
    count: u64,
    content: Content,
    message: &dyn Fn(u64) -> Vec<u8>,
    same: bool,
) -> anyhow::Result<()> {
    let mut writer = BagWriter::create(directory, options(storage)?)?;
    let schema = content.schema()?;
    for topic in 1..=TOPICS {
        let mut info = TopicInfo::new(format!("/load_{topic}"), content.type_name());
        info.type_description_hash = schema.type_hash()?.to_string();
        info.definition = MessageDefinition {
            encoding: "ros2msg".into(),
            text: schema.ros2msg()?,
        };
        writer.add_topic(&info)?;
    }
    let first = message(0);
    let mut number = 0;
    while number < count {
        let end = count.min(number + BATCH);
        let payloads: Vec<Vec<u8>> = if same {
            Vec::new()
        } else {
            (number..end).map(message).collect()
        };
        let batch: Vec<Message<'_>> = (number..end)
            .enumerate()
            .map(|(index, number)| Message {
                topic: TopicId(u32::try_from(number % u64::from(TOPICS)).unwrap_or(0)),
                log_time_ns: time(number),
                publish_time_ns: time(number),
                sequence: 0,
                data: payloads.get(index).unwrap_or(&first),
            })
            .collect();
        let outcome = writer.write(&batch, time(number));
        if !outcome.is_ok() {
            anyhow::bail!("cannot write the bag: {outcome:?}");
        }
        number = end;
    }
    let (_, outcome) = writer.finish()?;
    if !outcome.is_ok() {
        anyhow::bail!("cannot close the bag: {outcome:?}");
    }
    Ok(())
}

/// The bag to read: messages of a real type with increasing stamps.
pub(super) fn prepare(output: &Path, count: u64, size: usize) -> anyhow::Result<Done> {
    let content = if size == 0 {
        Content::Imu
    } else {
        Content::Image
    };
    let payload = Payload::new(content, "/load", size)?;
    let storage = match output.extension() {
        Some(text) if text == "sqlite3" => "sqlite3",
        _ => "mcap",
    };
    let message = |number| payload.message(number);
    fill(output, storage, count, content, &message, false)?;
    Ok(Done {
        value: 0.0,
        answer: count,
    })
}

pub(super) fn write(output: &Path, count: u64, size: usize, storage: &str) -> anyhow::Result<Done> {
    let content = Content::ByteArray;
    let cost = Cost::start()?;
    fill(output, storage, count, content, &|_| vec![7; size], true)?;
    Ok(Done {
        value: cost.per(count)?,
        answer: count,
    })
}

/// The lower bound: only the bytes, in writes of 1 MiB.
pub(super) fn write_raw(output: &Path, count: u64, size: usize) -> anyhow::Result<Done> {
    let message = vec![7; size];
    let cost = Cost::start()?;
    let mut file = File::create(output)?;
    let mut buffer = Vec::with_capacity(RAW_CALL + size);
    for _ in 0..count {
        buffer.extend_from_slice(&message);
        if buffer.len() >= RAW_CALL {
            file.write_all(&buffer)?;
            buffer.clear();
        }
    }
    file.write_all(&buffer)?;
    Ok(Done {
        value: cost.per(count)?,
        answer: count,
    })
}

pub(super) fn read(input: &Path) -> anyhow::Result<Done> {
    let cost = Cost::start()?;
    let mut reader = BagReader::open(input)?;
    let (mut count, mut bytes) = (0, 0);
    reader.start(&Query::default())?;
    while let Some(message) = reader.next_message()? {
        count += 1;
        bytes += message.data.len() as u64;
    }
    Ok(Done {
        value: cost.per(count)?,
        answer: bytes,
    })
}

pub(super) fn info(input: &Path, times: u64) -> anyhow::Result<Done> {
    let cost = Cost::start()?;
    let mut answer = 0;
    for _ in 0..times {
        answer = BagInfo::open(input)?.message_count;
    }
    Ok(Done {
        value: cost.per(times)?,
        answer,
    })
}

/// A hundredth of the time range in the middle, one topic of ten.
pub(super) fn slice(input: &Path, count: u64) -> anyhow::Result<Done> {
    let cost = Cost::start()?;
    let mut reader = BagReader::open(input)?;
    let query = Query {
        start_ns: Some(time(count / 2)),
        end_ns: Some(time(count / 2 + count / 100) - 1),
        ..reader.query_for(&["/load_1"])
    };
    reader.start(&query)?;
    let mut answer = 0;
    while reader.next_message()?.is_some() {
        answer += 1;
    }
    Ok(Done {
        value: cost.per(1)?,
        answer,
    })
}

/// One field of every message, by name.
pub(super) fn decode(input: &Path) -> anyhow::Result<Done> {
    let cost = Cost::start()?;
    let mut reader = BagReader::open(input)?;
    let schema = Content::Imu.schema()?;
    reader.start(&Query::default())?;
    let (mut count, mut answer) = (0, 0);
    while let Some(message) = reader.next_message()? {
        let value = schema.decode(message.data)?;
        let field = value.get("header.stamp.nanosec");
        answer += field.and_then(|field| field.as_u64()).unwrap_or(0);
        count += 1;
    }
    Ok(Done {
        value: cost.per(count)?,
        answer,
    })
}

/// Converts to the other storage.
pub(super) fn convert(input: &Path, output: &Path) -> anyhow::Result<Done> {
    let cost = Cost::start()?;
    let to = ConvertOutput::new(output, options("sqlite3")?);
    let report = timeloom_bag::convert(&[input], vec![to], OnDamage::Fail, &mut |_| {})?;
    Ok(Done {
        value: cost.per(report.messages_read)?,
        answer: report.messages_written.iter().sum(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bag_job_returns_its_result() {
        let directory = tempfile::tempdir().unwrap();
        let bag = directory.path().join("small.mcap");
        prepare(&bag, 2000, 0).unwrap();
        let length = Payload::new(Content::Imu, "/load", 0).unwrap().len() as u64;
        assert_eq!(read(&bag).unwrap().answer, 2000 * length);
        assert_eq!(info(&bag, 2).unwrap().answer, 2000);
        assert_eq!(slice(&bag, 2000).unwrap().answer, 2);
        assert_eq!(decode(&bag).unwrap().answer, 1999 * 1000);
        let other = directory.path().join("other");
        assert_eq!(convert(&bag, &other).unwrap().answer, 2000);
        assert_eq!(read(&other).unwrap().answer, 2000 * length);
        let raw = directory.path().join("raw");
        assert_eq!(write_raw(&raw, 10, 100).unwrap().answer, 10);
        assert_eq!(std::fs::metadata(&raw).unwrap().len(), 1000);
    }
}
