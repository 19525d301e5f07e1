//! No order of calls makes a writer leave a chunk without a message: `ros2 bag` reads such a file as empty.

use std::path::Path;

use proptest::prelude::*;
use timeloom_bag::conformance::{OwnedMessage, read_all};
use timeloom_bag::mcap::{McapCompression, McapOptions, McapReader};
use timeloom_bag::{
    BagOptions, BagReader, BagWriter, CompressionMode, Message, Query, StorageOptions,
    StorageReader, TopicId, TopicInfo,
};
use timeloom_testkit::mcap::{BagScratch, assert_valid_bag};

use crate::support::test_topics;

/// A call of the writer.
#[derive(Debug, Clone, Copy)]
enum Call {
    Declare,
    /// To the topic with this number, modulo the number of declared ones.
    Write {
        topic: usize,
        size: usize,
    },
    Seal,
    Sync,
    RequestSync,
    /// A chunk that holds a message becomes too old.
    Tick,
    Split,
}

fn call() -> impl Strategy<Value = Call> {
    // Beyond 256 KiB a payload takes another path to the file.
    let size = prop_oneof![Just(0), Just(40), Just(3000), Just(300_000)];
    let write = (0usize..8, size);
    prop_oneof![
        3 => Just(Call::Declare),
        5 => write.prop_map(|(topic, size)| Call::Write { topic, size }),
        1 => Just(Call::Seal),
        1 => Just(Call::Sync),
        1 => Just(Call::RequestSync),
        1 => Just(Call::Tick),
        1 => Just(Call::Split),
    ]
}

fn storage(number: usize) -> McapOptions {
    let base = McapOptions::default();
    let tiny = McapOptions {
        chunk_size: 300,
        ..base.clone()
    };
    let packed = |compression, threads| McapOptions {
        compression,
        threads,
        chunk_size: 5000,
        force_compression: threads > 0,
        ..McapOptions::default()
    };
    match number {
        0 => base,
        1 => tiny,
        2 => packed(McapCompression::Zstd(1), 0),
        3 => packed(McapCompression::Zstd(-5), 2),
        4 => packed(McapCompression::Lz4, 1),
        5 => packed(McapCompression::None, 2),
        _ => McapOptions::preset("fastwrite").unwrap(),
    }
}

/// A writer, the steps it went through, and the expected content of its bag.
struct Session {
    writer: BagWriter,
    topics: Vec<TopicInfo>,
    written: Vec<OwnedMessage>,
    /// Number of them in earlier files.
    in_earlier_files: usize,
    now_ns: i64,
}

impl Session {
    fn run(&mut self, call: Call) {
        let outcome = match call {
            Call::Declare => return self.declare(),
            Call::Write { topic, size } => return self.write(topic, size),
            Call::Seal => self.writer.seal(),
            Call::Sync => self.writer.sync(),
            Call::RequestSync => self.writer.request_sync(),
            Call::Tick => {
                self.now_ns += 1_000_000_000;
                self.writer.tick(self.now_ns)
            }
            Call::Split => {
                self.writer.split().unwrap();
                self.in_earlier_files = self.written.len();
                return;
            }
        };
        assert!(outcome.is_ok(), "{outcome:?}");
        if matches!(call, Call::Seal | Call::Sync) {
            self.check_unfinished_file();
        }
    }

    fn declare(&mut self) {
        let topic = TopicInfo {
            name: format!("/topic_{}", self.topics.len()),
            ..test_topics().remove(0)
        };
        let id = self.writer.add_topic(&topic).unwrap();
        assert_eq!(id.index(), self.topics.len());
        self.topics.push(topic);
    }

    fn write(&mut self, topic: usize, size: usize) {
        if self.topics.is_empty() {
            return;
        }
        let topic = topic % self.topics.len();
        self.now_ns += 1000;
        let data = vec![7; size];
        let message = Message {
            topic: TopicId::from_index(topic).unwrap(),
            log_time_ns: self.now_ns,
            publish_time_ns: self.now_ns,
            sequence: 0,
            data: &data,
        };
        assert!(self.writer.write(&[message], self.now_ns).is_ok());
        self.written.push(OwnedMessage {
            topic: self.topics[topic].name.clone(),
            log_time_ns: self.now_ns,
            publish_time_ns: self.now_ns,
            sequence: 0,
            data,
        });
    }

    /// A crash now loses nothing: the file has all topics, also those without a message, and all messages.
    fn check_unfinished_file(&self) {
        let mut reader = McapReader::open(&self.writer.current_path()).unwrap();
        assert_eq!(reader.info().topics, self.topics);
        let held = read_all(&mut reader, &Query::default()).unwrap();
        assert!(held == self.written[self.in_earlier_files..]);
    }
}

fn run_calls(bag: &Path, calls: &[Call], storage: McapOptions, compression: CompressionMode) {
    let options = BagOptions {
        storage: StorageOptions::Mcap(storage),
        compression,
        ..BagOptions::default()
    };
    let mut session = Session {
        writer: BagWriter::create(bag, options).unwrap(),
        topics: Vec::new(),
        written: Vec::new(),
        in_earlier_files: 0,
        now_ns: 1_000_000_000,
    };
    for call in calls {
        session.run(*call);
    }
    let (summary, outcome) = session.writer.finish().unwrap();
    assert!(outcome.is_ok(), "{outcome:?}");
    assert_valid_bag(bag);
    let mut reader = BagReader::open(bag).unwrap();
    assert_eq!(reader.info().topics, session.topics);
    assert_eq!(summary.metadata.message_count, session.written.len() as u64);
    let held = read_all(&mut reader, &Query::default()).unwrap();
    assert!(held == session.written, "the bag holds what was written");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]
    #[test]
    fn no_order_of_calls_leaves_a_chunk_without_a_message(
        calls in proptest::collection::vec(call(), 0..30),
        number in 0usize..7,
        packed in prop::bool::weighted(0.15),
    ) {
        let directory = BagScratch::new();
        let compression = if packed { CompressionMode::File } else { CompressionMode::None };
        run_calls(&directory.join("bag"), &calls, storage(number), compression);
    }
}

#[test]
fn the_calls_of_the_trial_with_ros_2() {
    let write = |size| Call::Write { topic: 0, size };
    let trials: [&[Call]; 6] = [
        // A publisher that appears and waits before it publishes.
        &[Call::Declare, Call::RequestSync, Call::Tick, write(40)],
        // A first message that takes the path of the large ones.
        &[Call::Declare, write(300_000), write(40)],
        // A topic that appears between messages.
        &[
            Call::Declare,
            write(40),
            Call::Sync,
            Call::Declare,
            Call::Sync,
            write(40),
        ],
        // A file after a split, whose topics are silent for a while.
        &[
            Call::Declare,
            write(40),
            Call::Split,
            Call::Sync,
            write(300_000),
        ],
        // Only topics.
        &[Call::Declare, Call::Seal, Call::Declare],
        &[],
    ];
    let directory = BagScratch::new();
    for (trial, calls) in trials.into_iter().enumerate() {
        for number in 0..7 {
            let bag = directory.join(format!("{trial}_{number}"));
            run_calls(&bag, calls, storage(number), CompressionMode::None);
        }
    }
}
