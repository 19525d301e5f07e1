//! The account of a bag on a full disk equals its content.

use timeloom_bag::sqlite::SqliteOptions;
use timeloom_bag::{BagInfo, BagOptions, BagWriter, LossCause, Message, StorageOptions};
use timeloom_testkit::mcap::BagScratch;

use crate::support::{message_time, payload, read_bag, storages, test_topics};

#[test]
fn losses_in_a_last_file_without_messages_are_in_the_account() {
    let directory = BagScratch::new();
    for (number, (name, storage)) in storages().into_iter().enumerate() {
        let path = directory.path().join(number.to_string());
        let options = BagOptions {
            storage,
            ..BagOptions::default()
        };
        let mut writer = BagWriter::create(&path, options).unwrap();
        let topic = writer.add_topic(&test_topics()[0]).unwrap();
        let data = payload(1);
        let message = Message {
            topic,
            log_time_ns: message_time(1),
            publish_time_ns: message_time(1),
            sequence: 1,
            data: &data,
        };
        writer.write(&[message], 0).into_result().unwrap();
        writer.split().unwrap();
        writer.lost_in_recorder(topic, LossCause::Storage, 7, 0);
        let (_, outcome) = writer.finish().unwrap();
        outcome.into_result().unwrap();
        let info = BagInfo::open(&path).unwrap();
        assert_eq!(info.damage, Vec::<String>::new(), "{name}");
        let statistics = info.topics[0].statistics.expect("it was closed in order");
        assert_eq!(
            (statistics.messages_recorded, statistics.messages_lost()),
            (1, 7)
        );
    }
}

#[test]
fn on_a_full_disk_the_counts_of_a_database_are_exact() {
    let directory = BagScratch::new();
    let path = directory.path().join("bag");
    let mut sqlite = SqliteOptions {
        max_batch_messages: 7,
        ..SqliteOptions::default()
    };
    // For sqlite, this is a full disk.
    sqlite.pragmas.push("max_page_count=40".into());
    let options = BagOptions {
        storage: StorageOptions::Sqlite3(sqlite),
        ..BagOptions::default()
    };
    let mut writer = BagWriter::create(&path, options).unwrap();
    let topic = writer.add_topic(&test_topics()[0]).unwrap();
    let accepted = 400;
    for number in 0..accepted {
        // Large ones do not fit sooner than small ones.
        let data = vec![7; if number % 5 == 4 { 30_000 } else { 100 }];
        let message = Message {
            topic,
            log_time_ns: message_time(number),
            publish_time_ns: message_time(number),
            sequence: number,
            data: &data,
        };
        // Losses are also in the final outcome.
        let _outcome = writer.write(&[message], message_time(number));
    }
    let (summary, _) = writer.finish().unwrap();
    let account = summary.metadata.topics[0].statistics.unwrap();
    assert!(account.messages_lost() > 0);
    assert!(account.messages_recorded > 0);
    assert_eq!(read_bag(&path).len() as u64, account.messages_recorded);
    assert_eq!(account.messages_published(), u64::from(accepted));
}

#[test]
fn a_full_disk_starts_no_empty_files() {
    let directory = BagScratch::new();
    let path = directory.path().join("bag");
    let mut sqlite = SqliteOptions {
        max_batch_messages: 1,
        page_size: 4096,
        ..SqliteOptions::default()
    };
    // The tables of a new file fit; a message does not.
    sqlite.pragmas.push("max_page_count=14".into());
    let options = BagOptions {
        storage: StorageOptions::Sqlite3(sqlite),
        max_file_duration_ns: 1_000_000_000,
        ..BagOptions::default()
    };
    let mut writer = BagWriter::create(&path, options).unwrap();
    let topic = writer.add_topic(&test_topics()[0]).unwrap();
    for second in 0..50 {
        let time = second * 2_000_000_000;
        let message = Message {
            topic,
            log_time_ns: time,
            publish_time_ns: time,
            sequence: 0,
            data: &vec![7; 100_000],
        };
        assert_eq!(writer.write(&[message], time).messages_lost(), 1);
    }
    assert_eq!(writer.files_opened(), 1);
    let lost = writer.statistics()[0].lost_in_recorder.storage;
    assert_eq!(lost, 50);
}

#[test]
fn a_topic_that_cannot_be_stored_at_first_is_stored_later_and_its_losses_are_in_the_bag() {
    let directory = BagScratch::new();
    let path = directory.path().join("bag");
    let mut sqlite = SqliteOptions::default();
    sqlite.pragmas.push("busy_timeout=0".into());
    let options = BagOptions {
        storage: StorageOptions::Sqlite3(sqlite),
        ..BagOptions::default()
    };
    let mut writer = BagWriter::create(&path, options).unwrap();
    let other = rusqlite::Connection::open(writer.current_path()).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let topic = writer.add_topic(&test_topics()[0]).unwrap();
    let data = payload(1);
    let message = Message {
        topic,
        log_time_ns: message_time(1),
        publish_time_ns: message_time(1),
        sequence: 1,
        data: &data,
    };
    let outcome = writer.write(&[message], 0);
    assert_eq!(outcome.messages_lost(), 1, "{outcome:?}");
    assert!(outcome.error.is_some());
    other.execute_batch("COMMIT").unwrap();
    drop(other);
    writer.write(&[message], 0).into_result().unwrap();
    let (_, outcome) = writer.finish().unwrap();
    outcome.into_result().unwrap();
    assert_eq!(read_bag(&path).len(), 1);
    let info = BagInfo::open(&path).unwrap();
    let account = info.topics[0].statistics.unwrap();
    assert_eq!(account.messages_recorded, 1);
    assert_eq!(account.lost_in_recorder.storage, 1);
}

#[test]
fn a_topic_in_a_transaction_that_is_rolled_back_is_stored_with_the_next_one() {
    let directory = BagScratch::new();
    let path = directory.path().join("bag");
    let mut sqlite = SqliteOptions {
        page_size: 4096,
        ..SqliteOptions::default()
    };
    sqlite.pragmas.push("max_page_count=40".into());
    let options = BagOptions {
        storage: StorageOptions::Sqlite3(sqlite),
        ..BagOptions::default()
    };
    let mut writer = BagWriter::create(&path, options).unwrap();
    let topics = test_topics();
    let first = writer.add_topic(&topics[0]).unwrap();
    let message = |topic, number, data| Message {
        topic,
        log_time_ns: message_time(number),
        publish_time_ns: message_time(number),
        sequence: number,
        data,
    };
    let (small, large) = (vec![7; 100], vec![7; 300_000]);
    let outcome = writer.write(&[message(first, 0, &small)], 0);
    outcome.into_result().unwrap();
    // Its row is in the transaction that the first message opened.
    let second = writer.add_topic(&topics[1]).unwrap();
    let outcome = writer.write(&[message(first, 1, &large)], 0);
    assert_eq!(outcome.messages_lost(), 2, "all of the transaction");
    let outcome = writer.write(&[message(second, 2, &small)], 0);
    outcome.into_result().unwrap();
    let (_, outcome) = writer.finish().unwrap();
    outcome.into_result().unwrap();
    let messages = read_bag(&path);
    assert_eq!(messages.len(), 1);
    assert_eq!(messages[0].topic, topics[1].name);
}
