//! Bags compared with each other.
#![expect(
    clippy::unwrap_used,
    reason = "in helpers of tests too a failure is a failed test"
)]

mod bags;
mod reports;

use std::path::Path;

use timeloom_bag::{BagOptions, BagWriter, Message, TopicInfo};
use timeloom_compare::{CompareOptions, Comparison, compare};
use timeloom_msg::TypeResolver;

/// A message of a test bag.
#[derive(Clone)]
pub(crate) struct Sent {
    pub(crate) topic: &'static str,
    pub(crate) time_ns: i64,
    pub(crate) sequence: u32,
    pub(crate) data: Vec<u8>,
}

/// A `std_msgs/msg/Float64`.
pub(crate) fn float(topic: &'static str, time_ns: i64, value: f64) -> Sent {
    Sent {
        topic,
        time_ns,
        sequence: 0,
        data: [&[0, 1, 0, 0][..], &value.to_le_bytes()].concat(),
    }
}

/// A `geometry_msgs/msg/PointStamped` with this stamp.
pub(crate) fn point(topic: &'static str, time_ns: i64, stamp_ns: i64, x: f64) -> Sent {
    let mut data = vec![0, 1, 0, 0];
    data.extend(
        i32::try_from(stamp_ns / 1_000_000_000)
            .unwrap()
            .to_le_bytes(),
    );
    data.extend(
        u32::try_from(stamp_ns % 1_000_000_000)
            .unwrap()
            .to_le_bytes(),
    );
    data.extend([1, 0, 0, 0, 0, 0, 0, 0]);
    for value in [x, 0.0, 0.0] {
        data.extend(value.to_le_bytes());
    }
    Sent {
        topic,
        time_ns,
        sequence: 0,
        data,
    }
}

/// Writes a bag; topics have the type of `types`.
pub(crate) fn write(path: &Path, types: &[(&str, &str)], sent: &[Sent]) {
    let mut writer = BagWriter::create(path, BagOptions::default()).unwrap();
    let ids: Vec<_> = types
        .iter()
        .map(|(name, type_name)| {
            writer
                .add_topic(&TopicInfo::new(*name, *type_name))
                .unwrap()
        })
        .collect();
    for message in sent {
        let place = types.iter().position(|(name, _)| *name == message.topic);
        let stored = Message {
            topic: ids[place.unwrap()],
            log_time_ns: message.time_ns,
            publish_time_ns: message.time_ns,
            sequence: message.sequence,
            data: &message.data,
        };
        assert!(writer.write(&[stored], message.time_ns).is_ok());
    }
    let (_summary, outcome) = writer.finish().unwrap();
    assert!(outcome.is_ok());
}

/// Compares two bags of a directory.
pub(crate) fn diff(directory: &Path, options: &CompareOptions) -> Comparison {
    let [mut left, mut right] =
        ["a", "b"].map(|name| timeloom_bag::BagReader::open(&directory.join(name)).unwrap());
    compare(
        &mut left,
        &mut right,
        ["a", "b"],
        options,
        &TypeResolver::default(),
    )
    .unwrap()
}
