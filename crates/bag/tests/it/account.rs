//! The account of a recording survives `kill -9`, cuts and rewriting.

use std::fs;
use std::path::{Path, PathBuf};

use timeloom_bag::convert::{ConvertOutput, OnDamage};
use timeloom_bag::mcap::McapOptions;
use timeloom_bag::sqlite::SqliteOptions;
use timeloom_bag::{
    BagInfo, BagOptions, BagReader, BagWriter, LeftOutCause, LossCause, Message, StorageOptions,
    TopicId, TopicStatistics, UnknownMessages, convert, recover, reindex,
};
use timeloom_testkit::mcap::BagScratch;

use crate::support::{payload, storages, test_topics, write_bag};

const SECOND: i64 = 1_000_000_000;
const START: i64 = 1_700_000_000 * SECOND;

/// A recording that loses 3 messages on the wire, 1 in the queue and leaves out 2, every second.
pub(crate) struct Recording {
    pub(crate) writer: BagWriter,
    pub(crate) ids: Vec<TopicId>,
    second: i64,
}

impl Recording {
    pub(crate) fn new(path: &Path, options: BagOptions) -> Self {
        let mut writer = BagWriter::create(path, options).unwrap();
        let topics = test_topics();
        let ids = topics.iter().map(|it| writer.add_topic(it).unwrap());
        let ids = ids.collect();
        Self {
            writer,
            ids,
            second: 0,
        }
    }

    /// One second of messages and losses; then all saved data is in the file.
    pub(crate) fn second(&mut self) {
        let now = START + self.second * SECOND;
        for k in 0..20 {
            let data = payload(k);
            let time = now + i64::from(k) * SECOND / 20;
            let message = Message {
                topic: self.ids[0],
                log_time_ns: time,
                publish_time_ns: time,
                sequence: k,
                data: &data,
            };
            assert!(self.writer.write(&[message], time).is_ok());
        }
        let (topic, writer) = (self.ids[0], &mut self.writer);
        writer.lost_in_transport(topic, 3, now);
        writer.lost_in_recorder(topic, LossCause::Queue, 1, now);
        writer.left_out(topic, LeftOutCause::Throttled, 2, now);
        // A topic that never had a message has an account, too.
        writer.left_out(self.ids[2], LeftOutCause::TypeConflict, 5, now);
        self.second += 1;
        let end = START + self.second * SECOND;
        assert!(writer.tick(end).is_ok());
        assert!(writer.seal().is_ok());
    }

    /// The expected losses after a number of seconds.
    fn lost(seconds: i64) -> (u64, u64, u64) {
        let seconds = u64::try_from(seconds).unwrap();
        (3 * seconds, seconds, 2 * seconds)
    }
}

pub(crate) fn account(bag: &Path, topic: &str) -> TopicStatistics {
    let info = BagInfo::open(bag).unwrap();
    let entry = info.topics.iter().find(|entry| entry.name == topic);
    entry.unwrap().statistics.unwrap()
}

pub(crate) fn missing(statistics: &TopicStatistics) -> (u64, u64, u64) {
    (
        statistics.messages_lost_in_transport,
        statistics.lost_in_recorder.queue,
        statistics.left_out.throttled,
    )
}

fn assert_says(bag: &Path, seconds: i64, what: &str) {
    let found = account(bag, "/a");
    assert_eq!(missing(&found), Recording::lost(seconds), "{what}");
    assert!(found.unknown.interrupted, "{what}");
    let silent = account(bag, "/silent");
    let conflicts = 5 * u64::try_from(seconds).unwrap();
    assert_eq!(silent.left_out.type_conflict, conflicts, "{what}");
    assert!(silent.unknown.interrupted, "{what}");
    assert!(account(bag, "/b").unknown.interrupted, "{what}");
}

#[test]
fn the_account_of_a_killed_recorder_is_restored_and_stays() {
    let directory = BagScratch::new();
    directory.unchecked();
    for (number, (name, storage)) in storages().into_iter().enumerate() {
        for splits in [false, true] {
            let what = format!("{name} {number} splits {splits}");
            let path = directory.path().join(format!("{number}_{splits}"));
            let options = BagOptions {
                storage: storage.clone(),
                ..BagOptions::default()
            };
            let mut recording = Recording::new(&path, options);
            for second in 0..6 {
                recording.second();
                if splits && second % 2 == 1 && second < 5 {
                    recording.writer.split().unwrap();
                }
            }
            // The state that a killed process leaves.
            drop(recording);
            let info = BagInfo::open(&path).unwrap();
            assert!(!info.damage.is_empty(), "{what}: it looks healthy");
            assert_says(&path, 6, &what);
            let last = if splits { "2" } else { "0" };
            let extension = if name == "mcap" { "mcap" } else { "db3" };
            let file = format!("{number}_{splits}_{last}.{extension}");
            let in_last = if splits { 2 } else { 6 };
            assert_says(&path.join(&file), in_last, &what);
            for round in ["first", "second"] {
                recover(&path, 9).unwrap();
                assert_says(&path, 6, &format!("{what} {round}"));
                assert_says(&path.join(&file), in_last, &format!("{what} {round}"));
                assert_eq!(BagInfo::open(&path).unwrap().damage, Vec::<String>::new());
            }
            reindex(&path, 10).unwrap();
            assert_says(&path, 6, &what);
            fs::remove_file(path.join("metadata.yaml")).unwrap();
            reindex(&path, 9).unwrap();
            assert_says(&path, 6, &what);
            let copy = directory.path().join(format!("{number}_{splits}_copy"));
            let output = ConvertOutput::new(&copy, BagOptions::default());
            convert(&[&path], vec![output], OnDamage::Fail, &mut |_| {}).unwrap();
            assert_says(&copy, 6, &what);
        }
    }
}

#[test]
fn reindex_alone_restores_the_account_of_a_killed_recorder() {
    let directory = BagScratch::new();
    directory.unchecked();
    let path = directory.path().join("bag");
    let mut recording = Recording::new(&path, BagOptions::default());
    for _ in 0..3 {
        recording.second();
    }
    drop(recording);
    reindex(&path, 9).unwrap();
    assert_says(&path, 3, "reindex");
}

#[test]
fn nothing_is_saved_when_nothing_changes() {
    let directory = BagScratch::new();
    directory.unchecked();
    let path = directory.path().join("bag");
    let mut writer = BagWriter::create(&path, BagOptions::default()).unwrap();
    let topic = writer.add_topic(&test_topics()[0]).unwrap();
    let size = |writer: &mut BagWriter| {
        assert!(writer.seal().is_ok());
        fs::metadata(path.join("bag_0.mcap")).unwrap().len()
    };
    for second in 0..3 {
        assert!(writer.tick(second * SECOND).is_ok());
    }
    let empty = size(&mut writer);
    writer.lost_in_transport(topic, 1, START);
    assert!(writer.tick(4 * SECOND).is_ok());
    let saved = size(&mut writer);
    assert!(saved > empty);
    for second in 5..50 {
        assert!(writer.tick(second * SECOND).is_ok());
    }
    assert_eq!(size(&mut writer), saved);
    // A steady loss costs little, however long it lasts.
    for second in 50..3650 {
        writer.lost_in_transport(topic, 1, START + second * SECOND);
        assert!(writer.tick(second * SECOND).is_ok());
    }
    let hour = size(&mut writer) - saved;
    assert!(hour < 3600 * 250, "{hour} bytes an hour");
}

/// The ends of the records of a file.
fn record_ends(bytes: &[u8]) -> Vec<usize> {
    let mut ends = vec![8];
    let mut at = 8;
    while let Some(length) = bytes.get(at + 1..at + 9) {
        at += 9 + usize::try_from(u64::from_le_bytes(length.try_into().unwrap())).unwrap();
        if at > bytes.len() {
            break;
        }
        ends.push(at);
    }
    ends
}

/// Recovers a file that was truncated at a byte, and returns its account.
fn recovered_cut(directory: &Path, bytes: &[u8], cut: usize) -> Option<TopicStatistics> {
    let path = directory.join(format!("cut_{cut}.mcap"));
    fs::write(&path, &bytes[..cut]).unwrap();
    recover(&path, 9).ok()?;
    let info = BagInfo::open(&path).unwrap();
    let entry = info.topics.iter().find(|entry| entry.name == "/a");
    entry.map(|entry| entry.statistics.unwrap())
}

#[test]
fn a_truncated_file_has_at_least_its_last_saved_account() {
    let directory = BagScratch::new();
    directory.unchecked();
    let path = directory.path().join("bag");
    let options = BagOptions {
        storage: StorageOptions::Mcap(McapOptions {
            chunk_size: 2000,
            ..McapOptions::default()
        }),
        ..BagOptions::default()
    };
    let mut recording = Recording::new(&path, options);
    let file = path.join("bag_0.mcap");
    let mut saved = vec![(0, 0)];
    for second in 1..=8 {
        recording.second();
        let size = usize::try_from(fs::metadata(&file).unwrap().len()).unwrap();
        saved.push((size, second));
    }
    let (_, outcome) = recording.writer.finish().unwrap();
    outcome.into_result().unwrap();
    let bytes = fs::read(&file).unwrap();
    let final_metadata = b"messages_recorded";
    let mut windows = bytes.windows(final_metadata.len());
    let final_at = windows.position(|it| it == final_metadata).unwrap();
    let ends = record_ends(&bytes);
    let random = (1..60usize).map(|k| 9 + (k * 7_919) % (bytes.len() - 9));
    let mut checked = 0;
    for cut in ends.iter().copied().chain(random) {
        let last = saved.iter().rev().find(|(size, _)| *size <= cut);
        let (_, seconds) = last.copied().unwrap();
        let Some(found) = recovered_cut(directory.path(), &bytes, cut) else {
            // Without a readable record there is nothing to recover, and no account that could be 0.
            assert!(seconds == 0, "{cut}");
            continue;
        };
        let least = Recording::lost(seconds);
        let has = missing(&found);
        assert!(
            has.0 >= least.0 && has.1 >= least.1 && has.2 >= least.2,
            "cut at {cut}: {has:?} is less than {least:?}"
        );
        // Behind the final account nothing is unknown.
        assert!(found.unknown.interrupted || cut > final_at, "cut at {cut}");
        checked += 1;
    }
    assert!(checked > 60, "{checked}");
    let whole = recovered_cut(directory.path(), &bytes, bytes.len()).unwrap();
    assert!(!whole.unknown.interrupted);
    assert_eq!(missing(&whole), Recording::lost(8));
}

#[test]
fn a_part_of_a_bag_keeps_the_losses_of_its_time() {
    let directory = BagScratch::new();
    let path = directory.path().join("bag");
    let mut recording = Recording::new(&path, BagOptions::default());
    for _ in 0..10 {
        recording.second();
    }
    let unknown = UnknownMessages {
        before_first: 4,
        ..UnknownMessages::default()
    };
    recording.writer.leave_open(recording.ids[0], unknown);
    recording.writer.finish().unwrap().1.into_result().unwrap();
    let part = directory.path().join("part");
    let mut output = ConvertOutput::new(&part, BagOptions::default());
    output.start_ns = Some(START + 2 * SECOND);
    output.end_ns = Some(START + 4 * SECOND + SECOND / 2);
    convert(&[&path], vec![output], OnDamage::Fail, &mut |_| {}).unwrap();
    let found = account(&part, "/a");
    assert_eq!(missing(&found), Recording::lost(2));
    // The last second is only half inside.
    assert_eq!(found.unknown.unplaced, 6);
    assert_eq!(found.unknown.before_first, 4);
    assert!(!found.unknown.interrupted);
}

#[test]
fn deleted_files_are_left_out_and_the_law_holds() {
    let directory = BagScratch::new();
    for (number, (name, storage)) in storages().into_iter().enumerate() {
        let path = directory.path().join(number.to_string());
        let options = BagOptions {
            storage,
            max_files: 2,
            max_file_duration_ns: 3600 * SECOND,
            ..BagOptions::default()
        };
        let mut recording = Recording::new(&path, options);
        for _ in 0..5 {
            recording.second();
            recording.writer.split().unwrap();
        }
        recording.second();
        let live = recording.writer.statistics()[0];
        let (summary, outcome) = recording.writer.finish().unwrap();
        outcome.into_result().unwrap();
        assert_eq!(summary.deleted_files, 4, "{name}");
        assert_eq!(summary.topics[0], account(&path, "/a"), "{name}");
        assert_eq!(live.left_out.deleted, 80, "{name}");
        for round in ["written", "reindexed", "without metadata"] {
            let found = account(&path, "/a");
            assert_eq!(missing(&found), Recording::lost(6), "{name} {round}");
            assert_eq!(found.messages_recorded, 40, "{name} {round}");
            assert_eq!(found.left_out.deleted, 80, "{name} {round}");
            assert_eq!(found.messages_published(), 120 + 6 * 6, "{name} {round}");
            if round == "reindexed" {
                fs::remove_file(path.join("metadata.yaml")).unwrap();
            }
            reindex(&path, 9).unwrap();
        }
    }
}

#[test]
fn a_deleted_file_is_in_the_account_of_a_killed_recorder() {
    let directory = BagScratch::new();
    directory.unchecked();
    let path = directory.path().join("bag");
    let options = BagOptions {
        max_files: 2,
        max_file_duration_ns: 3600 * SECOND,
        ..BagOptions::default()
    };
    let mut recording = Recording::new(&path, options);
    for _ in 0..3 {
        recording.second();
        recording.writer.split().unwrap();
        assert!(recording.writer.seal().is_ok());
    }
    recording.second();
    drop(recording);
    recover(&path, 9).unwrap();
    let found = account(&path, "/a");
    assert_eq!(missing(&found), Recording::lost(4));
    assert_eq!((found.messages_recorded, found.left_out.deleted), (40, 40));
}

#[test]
fn losses_of_services_are_shown() {
    let directory = BagScratch::new();
    let path = directory.path().join("bag");
    let mut writer = BagWriter::create(&path, BagOptions::default()).unwrap();
    let service = timeloom_bag::TopicInfo::new("/add/_service_event", "a/srv/Add_Event");
    let topic = writer.add_topic(&service).unwrap();
    writer.lost_in_transport(topic, 5408, START);
    writer.finish().unwrap().1.into_result().unwrap();
    let info = BagInfo::open(&path).unwrap();
    let layout = timeloom_bag::info::InfoLayout {
        losses: true,
        ..timeloom_bag::info::InfoLayout::default()
    };
    let text = timeloom_bag::info::render(&info, &layout);
    assert!(text.contains("Service: /add | Type: a/srv/Add"), "{text}");
    assert!(text.contains("| Lost in Transport: 5408 | Lost in Recorder: 0\n"));
    let line = "Missing:           /add: 5408 of 5408 published messages lost (100.00 %): 5408 transport\n";
    assert!(text.contains(line), "{text}");
    assert!(text.contains("Worst stretches:   /add: 5408 lost within 1 s from Nov 14 2023"));
    let json = serde_json::to_value(&info).unwrap();
    let lost = &json["services"][0]["statistics"]["messages_lost_in_transport"];
    assert_eq!(lost.as_u64(), Some(5408));
    let interval = &json["services"][0]["timeline"]["intervals"][0];
    assert_eq!(interval["cause"], "transport");
}

#[test]
fn a_damaged_chunk_is_lost_in_the_storage_and_stays_so() {
    let directory = BagScratch::new();
    directory.unchecked();
    let path = directory.path().join("bag");
    let options = BagOptions {
        storage: StorageOptions::Mcap(McapOptions {
            chunk_size: 2000,
            ..McapOptions::default()
        }),
        ..BagOptions::default()
    };
    write_bag(&path, options, 100);
    let file = path.join("bag_0.mcap");
    let mut bytes = fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    for byte in &mut bytes[middle..middle + 20] {
        *byte ^= 0x55;
    }
    fs::write(&file, bytes).unwrap();
    let mut before = Vec::new();
    for _ in 0..2 {
        recover(&path, 9).unwrap();
        let reader = BagReader::open(&path).unwrap();
        let held: u64 = timeloom_bag::StorageReader::info(&reader).message_count();
        assert!(held < 100);
        let found = [account(&path, "/a"), account(&path, "/b")];
        let published: u64 = found.iter().map(TopicStatistics::messages_published).sum();
        assert_eq!(published, 100);
        let lost: u64 = found.iter().map(|it| it.lost_in_recorder.storage).sum();
        assert_eq!(lost, 100 - held);
        before.push(found);
    }
    assert_eq!(before[0], before[1]);
}

#[test]
fn a_truncated_database_with_splits_is_marked_as_interrupted() {
    let directory = BagScratch::new();
    let path: PathBuf = directory.path().join("bag");
    let options = BagOptions {
        storage: StorageOptions::Sqlite3(SqliteOptions::default()),
        ..BagOptions::default()
    };
    let mut recording = Recording::new(&path, options);
    recording.second();
    recording.writer.split().unwrap();
    assert!(recording.writer.seal().is_ok());
    drop(recording);
    let info = BagInfo::open(&path).unwrap();
    let text = info.damage.join("\n");
    assert!(
        text.contains("bag_1.db3: the file was never closed"),
        "{text}"
    );
    assert_eq!(missing(&account(&path, "/a")), Recording::lost(1));
}
