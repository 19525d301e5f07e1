//! Selection and comparison of messages.

use tempfile::tempdir;
use timeloom_bag::{BagOptions, BagReader, BagWriter, Message, TopicInfo};
use timeloom_compare::{AlignBy, Alignment, CompareOptions, Error, Kind, compare};
use timeloom_msg::TypeResolver;

use crate::{Sent, diff, float, point, write};

const SPEED: &[(&str, &str)] = &[("/speed", "std_msgs/msg/Float64")];
const POINT: &[(&str, &str)] = &[("/point", "geometry_msgs/msg/PointStamped")];

fn align(by: AlignBy, within_ns: u64) -> CompareOptions {
    CompareOptions {
        alignment: Alignment { by, within_ns },
        ..CompareOptions::default()
    }
}

#[test]
fn a_bag_is_the_same_as_itself() {
    let directory = tempdir().unwrap();
    let sent: Vec<Sent> = (0..500)
        .map(|n| float("/speed", n * 1_000, 0.5 * n as f64))
        .collect();
    for name in ["a", "b"] {
        write(&directory.path().join(name), SPEED, &sent);
    }
    let found = diff(directory.path(), &CompareOptions::default());
    assert!(found.is_same());
    assert_eq!(
        (found.topics[0].same, found.topics[0].aligned_by),
        (500, Some("order"))
    );
}

#[test]
fn the_first_and_the_worst_difference_are_named() {
    let directory = tempdir().unwrap();
    let left: Vec<Sent> = (0..10).map(|n| float("/speed", n * 1_000, 1.0)).collect();
    let mut right = left.clone();
    right[3] = float("/speed", 3_000, 1.5);
    right[7] = float("/speed", 7_000, 9.0);
    write(&directory.path().join("a"), SPEED, &left);
    write(&directory.path().join("b"), SPEED, &right);
    let found = diff(directory.path(), &CompareOptions::default());
    let topic = &found.topics[0];
    assert_eq!((topic.same, topic.different), (8, 2));
    assert_eq!(topic.kinds, [Kind::Values]);
    let field = &topic.fields[0];
    assert_eq!((field.field.as_str(), field.messages), ("data", 2));
    assert_eq!((field.first.message, field.first.time_ns), (4, 3_000));
    assert_eq!((field.worst.message, field.worst.delta), (8, Some(8.0)));
    let mut options = CompareOptions::default();
    options.rules.add("float64=8").unwrap();
    assert!(diff(directory.path(), &options).is_same());
}

#[test]
fn stamps_align_messages_though_one_is_missing() {
    let directory = tempdir().unwrap();
    let left: Vec<Sent> = (0..100)
        .map(|n| point("/point", n, n * 1_000, n as f64))
        .collect();
    let mut right = left.clone();
    right.remove(40);
    write(&directory.path().join("a"), POINT, &left);
    write(&directory.path().join("b"), POINT, &right);
    let found = diff(directory.path(), &CompareOptions::default());
    let topic = &found.topics[0];
    assert_eq!(topic.aligned_by, Some("stamp"));
    assert_eq!(
        (
            topic.same,
            topic.different,
            topic.only_left,
            topic.only_right
        ),
        (99, 0, 1, 0)
    );
    assert_eq!(topic.kinds, [Kind::Messages]);
    let by_order = diff(directory.path(), &align(AlignBy::Order, 0));
    assert_eq!(by_order.topics[0].different, 59);
}

#[test]
fn the_order_of_messages_counts() {
    let directory = tempdir().unwrap();
    let left: Vec<Sent> = (0..10)
        .map(|n| point("/point", n, n * 1_000, 0.0))
        .collect();
    let mut right = left.clone();
    right.swap(4, 5);
    right[4].time_ns = 4;
    right[5].time_ns = 5;
    write(&directory.path().join("a"), POINT, &left);
    write(&directory.path().join("b"), POINT, &right);
    let found = diff(directory.path(), &CompareOptions::default());
    assert_eq!(found.topics[0].kinds, [Kind::Order]);
    assert_eq!(found.topics[0].reordered, 1);
}

#[test]
fn time_since_the_start_aligns_recordings_of_different_days() {
    let directory = tempdir().unwrap();
    let bag = |start: i64, late: i64| -> Vec<Sent> {
        (0..50)
            .map(|n| {
                float(
                    "/speed",
                    start + n * 1_000_000 + if n > 0 { late } else { 0 },
                    n as f64,
                )
            })
            .collect()
    };
    write(&directory.path().join("a"), SPEED, &bag(0, 0));
    write(
        &directory.path().join("b"),
        SPEED,
        &bag(86_400_000_000_000, 1_000),
    );
    assert!(diff(directory.path(), &align(AlignBy::Time, 2_000)).is_same());
    let exact = diff(directory.path(), &align(AlignBy::Time, 0));
    assert_eq!((exact.topics[0].same, exact.topics[0].only_left), (1, 49));
    let absolute = diff(directory.path(), &align(AlignBy::AbsoluteTime, 2_000));
    assert_eq!(absolute.topics[0].only_right, 50);
}

#[test]
fn sequence_numbers_align_where_the_bag_has_them() {
    let directory = tempdir().unwrap();
    let numbered = |numbers: &[u32]| -> Vec<Sent> {
        let message = |(at, number): (usize, &u32)| Sent {
            sequence: *number,
            ..float("/speed", i64::try_from(at).unwrap(), f64::from(*number))
        };
        numbers.iter().enumerate().map(message).collect()
    };
    write(&directory.path().join("a"), SPEED, &numbered(&[1, 2, 3, 4]));
    write(&directory.path().join("b"), SPEED, &numbered(&[2, 3, 4, 5]));
    let found = diff(directory.path(), &align(AlignBy::Sequence, 0));
    let topic = &found.topics[0];
    assert_eq!((topic.same, topic.only_left, topic.only_right), (3, 1, 1));
}

#[test]
fn an_alignment_that_is_not_possible_is_an_error() {
    let directory = tempdir().unwrap();
    for name in ["a", "b"] {
        write(
            &directory.path().join(name),
            SPEED,
            &[float("/speed", 0, 0.0)],
        );
    }
    for (by, reason) in [
        (AlignBy::Stamp, "its type has no header stamp"),
        (
            AlignBy::Sequence,
            "the bag has no sequence numbers of the publisher",
        ),
    ] {
        let [mut left, mut right] =
            ["a", "b"].map(|name| BagReader::open(&directory.path().join(name)).unwrap());
        let error = compare(
            &mut left,
            &mut right,
            ["a", "b"],
            &align(by, 0),
            &TypeResolver::default(),
        );
        match error {
            Err(Error::Align { reason: actual, .. }) => assert_eq!(actual, reason),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn topics_types_and_losses_count() {
    let directory = tempdir().unwrap();
    let bag = |name: &str, topics: &[(&str, &str)], lost: u64| {
        let mut writer =
            BagWriter::create(&directory.path().join(name), BagOptions::default()).unwrap();
        for (topic, type_name) in topics {
            let id = writer
                .add_topic(&TopicInfo::new(*topic, *type_name))
                .unwrap();
            let data = [0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
            let message = Message {
                topic: id,
                log_time_ns: 5,
                publish_time_ns: 5,
                sequence: 1,
                data: &data,
            };
            assert!(writer.write(&[message], 5).is_ok());
            writer.lost_in_transport(id, lost, 5);
        }
        let (_summary, outcome) = writer.finish().unwrap();
        assert!(outcome.is_ok());
    };
    bag(
        "a",
        &[
            ("/x", "std_msgs/msg/Float64"),
            ("/y", "std_msgs/msg/Float64"),
        ],
        0,
    );
    bag(
        "b",
        &[("/x", "std_msgs/msg/Int64"), ("/z", "std_msgs/msg/Float64")],
        3,
    );
    let found = diff(directory.path(), &CompareOptions::default());
    let kinds: Vec<_> = found
        .topics
        .iter()
        .map(|topic| (topic.name.as_str(), topic.kinds.clone()))
        .collect();
    assert_eq!(
        kinds,
        [
            ("/x", vec![Kind::Type, Kind::Losses]),
            ("/y", vec![Kind::OnlyLeft]),
            ("/z", vec![Kind::OnlyRight]),
        ]
    );
    let ignore = vec![Kind::Type, Kind::Losses, Kind::OnlyLeft, Kind::OnlyRight];
    let options = CompareOptions {
        ignore,
        ..CompareOptions::default()
    };
    assert!(diff(directory.path(), &options).is_same());
}

#[test]
fn a_type_without_definition_is_compared_byte_by_byte() {
    let directory = tempdir().unwrap();
    let own = &[("/speed", "my_robot/msg/Speed")];
    write(
        &directory.path().join("a"),
        own,
        &[float("/speed", 0, 1.0), float("/speed", 1, 1.0)],
    );
    write(
        &directory.path().join("b"),
        own,
        &[float("/speed", 0, 1.0), float("/speed", 1, 2.0)],
    );
    let found = diff(directory.path(), &CompareOptions::default());
    let topic = &found.topics[0];
    assert_eq!((topic.same, topic.different, topic.undecoded), (1, 1, 1));
    assert!(
        topic
            .undecoded_reason
            .as_ref()
            .unwrap()
            .contains("no definition of my_robot/msg/Speed")
    );
}

#[test]
fn memory_is_bounded_and_dropped_messages_are_counted() {
    let directory = tempdir().unwrap();
    // The right bag has the same messages in the opposite order of stamps: all of them wait.
    let left: Vec<Sent> = (0..500)
        .map(|n| point("/point", n, n * 1_000, 0.0))
        .collect();
    let right: Vec<Sent> = (0..500)
        .map(|n| point("/point", n, (499 - n) * 1_000, 0.0))
        .collect();
    write(&directory.path().join("a"), POINT, &left);
    write(&directory.path().join("b"), POINT, &right);
    let all = diff(directory.path(), &CompareOptions::default());
    assert_eq!((all.topics[0].same, all.given_up), (500, 0));
    let options = CompareOptions {
        memory: 4_096,
        ..CompareOptions::default()
    };
    let few = diff(directory.path(), &options);
    let topic = &few.topics[0];
    assert!(few.given_up > 0);
    assert_eq!(topic.same + topic.only_left, 500);
    assert_eq!(topic.same + topic.only_right, 500);
}
