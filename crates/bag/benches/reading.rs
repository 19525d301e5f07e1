//! Reading a bag against the `mcap` crate reading its file, with our checks on; reading a compressed bag on several
//! threads against one.
#![expect(
    clippy::unwrap_used,
    reason = "a benchmark may stop at the first error"
)]

#[path = "support/cpu.rs"]
mod cpu;
#[path = "support/mcap_crate.rs"]
mod mcap_crate;

use std::fs::{self, File};
use std::hint::black_box;
use std::io::Stdout;
use std::path::{Path, PathBuf};

use mcap::sans_io::IndexedReaderOptions;
use timeloom_bag::mcap::{McapCompression, McapLimits, McapOptions, McapReader};
use timeloom_bag::{
    BagInfo, BagOptions, BagReader, BagWriter, Message, MessageDefinition, Query, StorageOptions,
    StorageReader, TopicId, TopicInfo,
};
use timeloom_testkit::bench::{Bench, Stopwatch};

use self::cpu::{best, measure};

const BEGIN: i64 = 1_700_000_000_000_000_000;
const STEP: i64 = 1_000_000;
const TOPICS: u32 = 10;

/// A bag of ten topics with a definition of 3 kB, a message every millisecond.
fn write(path: &Path, count: u32, size: usize, compression: McapCompression) -> PathBuf {
    fs::remove_dir_all(path).unwrap_or_default();
    let storage = McapOptions {
        compression,
        ..McapOptions::default()
    };
    let options = BagOptions {
        storage: StorageOptions::Mcap(storage),
        ..BagOptions::default()
    };
    let mut writer = BagWriter::create(path, options).unwrap();
    for topic in 0..TOPICS {
        let mut info = TopicInfo::new(format!("/bench/topic_{topic}"), "sensor_msgs/msg/Imu");
        info.definition = MessageDefinition {
            encoding: "ros2msg".into(),
            text: "# A line of a definition.\nfloat64 x\n".repeat(80),
        };
        info.offered_qos_profiles =
            "- history: keep_last\n  depth: 10\n  reliability: reliable".into();
        writer.add_topic(&info).unwrap();
    }
    let mut random = fastrand::Rng::with_seed(1);
    // As in a point cloud: of every 16 bytes, 6 change.
    let byte = |at: usize| match at % 16 {
        0..6 => random.u8(..),
        constant => constant.to_le_bytes()[0],
    };
    let pool: Vec<u8> = (0..size + (1 << 20)).map(byte).collect();
    for number in 0..count {
        let time = BEGIN + i64::from(number) * STEP;
        let at = random.usize(..1 << 16) * 16;
        let message = Message {
            topic: TopicId(number % TOPICS),
            log_time_ns: time,
            publish_time_ns: time,
            sequence: number,
            data: &pool[at..at + size],
        };
        assert!(writer.write(&[message], time).is_ok());
    }
    assert!(writer.finish().unwrap().1.is_ok());
    path.to_owned()
}

/// The one MCAP file of a bag.
fn file_of(bag: &Path) -> PathBuf {
    let files = fs::read_dir(bag)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut files = files.filter(|path| path.extension().is_some_and(|end| end == "mcap"));
    files.next().unwrap()
}

fn ours(reader: &mut dyn StorageReader, query: &Query) -> u64 {
    reader.start(query).unwrap();
    let (mut count, mut bytes) = (0, 0);
    while let Some(message) = reader.next_message().unwrap() {
        count += 1;
        bytes += message.data.len();
    }
    assert!(bytes > 0);
    count
}

fn theirs(bag: &Path, options: IndexedReaderOptions) -> u64 {
    mcap_crate::read_all(&file_of(bag), options)
}

/// Our work against that of the crate, in turns; both return the number of messages.
fn versus(
    bench: &mut Bench<Stdout>,
    id: &str,
    repeat: u32,
    ours: &dyn Fn() -> u64,
    theirs: &dyn Fn() -> u64,
) {
    if !bench.wants(id) {
        return;
    }
    let mut samples = [Vec::new(), Vec::new()];
    for _ in 0..11 {
        let mut counts = [0, 0];
        for (at, work) in [ours, theirs].into_iter().enumerate() {
            samples[at].push(measure(|| {
                for _ in 0..repeat {
                    counts[at] = black_box(work());
                }
            }));
        }
        assert_eq!(counts[0], counts[1], "{id}");
    }
    let [ours, theirs] = samples.map(|values| best(&values) / f64::from(repeat) / 1e3);
    bench.note(id, format_args!("{ours:.1} µs, the crate {theirs:.1} µs"));
    bench.ratio_at_most(id, ours / theirs, 1.0);
}

fn versus_crate(bench: &mut Bench<Stdout>, directory: &Path) {
    let count = 30_000;
    let bag = write(&directory.join("small"), count, 324, McapCompression::None);
    versus(
        bench,
        "bag.read.small_vs_crate",
        1,
        &|| ours(&mut BagReader::open(&bag).unwrap(), &Query::default()),
        &|| theirs(&bag, IndexedReaderOptions::new()),
    );
    versus(
        bench,
        "bag.read.info_vs_crate",
        50,
        &|| BagInfo::open(&bag).unwrap().message_count,
        &|| {
            let summary = mcap_crate::summary(&mut File::open(file_of(&bag)).unwrap());
            summary.stats.unwrap().message_count
        },
    );
    let start = BEGIN + i64::from(count / 2) * STEP;
    let end = start + i64::from(count / 100) * STEP;
    versus(
        bench,
        "bag.read.slice_vs_crate",
        20,
        &|| {
            let mut reader = BagReader::open(&bag).unwrap();
            let query = Query {
                start_ns: Some(start),
                end_ns: Some(end - 1),
                ..reader.query_for(&["/bench/topic_0"])
            };
            ours(&mut reader, &query)
        },
        &|| {
            let options = IndexedReaderOptions::new()
                .include_topics(["/bench/topic_0"])
                .starting_at(start.cast_unsigned())
                .ending_before(end.cast_unsigned());
            theirs(&bag, options)
        },
    );
}

/// A compressed bag: the ending of its ids, number and size of its messages, the bar of the CPU time.
type Messages = (&'static str, u32, usize, f64);

/// Messages of three sizes, 324 to 360 MB each: chunks of many, of some, and of one.
const SIZES: [Messages; 3] = [
    ("", 120_000, 3000, 1.15),
    ("_small", 1_000_000, 324, 1.25),
    ("_large", 360, 1_000_000, 1.15),
];

/// Wall time and CPU time in milliseconds of reading a file on one thread and with the pool; the best of turns.
fn alone_and_ahead(file: &Path, count: u32) -> [[f64; 2]; 2] {
    let mut samples = [[Vec::new(), Vec::new()], [Vec::new(), Vec::new()]];
    for _ in 0..5 {
        for (at, max_ahead_bytes) in [0, McapLimits::default().max_ahead_bytes]
            .into_iter()
            .enumerate()
        {
            let limits = McapLimits {
                max_ahead_bytes,
                ..McapLimits::default()
            };
            let stopwatch = Stopwatch::start();
            let spent = measure(|| {
                let mut reader = McapReader::with_limits(file, limits).unwrap();
                assert_eq!(ours(&mut reader, &Query::default()), u64::from(count));
            });
            samples[at][0].push(stopwatch.wall());
            samples[at][1].push(spent);
        }
    }
    samples.map(|both| both.map(|values| best(&values) / 1e6))
}

/// Wall time and CPU time of reading a compressed bag with the pool, as a share of those on one thread.
fn unpacking(bench: &mut Bench<Stdout>, directory: &Path) {
    let zstd = SIZES.map(|messages| ("zstd", McapCompression::Zstd(1), messages));
    let lz4 = ("lz4", McapCompression::Lz4, SIZES[0]);
    for (name, compression, (ending, count, size, cpu_bar)) in zstd.into_iter().chain([lz4]) {
        let wall = format!("bag.{name}.read_wall{ending}");
        let cpu = format!("bag.{name}.read_cpu{ending}");
        if !bench.wants(&wall) && !bench.wants(&cpu) {
            continue;
        }
        let bag = write(&directory.join(name), count, size, compression);
        let file = file_of(&bag);
        let [alone, ahead] = alone_and_ahead(&file, count);
        bench.note(
            &wall,
            format_args!(
                "messages of {size} bytes: {:.0} ms, on one thread {:.0}; CPU {:.0}, on one thread {:.0}; {} MB from {} MB",
                ahead[0],
                alone[0],
                ahead[1],
                alone[1],
                u64::from(count) * size as u64 / 1_000_000,
                fs::metadata(&file).unwrap().len() / 1_000_000
            ),
        );
        bench.ratio_at_most(&wall, ahead[0] / alone[0], 0.7);
        bench.ratio_at_most(&cpu, ahead[1] / alone[1], cpu_bar);
        fs::remove_dir_all(&bag).unwrap();
    }
}

fn main() {
    // `cargo test` also starts benchmarks; without this it would run for a minute.
    if std::env::args().any(|argument| argument == "--test")
        || !std::env::args().any(|argument| argument == "--bench")
    {
        return;
    }
    let mut bench = Bench::from_env();
    let shared = Path::new("/dev/shm");
    let directory = if shared.is_dir() {
        tempfile::tempdir_in(shared).unwrap()
    } else {
        tempfile::tempdir().unwrap()
    };
    if bench.wants("bag.read") {
        versus_crate(&mut bench, directory.path());
    }
    unpacking(&mut bench, directory.path());
}
