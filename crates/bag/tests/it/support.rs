//! Paths and helpers that the test modules share.

use std::fs;
use std::path::{Path, PathBuf};

use timeloom_bag::bag::FinishedBag;
use timeloom_bag::conformance::{OwnedMessage, read_all};
use timeloom_bag::{
    BagOptions, BagReader, BagWriter, EndpointRole, GraphEndpoint, Message, MessageDefinition,
    NodeParameters, ParameterEntry, Query, RobotParameters, StorageId, StorageOptions, TopicInfo,
};
use timeloom_msg::QosProfile;

/// The golden bags, recorded by the real rosbag2.
pub(crate) fn bags() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/bags")
}

/// All files below a directory, sorted.
pub(crate) fn files_below(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![directory.to_path_buf()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(&directory).unwrap() {
            let path = entry.unwrap().path();
            let list = if path.is_dir() { &mut open } else { &mut found };
            list.push(path);
        }
    }
    found.sort();
    found
}

/// Every directory below the golden bags that holds a `metadata.yaml`.
pub(crate) fn bag_directories() -> Vec<PathBuf> {
    files_below(&bags())
        .into_iter()
        .filter(|path| path.file_name().is_some_and(|name| name == "metadata.yaml"))
        .map(|path| path.parent().unwrap().to_path_buf())
        .collect()
}

/// A small deterministic bag for tests: topics `/a`, `/b` and `/silent`, `count` messages one millisecond apart.
pub(crate) fn write_bag(directory: &Path, options: BagOptions, count: u32) -> FinishedBag {
    let mut writer = BagWriter::create(directory, options).unwrap();
    let ids: Vec<_> = test_topics()
        .iter()
        .map(|topic| writer.add_topic(topic).unwrap())
        .collect();
    for k in 0..count {
        if k.is_multiple_of(50) {
            // Other tools must ignore it.
            let number = u8::try_from(k / 50 % 256).unwrap();
            let endpoint = test_endpoint(number, "/driver", EndpointRole::Publisher, "/a");
            let outcome = writer.update_graph(&[endpoint].into_iter().collect());
            assert!(outcome.is_ok(), "{outcome:?}");
            let outcome = writer.update_parameters(&test_parameters(k, i64::from(k)));
            assert!(outcome.is_ok(), "{outcome:?}");
        }
        let data = payload(k);
        let time = message_time(k);
        let message = Message {
            topic: ids[(k % 2) as usize],
            log_time_ns: time,
            publish_time_ns: time - 5,
            sequence: k,
            data: &data,
        };
        let outcome = writer.write(&[message], time);
        assert!(outcome.is_ok(), "{outcome:?}");
    }
    let (summary, outcome) = writer.finish().unwrap();
    assert!(outcome.is_ok(), "{outcome:?}");
    summary
}

/// Writes messages of [`write_bag`].
pub(crate) fn write_messages(writer: &mut BagWriter, numbers: std::ops::Range<u32>) {
    let ids: Vec<_> = test_topics()
        .iter()
        .map(|topic| writer.add_topic(topic).unwrap())
        .collect();
    for k in numbers {
        let message = Message {
            topic: ids[(k % 2) as usize],
            log_time_ns: message_time(k),
            publish_time_ns: message_time(k) - 5,
            sequence: k,
            data: &payload(k),
        };
        assert!(writer.write(&[message], message_time(k)).is_ok());
    }
}

/// A value of a parameter at the time of a message.
pub(crate) fn test_parameters(number: u32, value: i64) -> RobotParameters {
    let time_ns = message_time(number);
    let mut node = NodeParameters {
        asked_ns: message_time(0),
        ..NodeParameters::default()
    };
    let value = Some(value.into());
    node.add("rate", ParameterEntry { time_ns, value });
    RobotParameters {
        nodes: [("/driver".to_owned(), node)].into(),
    }
}

/// An endpoint that exists from the first message on.
pub(crate) fn test_endpoint(
    number: u8,
    node: &str,
    role: EndpointRole,
    topic: &str,
) -> GraphEndpoint {
    GraphEndpoint {
        id: format!("{number:032x}"),
        node: node.into(),
        role,
        topic: topic.into(),
        type_name: "std_msgs/msg/String".into(),
        type_hash: "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18".into(),
        qos: QosProfile::SENSOR_DATA,
        appeared_ns: message_time(0),
        vanished_ns: None,
    }
}

pub(crate) fn message_time(k: u32) -> i64 {
    1_700_000_000_000_000_000 + i64::from(k) * 1_000_000
}

/// CDR of a `std_msgs/msg/String`, so that other tools can decode it.
pub(crate) fn payload(k: u32) -> Vec<u8> {
    let text = format!("message {k} {}\0", "x".repeat((k as usize * 37) % 500));
    let mut data = vec![0, 1, 0, 0];
    data.extend_from_slice(&u32::try_from(text.len()).unwrap().to_le_bytes());
    data.extend_from_slice(text.as_bytes());
    data
}

pub(crate) fn test_topics() -> Vec<TopicInfo> {
    ["/a", "/b", "/silent"]
        .into_iter()
        .map(|name| TopicInfo {
            offered_qos_profiles: QOS.into(),
            type_description_hash:
                "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18".into(),
            definition: MessageDefinition {
                encoding: "ros2msg".into(),
                text: "string data\n".into(),
            },
            ..TopicInfo::new(name, "std_msgs/msg/String")
        })
        .collect()
}

const QOS: &str = "- history: keep_last\n  depth: 10\n  reliability: reliable\n  durability: volatile\n  deadline:\n    sec: 9223372036\n    nsec: 854775807\n  lifespan:\n    sec: 9223372036\n    nsec: 854775807\n  liveliness: automatic\n  liveliness_lease_duration:\n    sec: 9223372036\n    nsec: 854775807\n  avoid_ros_namespace_conventions: false";

/// Everything in a bag, in log-time order.
pub(crate) fn read_bag(path: &Path) -> Vec<OwnedMessage> {
    let mut reader = BagReader::open(path).unwrap();
    read_all(&mut reader, &Query::default()).unwrap()
}

/// Checks that a bag holds exactly the messages of [`write_bag`] in a range of numbers.
pub(crate) fn assert_holds(path: &Path, numbers: std::ops::Range<u32>) {
    let messages = read_bag(path);
    assert_eq!(messages.len(), numbers.len(), "{}", path.display());
    for (k, message) in numbers.zip(&messages) {
        assert_eq!(message.log_time_ns, message_time(k));
        assert_eq!(message.topic, if k % 2 == 0 { "/a" } else { "/b" });
        assert!(message.data == payload(k), "payload {k}");
    }
}

/// All storages with all presets that are quick enough for a test.
pub(crate) fn storages() -> Vec<(&'static str, StorageOptions)> {
    [
        ("mcap", "none"),
        ("mcap", "fastwrite"),
        ("mcap", "zstd_fast"),
        ("sqlite3", "none"),
        ("sqlite3", "resilient"),
    ]
    .into_iter()
    .map(|(storage, preset)| {
        let options =
            StorageOptions::preset(StorageId::from_name(storage).unwrap(), preset).unwrap();
        (storage, options)
    })
    .collect()
}
