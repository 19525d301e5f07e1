//! `metadata.yaml` of every version, read exactly and written as rosbag2 writes it.

use std::fs;

use proptest::prelude::*;
use timeloom_bag::metadata::{FileRecord, METADATA_FILE, TopicRecord, read_metadata_file};
use timeloom_bag::{
    BagMetadata, LeftOut, LossTimeline, MissingCause, RecorderLoss, TopicInfo, TopicStatistics,
    UnknownMessages, yaml,
};

use crate::support::{bag_directories, bags};

#[test]
fn every_golden_metadata_is_read_and_version_9_is_written_back_byte_for_byte() {
    let mut exact = 0;
    for bag in bag_directories() {
        let text = fs::read_to_string(bag.join(METADATA_FILE)).unwrap();
        let metadata = read_metadata_file(&bag).unwrap();
        let counted: u64 = metadata
            .topics
            .iter()
            .map(|topic| topic.message_count)
            .sum();
        assert_eq!(counted, metadata.message_count, "{}", bag.display());
        assert!(metadata.extra.is_empty());
        if metadata.version == 9 {
            assert_eq!(metadata.to_yaml(), text, "{}", bag.display());
            exact += 1;
        }
        assert_eq!(
            BagMetadata::parse(&metadata.to_yaml())
                .unwrap()
                .message_count,
            metadata.message_count
        );
    }
    assert!(exact >= 12, "{exact} bags of version 9");
}

fn sample(version: u32, body: &str) -> BagMetadata {
    BagMetadata::parse(&format!(
        "rosbag2_bagfile_information:\n  version: {version}\n{body}"
    ))
    .unwrap()
}

#[test]
fn old_versions_keep_every_field() {
    let v2 = sample(
        2,
        "  storage_identifier: sqlite3\n  relative_file_paths:\n    - lab_run/lab_run_0.db3\n  duration: {nanoseconds: 4000000000}\n  starting_time: {nanoseconds_since_epoch: 1560000000000000000}\n  message_count: 8\n  topics_with_message_count:\n    - topic_metadata: {name: /odom, type: nav_msgs/msg/Odometry, serialization_format: cdr}\n      message_count: 8\n",
    );
    assert_eq!(
        (v2.duration_ns, v2.starting_time_ns, v2.message_count),
        (4_000_000_000, 1_560_000_000_000_000_000, 8)
    );
    assert_eq!(v2.relative_file_paths, ["lab_run/lab_run_0.db3"]);
    assert_eq!(
        (
            v2.topics[0].topic.name.as_str(),
            v2.topics[0].topic.type_name.as_str()
        ),
        ("/odom", "nav_msgs/msg/Odometry")
    );
    let v6 = sample(
        6,
        "  storage_identifier: mcap\n  duration:\n    nanoseconds: 0\n  starting_time:\n    nanoseconds_since_epoch: 0\n  message_count: 0\n  topics_with_message_count: []\n  custom_data: {operator: ana, run: \"7\"}\n  compression_mode: FILE\n  compression_format: zstd\n",
    );
    assert_eq!(
        v6.custom_data,
        [
            ("operator".into(), "ana".into()),
            ("run".into(), "7".into())
        ]
    );
    assert!(v6.compresses_files() && !v6.compresses_messages());
    let qos = "- history: 3\n  depth: 0";
    let bag = bags().join("rosbag2_samples/rosbag2_tests/resources/sqlite3/wrong_rmw_test");
    let v4 = read_metadata_file(&bag).unwrap();
    assert!(v4.topics[0].topic.offered_qos_profiles.starts_with(qos));
}

#[test]
fn unknown_keys_survive_a_round_trip() {
    let text = "rosbag2_bagfile_information:\n  version: 9\n  storage_identifier: mcap\n  future: {a: [1, 2]}\n  files:\n    - path: a.mcap\n      starting_time: {nanoseconds_since_epoch: 1}\n      duration: {nanoseconds: 2}\n      message_count: 3\n      checksum: abc\n";
    let metadata = BagMetadata::parse(text).unwrap();
    let back = BagMetadata::parse(&metadata.to_yaml()).unwrap();
    assert_eq!(back.extra, metadata.extra);
    assert_eq!(
        back.files[0].extra,
        [("checksum".into(), yaml::Node::Plain("abc".into()))]
    );
}

#[test]
fn hostile_metadata_is_an_error() {
    let head = "rosbag2_bagfile_information:\n  version: 9\n";
    for body in [
        format!("  custom_data: {}", "[".repeat(20_000)),
        "  message_count: -1\n".into(),
        "  message_count: 99999999999999999999999\n".into(),
        "  topics_with_message_count: 7\n".into(),
        "  topics_with_message_count:\n    - message_count: 1\n".into(),
        "  files:\n    - 3\n".into(),
        "  duration: 5\n".into(),
        "  a: &a [x,x,x]\n  b: &b [*a,*a,*a]\n  c: [*b,*b,*b]\n".into(),
    ] {
        assert!(
            BagMetadata::parse(&format!("{head}{body}")).is_err(),
            "{body:.80}"
        );
    }
    assert!(BagMetadata::parse("").is_err());
    assert!(BagMetadata::parse("rosbag2_bagfile_information: 3").is_err());
    assert!(BagMetadata::parse("\u{0}\u{1}").is_err());
}

fn statistics() -> impl Strategy<Value = TopicStatistics> {
    let times = proptest::option::of((any::<i32>(), 0i64..99));
    let counts = proptest::collection::vec(0u64..9, 14);
    (counts, 0u64..1 << 40, times, any::<bool>()).prop_map(|(n, bytes, times, interrupted)| {
        TopicStatistics {
            messages_recorded: n[0],
            messages_lost_in_transport: n[1],
            lost_in_recorder: RecorderLoss {
                queue: n[2],
                compression: n[3],
                storage: n[4],
                backpressure: n[5],
            },
            left_out: LeftOut {
                paused: n[6],
                throttled: n[7],
                overwritten: n[8],
                deleted: n[9],
                type_conflict: n[10],
            },
            unknown: UnknownMessages {
                uncounted: false,
                before_first: n[11],
                open_publishers: n[12],
                unplaced: n[13],
                interrupted,
            },
            bytes_written: bytes,
            first_time_ns: times.map(|(first, _)| i64::from(first)),
            last_time_ns: times.map(|(first, span)| i64::from(first) + span),
        }
    })
}

fn timeline() -> impl Strategy<Value = LossTimeline> {
    let cause = (0usize..10).prop_map(|at| MissingCause::all().nth(at).unwrap());
    proptest::collection::vec((any::<i64>(), cause, 1u64..99), 0..9).prop_map(|losses| {
        let mut timeline = LossTimeline::default();
        for (when, cause, messages) in losses {
            timeline.add(when, cause, messages);
        }
        timeline
    })
}

prop_compose! {
    fn metadata()(
        name in "[/a-z0-9_]{1,20}", text in "\\PC{0,20}", distro in "[a-z]{0,8}", count in any::<u64>(), time in any::<i64>(),
        version in 9u32..=10, statistics in statistics(), timeline in timeline(), found in proptest::collection::vec(0u64..9, 10),
        custom in proptest::collection::btree_map("[a-z]{1,5}", "\\PC{0,9}", 0..3),
    ) -> BagMetadata {
        let mut topic = TopicInfo::new(format!("/{name}"), text.clone());
        topic.offered_qos_profiles = "- history: keep_last\n  depth: 10".into();
        let mut found_again = TopicStatistics::default();
        for (cause, messages) in MissingCause::all().zip(found) {
            found_again.miss(cause, messages);
        }
        BagMetadata {
            version,
            storage_identifier: "mcap".into(),
            duration_ns: time,
            starting_time_ns: time,
            message_count: count,
            topics: vec![TopicRecord { topic, message_count: count, statistics: Some(statistics), timeline, found_again, extra: vec![] }],
            compression_format: text.clone(),
            relative_file_paths: vec![text.clone() + "x"],
            files: vec![FileRecord {
                path: name.clone(),
                starting_time_ns: time,
                duration_ns: 1,
                message_count: count,
                topics_statistics: vec![(name, statistics)],
                extra: vec![],
            }],
            custom_data: custom.into_iter().collect(),
            ros_distro: distro,
            ..BagMetadata::default()
        }
    }
}

#[test]
fn custom_data_is_written_as_rosbag2_writes_it() {
    let pairs = [
        ("a", "1"),
        ("b", "true"),
        ("a", "3"),
        ("c", ""),
        ("d", "null"),
        ("e", "a: b"),
        ("f", "1.5e3"),
    ];
    let metadata = BagMetadata {
        custom_data: pairs.map(|(key, value)| (key.into(), value.into())).into(),
        ..BagMetadata::default()
    };
    let text = metadata.to_yaml();
    let lines = "  custom_data:\n    a: 3\n    b: true\n    c: \"\"\n    d: \"null\"\n    e: \"a: b\"\n    f: 1.5e3\n";
    assert!(text.contains(lines), "{text}");
    let read = BagMetadata::parse(&text).unwrap().custom_data;
    assert_eq!(read.len(), 6);
    assert_eq!(
        read[0],
        ("a".to_owned(), "3".to_owned()),
        "the last one wins"
    );
}

proptest! {
    #[test]
    fn the_account_reads_back_as_written_in_versions_9_and_10(metadata in metadata()) {
        prop_assert_eq!(BagMetadata::parse(&metadata.to_yaml()).unwrap(), metadata.clone());
        prop_assert_eq!(BagMetadata::parse(&metadata.to_embedded_yaml()).unwrap(), metadata);
    }

    #[test]
    fn any_text_is_an_error_or_metadata_but_never_a_panic(text in "\\PC{0,200}") {
        let _outcome = BagMetadata::parse(&text);
    }
}

#[test]
fn version_10_is_a_superset_of_version_9() {
    let bag = bags().join("mcap_plain");
    let mut metadata = read_metadata_file(&bag).unwrap();
    let nine = metadata.to_yaml();
    metadata.version = 10;
    for topic in &mut metadata.topics {
        topic.statistics = Some(TopicStatistics {
            messages_recorded: topic.message_count,
            ..TopicStatistics::default()
        });
    }
    let ten = metadata.to_yaml();
    for line in nine.lines().filter(|line| !line.contains("version: 9")) {
        assert!(ten.contains(line), "{line}");
    }
    assert!(ten.contains("messages_lost_in_transport: 0"));
}
