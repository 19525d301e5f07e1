//! Samples of `timeloom_test/msg/Blob` whose first bytes are their mark; the Python peers create and check the same.

use bytes::Bytes;
use timeloom_msg::qos::{History, Reliability};
use timeloom_msg::{QosProfile, TypeHash, TypeName};
use timeloom_wire::{PublishOptions, Publisher, Sample, TopicSpec};

use super::Collector;

/// A topic of the type.
///
/// # Panics
/// Never: the type name is valid.
pub fn blob_topic(name: &str, qos: QosProfile) -> TopicSpec {
    TopicSpec {
        name: name.into(),
        type_name: TypeName::parse("timeloom_test/msg/Blob").expect("a type name"),
        type_hash: Some(TypeHash::from_bytes([0xab; 32])),
        qos,
    }
}

/// Reliable, and keeps all.
pub fn reliable() -> QosProfile {
    QosProfile {
        history: History::KeepAll,
        depth: 0,
        ..QosProfile::DEFAULT
    }
}

/// Best effort.
pub fn best_effort() -> QosProfile {
    QosProfile {
        reliability: Reliability::BestEffort,
        ..QosProfile::DEFAULT
    }
}

/// The body of sample `mark`, by the same rule as in the peers.
fn fill(mark: u32, size: usize) -> Vec<u8> {
    let byte = u8::try_from(mark * 31 % 251).expect("less than 251");
    let mut body = vec![byte; size];
    body[..4].copy_from_slice(&mark.to_le_bytes());
    body
}

/// A serialised message of that size, at least 4.
///
/// # Panics
/// If the size is less than 4 or does not fit 32 bits.
pub fn blob(mark: u32, size: usize) -> Bytes {
    let mut payload = vec![0, 1, 0, 0];
    payload.extend(u32::try_from(size).expect("a small size").to_le_bytes());
    payload.extend(fill(mark, size));
    payload.into()
}

/// The mark of a sample, if it is unchanged; up to three bytes of padding may follow.
pub fn mark_of(sample: &Sample) -> Option<u32> {
    let (length, padded) = sample.payload.get(4..)?.split_first_chunk::<4>()?;
    let body = padded.get(..u32::from_le_bytes(*length) as usize)?;
    let mark = u32::from_le_bytes(*body.first_chunk()?);
    (padded.len() - body.len() < 4 && body == fill(mark, body.len())).then_some(mark)
}

/// The marks of all samples.
pub fn marks(collector: &Collector) -> Vec<Option<u32>> {
    collector.samples().iter().map(mark_of).collect()
}

/// Publishes a message; returns its sequence number.
///
/// # Panics
/// If the transport refuses it.
pub fn publish_blob(publisher: &dyn Publisher, mark: u32, size: usize) -> Option<u64> {
    publisher
        .publish(blob(mark, size), PublishOptions::default())
        .expect("a sample is published")
}
