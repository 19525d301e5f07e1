//! Bags as directories: split, compressed, merged, accounted for.

use std::fs;

use timeloom_bag::bag::{FileNaming, SentOrder};
use timeloom_bag::metadata::read_metadata_file;
use timeloom_bag::{
    BagOptions, BagReader, BagWriter, CompressionMode, LossCause, Message, Order, Query,
    StorageReader, TopicId, UnknownMessages,
};
use timeloom_testkit::mcap::BagScratch;

use crate::support::{
    assert_holds, files_below, message_time, payload, read_bag, storages, test_topics, write_bag,
};

#[test]
fn every_storage_and_compression_reads_back() {
    let directory = BagScratch::new();
    for (number, (_, storage)) in storages().into_iter().enumerate() {
        for compression in [
            CompressionMode::None,
            CompressionMode::File,
            CompressionMode::Message,
        ] {
            let path = directory.path().join(format!("{number}_{compression:?}"));
            let options = BagOptions {
                storage: storage.clone(),
                compression,
                ..BagOptions::default()
            };
            let summary = write_bag(&path, options, 300);
            assert_eq!(summary.metadata.message_count, 300);
            assert_holds(&path, 0..300);
            let names: Vec<_> = files_below(&path)
                .iter()
                .map(|path| path.extension().unwrap().to_owned())
                .collect();
            assert_eq!(
                names.iter().any(|name| name == "zstd"),
                compression == CompressionMode::File,
                "{names:?}"
            );
            assert_eq!(names.len(), 2, "{names:?}");
            // Only the file itself has its compression.
            let file = files_below(&path)
                .into_iter()
                .find(|path| path.extension().unwrap() != "yaml")
                .unwrap();
            assert_holds(&file, 0..300);
        }
    }
}

#[test]
fn a_split_bag_reads_as_one_and_its_metadata_adds_up() {
    let directory = BagScratch::new();
    for (number, (name, storage)) in storages().into_iter().enumerate() {
        let path = directory.path().join(number.to_string());
        let by_size = if name == "mcap" { 20_000 } else { 700_000 };
        let limits = if number % 2 == 0 {
            (by_size, 0)
        } else {
            (0, 99_000_000)
        };
        let options = BagOptions {
            storage,
            max_file_size: limits.0,
            max_file_duration_ns: limits.1,
            ..BagOptions::default()
        };
        let summary = write_bag(&path, options, 1000);
        let metadata = read_metadata_file(&path).unwrap();
        assert_eq!(metadata, summary.metadata);
        assert!(
            metadata.files.len() > 1 || name == "sqlite3",
            "{name}: {} files",
            metadata.files.len()
        );
        assert_eq!(
            metadata
                .files
                .iter()
                .map(|file| file.message_count)
                .sum::<u64>(),
            1000
        );
        assert_eq!(metadata.duration_ns, message_time(999) - message_time(0));
        if limits.1 > 0 {
            assert_eq!(metadata.files.len(), 10);
            assert!(
                metadata
                    .files
                    .iter()
                    .all(|file| file.duration_ns <= limits.1)
            );
        }
        assert_holds(&path, 0..1000);
        let mut reader = BagReader::open(&path).unwrap();
        reader
            .start(&Query {
                order: Order::ReverseLogTime,
                end_ns: Some(message_time(500)),
                ..Query::default()
            })
            .unwrap();
        assert_eq!(
            reader.next_message().unwrap().unwrap().log_time_ns,
            message_time(500)
        );
        assert_eq!(
            reader.next_message().unwrap().unwrap().log_time_ns,
            message_time(499)
        );
    }
}

#[test]
fn a_split_by_hand_continues_in_the_next_file() {
    let directory = BagScratch::new();
    let path = directory.path().join("run");
    let mut times = ["2026_01_01-00_00_00", "2026_01_01-00_00_01"].into_iter();
    let naming = FileNaming::Timed(Box::new(move || times.next().unwrap().to_owned()));
    let mut writer = BagWriter::create(
        &path,
        BagOptions {
            naming,
            ..BagOptions::default()
        },
    )
    .unwrap();
    let topic = writer.add_topic(&test_topics()[0]).unwrap();
    for k in 0..10u32 {
        if k == 5 {
            let event = writer.split().unwrap();
            assert_eq!(
                event.closed_file.file_name().unwrap(),
                "0_run_2026_01_01-00_00_00.mcap"
            );
            assert_eq!(
                event.opened_file.file_name().unwrap(),
                "1_run_2026_01_01-00_00_01.mcap"
            );
        }
        let time = message_time(k);
        let data = payload(k);
        let message = Message {
            topic,
            log_time_ns: time,
            publish_time_ns: time,
            sequence: 0,
            data: &data,
        };
        assert!(writer.write(&[message], 0).is_ok());
    }
    assert_eq!(writer.take_splits().len(), 1);
    let (summary, _) = writer.finish().unwrap();
    let counts: Vec<_> = summary
        .metadata
        .files
        .iter()
        .map(|file| file.message_count)
        .collect();
    assert_eq!(counts, [5, 5]);
    // Without metadata the numbers in the names give the order.
    fs::remove_file(path.join("metadata.yaml")).unwrap();
    let reader = BagReader::open(&path).unwrap();
    assert_eq!(reader.info().damage, ["metadata.yaml is missing"]);
    assert_eq!(read_bag(&path).len(), 10);
}

#[test]
fn the_account_of_a_bag_keeps_the_law() {
    let directory = BagScratch::new();
    let path = directory.path().join("run");
    let mut writer = BagWriter::create(&path, BagOptions::default()).unwrap();
    let ids: Vec<_> = test_topics()
        .iter()
        .map(|topic| writer.add_topic(topic).unwrap())
        .collect();
    let send = |writer: &mut BagWriter, k: i64| {
        let message = Message {
            topic: ids[0],
            log_time_ns: k,
            publish_time_ns: k,
            sequence: 0,
            data: b"12345",
        };
        assert!(writer.write(&[message], 0).is_ok());
    };
    (0..7).for_each(|k| send(&mut writer, k));
    writer.lost_in_transport(ids[0], 3, 0);
    writer.lost_in_recorder(ids[0], LossCause::Queue, 2, 0);
    writer.split().unwrap();
    (7..9).for_each(|k| send(&mut writer, k));
    writer.lost_in_transport(ids[1], 4, 0);
    let unknown = UnknownMessages {
        before_first: 6,
        open_publishers: 1,
        ..UnknownMessages::default()
    };
    writer.leave_open(ids[0], unknown);
    assert_eq!(writer.statistics()[0].messages_published(), 14);
    let (summary, outcome) = writer.finish().unwrap();
    assert!(outcome.is_ok());
    let account = &summary.topics[0];
    assert_eq!(account.messages_published(), 14);
    assert_eq!(
        (
            account.messages_recorded,
            account.messages_lost_in_transport,
            account.messages_lost_in_recorder()
        ),
        (9, 3, 2)
    );
    assert_eq!(
        (
            account.bytes_written,
            account.first_time_ns,
            account.last_time_ns
        ),
        (45, Some(0), Some(8))
    );
    let metadata = read_metadata_file(&path).unwrap();
    assert_eq!(metadata.version, 9);
    assert_eq!(account.unknown, unknown);
    assert_eq!(metadata.topics[0].statistics.as_ref(), Some(account));
    assert_eq!(
        metadata.topics[1]
            .statistics
            .unwrap()
            .messages_lost_in_transport,
        4
    );
    let files: Vec<_> = metadata
        .files
        .iter()
        .map(|file| file.topics_statistics[0].1)
        .collect();
    assert_eq!(
        (files[0].messages_recorded, files[0].messages_lost()),
        (7, 5)
    );
    assert_eq!(
        (files[1].messages_recorded, files[1].messages_lost()),
        (2, 0)
    );
    let mut sum = files[0];
    sum.merge(&files[1]);
    assert_eq!(&sum, account);
}

#[test]
fn metadata_version_9_has_the_account_in_additional_keys() {
    let directory = BagScratch::new();
    let path = directory.path().join("run");
    write_bag(
        &path,
        BagOptions {
            metadata_version: Some(9),
            ..BagOptions::default()
        },
        10,
    );
    let text = fs::read_to_string(path.join("metadata.yaml")).unwrap();
    assert!(text.contains("version: 9") && text.contains("messages_recorded: "));
    assert!(
        BagWriter::create(
            &directory.path().join("x"),
            BagOptions {
                metadata_version: Some(3),
                ..BagOptions::default()
            }
        )
        .is_err()
    );
}

#[test]
fn metadata_exists_from_the_first_moment() {
    let directory = BagScratch::new();
    let path = directory.path().join("run");
    let writer = BagWriter::create(&path, BagOptions::default()).unwrap();
    let metadata = read_metadata_file(&path).unwrap();
    assert_eq!(metadata.relative_file_paths, ["run_0.mcap"]);
    assert!(BagWriter::create(&path, BagOptions::default()).is_err());
    assert!(writer.finish().unwrap().1.is_ok());
}

#[test]
fn several_bags_merge_in_stable_order() {
    let directory = BagScratch::new();
    let paths = [directory.path().join("one"), directory.path().join("two")];
    for (path, data) in paths.iter().zip([b"1", b"2"]) {
        let mut writer = BagWriter::create(
            path,
            BagOptions {
                max_file_duration_ns: 3,
                ..BagOptions::default()
            },
        )
        .unwrap();
        let topic = writer.add_topic(&test_topics()[0]).unwrap();
        for k in 0..20 {
            let message = Message {
                topic,
                log_time_ns: k / 2,
                publish_time_ns: 100 - k,
                sequence: 0,
                data,
            };
            assert!(writer.write(&[message], 0).is_ok());
        }
        assert!(writer.finish().unwrap().1.is_ok());
    }
    let mut reader = BagReader::open_all(&paths).unwrap();
    assert_eq!(reader.info().topics.len(), 3 - 2);
    let mut order = Vec::new();
    while let Some(message) = reader.next_message().unwrap() {
        order.push((
            message.log_time_ns,
            message.data.to_vec(),
            -message.publish_time_ns,
        ));
    }
    assert_eq!(order.len(), 40);
    assert!(
        order.is_sorted(),
        "equal times come in the order of the bags, then of the files"
    );
    reader
        .start(&Query {
            order: Order::ReverseLogTime,
            ..Query::default()
        })
        .unwrap();
    let mut reversed = Vec::new();
    while let Some(message) = reader.next_message().unwrap() {
        reversed.push((
            message.log_time_ns,
            message.data.to_vec(),
            -message.publish_time_ns,
        ));
    }
    reversed.reverse();
    assert_eq!(reversed, order);
}

#[test]
fn sent_order_sorts_by_publish_time_and_counts_late_messages() {
    let directory = BagScratch::new();
    let path = directory.path().join("run");
    let mut writer = BagWriter::create(&path, BagOptions::default()).unwrap();
    let topic = writer.add_topic(&test_topics()[0]).unwrap();
    for k in 0..100i64 {
        let publish_time_ns = k - (k * 7) % 10;
        assert!(
            writer
                .write(
                    &[Message {
                        topic,
                        log_time_ns: k,
                        publish_time_ns,
                        sequence: 0,
                        data: b"abc"
                    }],
                    0
                )
                .is_ok()
        );
    }
    assert!(writer.finish().unwrap().1.is_ok());
    for (window, exact) in [(1 << 20, true), (2 * 67, false)] {
        let mut sent = SentOrder::new(BagReader::open(&path).unwrap(), window);
        let mut times = Vec::new();
        while sent.advance().unwrap() {
            times.push(sent.message().unwrap().publish_time_ns);
        }
        assert_eq!(times.len(), 100);
        assert_eq!(times.is_sorted(), exact);
        assert_eq!(sent.late() == 0, exact);
    }
}

#[test]
fn filters_select_topics_by_name() {
    let directory = BagScratch::new();
    let path = directory.path().join("run");
    write_bag(
        &path,
        BagOptions {
            max_file_duration_ns: 10_000_000,
            ..BagOptions::default()
        },
        100,
    );
    let mut reader = BagReader::open(&path).unwrap();
    let mut count = |names: &[&str]| {
        let query = reader.query_for(names);
        reader.start(&query).unwrap();
        let mut count = 0;
        while reader.advance().unwrap() {
            count += 1;
        }
        count
    };
    assert_eq!(
        (
            count(&["/a"]),
            count(&["/a", "/b"]),
            count(&["/silent"]),
            count(&["/x"]),
            count(&[])
        ),
        (50, 100, 0, 0, 0)
    );
}

#[test]
fn a_message_of_an_unknown_topic_is_named() {
    let directory = BagScratch::new();
    directory.unchecked();
    let mut writer =
        BagWriter::create(&directory.path().join("run"), BagOptions::default()).unwrap();
    let message = Message {
        topic: TopicId(3),
        log_time_ns: 1,
        publish_time_ns: 1,
        sequence: 0,
        data: b"",
    };
    assert_eq!(writer.write(&[message], 0).messages_lost(), 1);
}

#[test]
fn hostile_metadata_cannot_lead_outside() {
    let directory = BagScratch::new();
    let path = directory.path().join("run");
    write_bag(&path, BagOptions::default(), 3);
    let text = fs::read_to_string(path.join("metadata.yaml")).unwrap();
    fs::write(
        path.join("metadata.yaml"),
        text.replace("run_0.mcap", "../../../etc/passwd"),
    )
    .unwrap();
    assert!(BagReader::open(&path).is_err());
}

#[test]
fn old_bags_name_their_files_from_the_parent_directory() {
    let directory = BagScratch::new();
    let path = directory.path().join("run");
    write_bag(&path, BagOptions::default(), 3);
    let text = fs::read_to_string(path.join("metadata.yaml")).unwrap();
    let old = text
        .replace("version: 9", "version: 3")
        .replace("- run_0.mcap", "- run/run_0.mcap");
    fs::write(path.join("metadata.yaml"), old).unwrap();
    assert_eq!(read_bag(&path).len(), 3);
}

#[test]
fn a_bag_that_was_closed_without_a_topic_is_finished() {
    let directory = BagScratch::new();
    for (number, (_, storage)) in storages().into_iter().enumerate() {
        let path = directory.path().join(format!("empty{number}"));
        let options = BagOptions {
            storage,
            ..BagOptions::default()
        };
        let (summary, outcome) = BagWriter::create(&path, options).unwrap().finish().unwrap();
        assert!(outcome.is_ok());
        assert!(!summary.metadata.is_unfinished(), "{number}");
        let reader = BagReader::open(&path).unwrap();
        assert_eq!(reader.info().damage, Vec::<String>::new(), "{number}");
    }
}
