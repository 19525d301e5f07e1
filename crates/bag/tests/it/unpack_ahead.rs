//! Chunks that other threads unpack give the same messages and errors as those that the reader unpacks itself.

use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use proptest::sample::Index;
use timeloom_bag::conformance::{OwnedMessage, owned};
use timeloom_bag::mcap::{McapCompression, McapLimits, McapOptions, McapReader, McapWriter};
use timeloom_bag::{
    BagMetadata, BagReader, Message, Order, Query, StorageReader, StorageWriter, TopicId, TopicInfo,
};
use timeloom_testkit::mcap::BagScratch;

/// Enough bytes for threads, in chunks of `CHUNK`.
const MESSAGES: u32 = 700;
const MESSAGE: usize = 9000;
const CHUNK: usize = 100_000;
const BEGIN: i64 = 1_000_000_000;

const ON_THIS_THREAD: u64 = 0;

fn limits(max_ahead_bytes: u64) -> McapLimits {
    McapLimits {
        max_ahead_bytes,
        ..McapLimits::default()
    }
}

/// A file with three topics; times of neighbouring chunks overlap.
fn write(path: &Path, compression: McapCompression, messages: u32) {
    let options = McapOptions {
        compression,
        chunk_size: CHUNK,
        force_compression: true,
        ..McapOptions::default()
    };
    let mut writer = Box::new(McapWriter::create(path, options, None).unwrap());
    for name in ["/a", "/b", "/c"] {
        let topic = TopicInfo::new(name, "std_msgs/msg/ByteMultiArray");
        writer.add_topic(&topic).unwrap();
    }
    for number in 0..messages {
        let time = BEGIN + i64::from(number / 2) * 1000 + i64::from(number * 7919 % 40_000);
        let byte = |at: usize| u8::try_from((at / 50 + number as usize) % 251).unwrap();
        let data: Vec<u8> = (0..MESSAGE).map(byte).collect();
        let message = Message {
            topic: TopicId(number % 3),
            log_time_ns: time,
            publish_time_ns: time - 1,
            sequence: number,
            data: &data,
        };
        assert!(writer.write(&[message], 0).is_ok());
    }
    let (_, outcome) = writer.finish(&mut |_| BagMetadata::default());
    assert!(outcome.is_ok());
}

/// All messages and errors of a query, in order.
fn outcomes(reader: &mut dyn StorageReader, query: &Query) -> Vec<Result<OwnedMessage, String>> {
    reader.start(query).unwrap();
    let topics = reader.info().topics.iter();
    let names: Vec<String> = topics.map(|topic| topic.name.clone()).collect();
    let mut found = Vec::new();
    loop {
        match reader.next_message() {
            Ok(Some(message)) => found.push(Ok(owned(&names, &message))),
            Ok(None) => return found,
            Err(error) => found.push(Err(error.to_string())),
        }
        assert!(found.len() <= 2 * MESSAGES as usize, "it does not end");
    }
}

/// The number of threads of this process that unpack.
#[cfg(target_os = "linux")]
fn threads() -> usize {
    let tasks = fs::read_dir("/proc/self/task").unwrap();
    let names = tasks.filter_map(|task| fs::read_to_string(task.ok()?.path().join("comm")).ok());
    names.filter(|name| name.starts_with("bag-unpack")).count()
}

fn scratch() -> (BagScratch, PathBuf) {
    let directory = BagScratch::new();
    // Files are damaged on purpose.
    directory.unchecked();
    let path = directory.path().join("file.mcap");
    (directory, path)
}

fn compressions() -> impl Strategy<Value = McapCompression> {
    prop_oneof![
        3 => Just(McapCompression::Zstd(1)),
        2 => Just(McapCompression::Lz4),
        1 => Just(McapCompression::None),
    ]
}

fn queries() -> impl Strategy<Value = Query> {
    let order = prop_oneof![
        Just(Order::LogTime),
        Just(Order::ReverseLogTime),
        Just(Order::File)
    ];
    let topics = prop_oneof![
        2 => Just(None),
        1 => Just(Some(vec![TopicId(1)])),
    ];
    let time = || proptest::option::of((0..400_000_i64).prop_map(|time| BEGIN + time));
    (order, topics, time(), time()).prop_map(|(order, topics, start_ns, end_ns)| Query {
        order,
        topics,
        start_ns,
        end_ns,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn other_threads_change_neither_messages_nor_errors(
        compression in compressions(),
        queries in proptest::collection::vec(queries(), 1..3),
        damage in proptest::collection::vec((any::<Index>(), 1..=255u8), 0..6),
        window in prop_oneof![Just(300_000), Just(64 << 20)],
    ) {
        let (_directory, path) = scratch();
        write(&path, compression, MESSAGES);
        let mut bytes = fs::read(&path).unwrap();
        // The summary stays intact: a file without one is scanned, and damaged chunks are left out.
        let chunks = bytes.len() - 20_000;
        for (at, change) in damage {
            bytes[8 + at.index(chunks)] ^= change;
        }
        fs::write(&path, &bytes).unwrap();
        let mut alone = McapReader::with_limits(&path, limits(ON_THIS_THREAD)).unwrap();
        let mut ahead = McapReader::with_limits(&path, limits(window)).unwrap();
        for query in &queries {
            let expected = outcomes(&mut alone, query);
            let found = outcomes(&mut ahead, query);
            let mut pairs = found.iter().zip(&expected);
            let differs = pairs.position(|(found, expected)| found != expected);
            // Not all messages: they are megabytes of text.
            let at = differs.map(|at| (at, &found[at], &expected[at]));
            prop_assert_eq!(at, None);
            prop_assert_eq!(found.len(), expected.len());
        }
    }
}

#[test]
fn a_damaged_chunk_is_an_error_at_its_place_and_reading_goes_on() {
    let (_directory, path) = scratch();
    write(&path, McapCompression::Zstd(1), MESSAGES);
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x55;
    fs::write(&path, &bytes).unwrap();
    let query = Query {
        order: Order::File,
        ..Query::default()
    };
    let mut reader = McapReader::with_limits(&path, limits(64 << 20)).unwrap();
    let found = outcomes(&mut reader, &query);
    let errors: Vec<usize> = (0..found.len()).filter(|at| found[*at].is_err()).collect();
    assert_eq!(errors.len(), 1, "{found:?}");
    let lost = MESSAGES as usize + 1 - found.len();
    assert!((1..=CHUNK / MESSAGE + 1).contains(&lost), "{lost}");
    let sequence = |at: usize| found[at].as_ref().unwrap().sequence as usize;
    assert_eq!(sequence(errors[0] - 1), errors[0] - 1);
    assert_eq!(sequence(errors[0] + 1), errors[0] + lost);
}

#[test]
fn a_query_that_is_given_up_leaves_nothing_to_the_next() {
    let (_directory, path) = scratch();
    write(&path, McapCompression::Lz4, MESSAGES);
    let mut reader = McapReader::open(&path).unwrap();
    let expected = outcomes(&mut reader, &Query::default());
    for messages in [0, 1, 40, 300, 650] {
        reader.start(&Query::default()).unwrap();
        for _ in 0..messages {
            reader.next_message().unwrap();
        }
        assert_eq!(outcomes(&mut reader, &Query::default()), expected);
    }
}

/// In a process of its own: `cargo test` runs other tests beside this one, and the threads are counted.
#[cfg(target_os = "linux")]
#[test]
fn only_long_queries_of_compressed_files_start_threads() {
    const ALONE: &str = "TIMELOOM_TEST_ALONE";
    if std::env::var_os(ALONE).is_some() {
        return count_threads_of_queries();
    }
    let name = "unpack_ahead::only_long_queries_of_compressed_files_start_threads";
    let run = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture"])
        .env(ALONE, "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success(), "{run:?}");
    assert!(text.contains("1 passed"), "{text}");
}

#[cfg(target_os = "linux")]
fn count_threads_of_queries() {
    let (_directory, path) = scratch();
    let cores = std::thread::available_parallelism().unwrap().get();
    for (compression, messages, expected) in [
        (McapCompression::None, MESSAGES, 0),
        (McapCompression::Zstd(1), 100, 0),
        (McapCompression::Zstd(1), MESSAGES, (cores - 1).min(7)),
    ] {
        fs::remove_file(&path).unwrap_or_default();
        write(&path, compression, messages);
        let mut readers = [&path; 3].map(|path| BagReader::open(path).unwrap());
        for reader in &mut readers {
            let mut count = 0;
            while reader.next_message().unwrap().is_some() {
                count += 1;
                let here = threads();
                assert!(here <= expected, "{here} threads after {count} messages");
            }
            assert_eq!(count, messages);
        }
        assert_eq!(threads(), expected, "{compression:?}, {messages} messages");
    }
}
