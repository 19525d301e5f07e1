//! The checks of the suite, one function each.

use std::path::Path;

use super::{OwnedMessage, Subject, read_all, sample_metadata, sample_topics, write_sample};
use crate::{Message, Order, Query, TopicId, TopicInfo};

type Check = fn(&dyn Subject, &Path);

pub(super) const ALL: [(&str, Check); 10] = [
    ("orders", orders),
    ("filters", filters),
    ("bounds", bounds),
    ("topics", topics),
    ("statistics", statistics),
    ("empty", empty),
    ("refused", refused),
    ("metadata", metadata),
    ("sealed", sealed),
    ("existing", existing),
];

fn query(order: Order) -> Query {
    Query {
        order,
        ..Query::default()
    }
}

fn by_time(mut messages: Vec<OwnedMessage>) -> Vec<OwnedMessage> {
    messages.sort_by_key(|message| message.log_time_ns);
    messages
}

fn read(subject: &dyn Subject, path: &Path, query: &Query) -> Vec<OwnedMessage> {
    let mut reader = subject.open(path).expect("the file opens");
    read_all(reader.as_mut(), query).expect("the file reads")
}

fn assert_same(actual: &[OwnedMessage], expected: &[OwnedMessage], what: &str) {
    assert_eq!(actual.len(), expected.len(), "{what}: number of messages");
    for (place, (actual, expected)) in actual.iter().zip(expected).enumerate() {
        assert!(
            actual == expected,
            "{what}: message {place} differs at time {}",
            expected.log_time_ns
        );
    }
}

/// All orders deliver all messages, stable at equal times, reverse being the exact reverse.
fn orders(subject: &dyn Subject, path: &Path) {
    let (written, _) = write_sample(subject, path);
    assert_same(
        &read(subject, path, &query(Order::File)),
        &written,
        "file order",
    );
    let sorted = by_time(written);
    assert_same(
        &read(subject, path, &query(Order::LogTime)),
        &sorted,
        "log-time order",
    );
    let reversed: Vec<_> = sorted.into_iter().rev().collect();
    assert_same(
        &read(subject, path, &query(Order::ReverseLogTime)),
        &reversed,
        "reverse order",
    );
}

/// No filter is everything, an empty filter is nothing, an unknown topic selects nothing.
fn filters(subject: &dyn Subject, path: &Path) {
    let (written, _) = write_sample(subject, path);
    let filtered = |topics: Vec<TopicId>| Query {
        topics: Some(topics),
        ..Query::default()
    };
    assert!(
        read(subject, path, &filtered(vec![])).is_empty(),
        "an empty filter selects nothing"
    );
    assert!(
        read(subject, path, &filtered(vec![TopicId(2)])).is_empty(),
        "a topic without messages"
    );
    assert!(
        read(subject, path, &filtered(vec![TopicId(99)])).is_empty(),
        "a topic that does not exist"
    );
    for topic in ["/imu", "/camera"] {
        let mut reader = subject.open(path).expect("the file opens");
        let id = reader.info().topic_id(topic).expect("the topic is listed");
        for order in [Order::LogTime, Order::ReverseLogTime, Order::File] {
            let expected: Vec<_> = written
                .iter()
                .filter(|message| message.topic == topic)
                .cloned()
                .collect();
            let expected = match order {
                Order::File => expected,
                Order::LogTime => by_time(expected),
                Order::ReverseLogTime => by_time(expected).into_iter().rev().collect(),
            };
            let query = Query {
                order,
                topics: Some(vec![id]),
                ..Query::default()
            };
            assert_same(
                &read_all(reader.as_mut(), &query).expect("reads"),
                &expected,
                topic,
            );
        }
    }
}

/// Both bounds are inclusive, and a reader can be started again anywhere.
fn bounds(subject: &dyn Subject, path: &Path) {
    let (written, _) = write_sample(subject, path);
    let sorted = by_time(written.clone());
    let mut reader = subject.open(path).expect("the file opens");
    for (from, to) in [(0, 119), (5, 5), (17, 90), (90, 17), (119, 119), (60, 61)] {
        let (start, end) = (sorted[from].log_time_ns, sorted[to].log_time_ns);
        let inside = |message: &&OwnedMessage| (start..=end).contains(&message.log_time_ns);
        let expected: Vec<_> = sorted.iter().filter(inside).cloned().collect();
        let mut query = Query {
            start_ns: Some(start),
            end_ns: Some(end),
            ..Query::default()
        };
        assert_same(
            &read_all(reader.as_mut(), &query).expect("reads"),
            &expected,
            "bounds",
        );
        query.order = Order::ReverseLogTime;
        let reversed: Vec<_> = expected.into_iter().rev().collect();
        assert_same(
            &read_all(reader.as_mut(), &query).expect("reads"),
            &reversed,
            "bounds in reverse",
        );
        query.order = Order::File;
        let in_file: Vec<_> = written.iter().filter(inside).cloned().collect();
        assert_same(
            &read_all(reader.as_mut(), &query).expect("reads"),
            &in_file,
            "bounds in file order",
        );
    }
    let (first, last) = (sorted[0].log_time_ns, sorted[119].log_time_ns);
    let before = Query {
        end_ns: Some(first - 1),
        ..Query::default()
    };
    let after = Query {
        start_ns: Some(last + 1),
        ..Query::default()
    };
    for query in [before, after] {
        assert!(
            read_all(reader.as_mut(), &query).expect("reads").is_empty(),
            "nothing lies outside"
        );
    }
}

/// Everything about a topic is kept, also of one without messages; declaring it again is harmless.
fn topics(subject: &dyn Subject, path: &Path) {
    let mut writer = subject.create(path, None).expect("created");
    let topics = sample_topics();
    for topic in topics.iter().chain(&topics) {
        let id = writer
            .add_topic(topic)
            .expect("a topic can be declared twice");
        assert_eq!(topics[id.index()].name, topic.name);
    }
    let conflict = TopicInfo::new("/imu", "std_msgs/msg/Empty");
    assert!(
        writer.add_topic(&conflict).is_err(),
        "a topic cannot change its type"
    );
    let late = TopicInfo::new("/late", "std_msgs/msg/Empty");
    let message = Message {
        topic: TopicId(0),
        log_time_ns: 5,
        publish_time_ns: 5,
        sequence: 0,
        data: b"x",
    };
    assert!(writer.write(&[message], 0).is_ok());
    let id = writer.add_topic(&late).expect("topics can be added later");
    assert!(
        writer
            .write(
                &[Message {
                    topic: id,
                    ..message
                }],
                0
            )
            .is_ok()
    );
    let (_, outcome) = writer.finish(&mut |_| sample_metadata());
    assert!(outcome.is_ok());
    let reader = subject.open(path).expect("opens");
    let info = reader.info();
    assert_eq!(info.topics.len(), 4);
    assert_eq!(
        &info.topics[..3],
        &topics[..],
        "every field of a topic survives"
    );
    assert_eq!(info.topics[3].name, "/late");
    assert_eq!(info.message_counts, [1, 0, 0, 1]);
}

/// The writer's account, the file's own counts and the content agree.
fn statistics(subject: &dyn Subject, path: &Path) {
    let (written, summary) = write_sample(subject, path);
    let reader = subject.open(path).expect("opens");
    let info = reader.info();
    assert_eq!(summary.topics.len(), 3);
    for (index, topic) in info.topics.iter().enumerate() {
        let of_topic = || written.iter().filter(|message| message.topic == topic.name);
        let account = &summary.topics[index];
        let count = of_topic().count() as u64;
        assert_eq!(account.messages_recorded, count, "{}: recorded", topic.name);
        assert_eq!(
            info.message_counts[index], count,
            "{}: counted by the file",
            topic.name
        );
        assert_eq!(
            account.bytes_written,
            of_topic()
                .map(|message| message.data.len() as u64)
                .sum::<u64>()
        );
        assert_eq!(
            account.first_time_ns,
            of_topic().map(|message| message.log_time_ns).min()
        );
        assert_eq!(
            account.last_time_ns,
            of_topic().map(|message| message.log_time_ns).max()
        );
        assert_eq!(account.messages_lost(), 0);
    }
    assert_eq!(info.start_time_ns, summary.total().first_time_ns);
    assert_eq!(info.end_time_ns, summary.total().last_time_ns);
    assert_eq!(info.damage, Vec::<String>::new());
    assert_eq!(
        info.file_size,
        std::fs::metadata(path).expect("the file exists").len()
    );
    assert_eq!(info.file_size, summary.file_size);
}

/// A file without topics and messages is valid.
fn empty(subject: &dyn Subject, path: &Path) {
    let writer = subject.create(path, None).expect("created");
    let (summary, outcome) = writer.finish(&mut |_| sample_metadata());
    assert!(outcome.is_ok());
    assert_eq!(summary.total().messages_recorded, 0);
    let reader = subject.open(path).expect("opens");
    assert_eq!(reader.info().topics, []);
    assert_eq!(
        (reader.info().start_time_ns, reader.info().end_time_ns),
        (None, None)
    );
    assert!(read(subject, path, &Query::default()).is_empty());
}

/// Messages of a topic that was never declared are named, and only those.
fn refused(subject: &dyn Subject, path: &Path) {
    let mut writer = subject.create(path, None).expect("created");
    writer.add_topic(&sample_topics()[0]).expect("added");
    let message = |topic, log_time_ns| Message {
        topic,
        log_time_ns,
        publish_time_ns: 1,
        sequence: 0,
        data: b"abc",
    };
    let outcome = writer.write(
        &[
            message(TopicId(0), 1),
            message(TopicId(7), 2),
            message(TopicId(7), 4),
            message(TopicId(0), 3),
        ],
        0,
    );
    assert_eq!(outcome.messages_lost(), 2);
    let lost = outcome.unwritten[0];
    assert_eq!(
        (
            lost.topic,
            lost.messages,
            lost.bytes,
            lost.first_time_ns,
            lost.last_time_ns
        ),
        (TopicId(7), 2, 6, 2, 4)
    );
    assert!(outcome.error.is_some());
    let (summary, outcome) = writer.finish(&mut |_| sample_metadata());
    assert!(outcome.is_ok(), "{outcome:?}");
    assert_eq!(summary.total().messages_recorded, 2);
    assert_eq!(read(subject, path, &Query::default()).len(), 2);
}

/// A reader gets the newest metadata.
fn metadata(subject: &dyn Subject, path: &Path) {
    let mut first = sample_metadata();
    first.ros_distro = "iron".into();
    let writer = subject.create(path, Some(&first)).expect("created");
    let (_, outcome) = writer.finish(&mut |_| sample_metadata());
    assert!(outcome.is_ok());
    let reader = subject.open(path).expect("opens");
    assert_eq!(reader.info().metadata.as_deref(), Some(&sample_metadata()));
}

/// Sealed messages can be read at once, while the writer is still open.
fn sealed(subject: &dyn Subject, path: &Path) {
    let mut writer = subject.create(path, None).expect("created");
    writer.add_topic(&sample_topics()[0]).expect("added");
    for time in 0..10 {
        let message = Message {
            topic: TopicId(0),
            log_time_ns: time,
            publish_time_ns: time,
            sequence: 0,
            data: b"abc",
        };
        assert!(writer.write(&[message], 0).is_ok());
        assert!(writer.seal().is_ok());
        assert_eq!(
            read(subject, path, &Query::default()).len(),
            usize::try_from(time).unwrap_or(0) + 1
        );
    }
    assert!(writer.sync().is_ok());
    let (summary, _) = writer.finish(&mut |_| sample_metadata());
    assert_eq!(summary.total().messages_recorded, 10);
}

/// An existing file is never overwritten.
fn existing(subject: &dyn Subject, path: &Path) {
    std::fs::write(path, b"precious").expect("written");
    assert!(subject.create(path, None).is_err());
    assert_eq!(std::fs::read(path).expect("read"), b"precious");
}
