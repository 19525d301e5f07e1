//! The bars of the storage, as ratios of CPU time within one run.
//!
//! `BAG_BENCH_SCALE` (percent) makes the loads smaller.
#![expect(
    clippy::unwrap_used,
    reason = "a benchmark may stop at the first error"
)]
#![expect(clippy::cast_possible_truncation, reason = "bytes of a pattern")]

#[path = "support/cpu.rs"]
mod cpu;
#[path = "support/mcap_crate.rs"]
mod mcap_crate;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufWriter, Stdout, Write};
use std::path::{Path, PathBuf};

use mcap::sans_io::IndexedReaderOptions;
use timeloom_bag::mcap::{McapCompression, McapOptions, McapReader, McapWriter};
use timeloom_bag::{
    BagMetadata, BagOptions, BagWriter, Message, Query, StorageReader, StorageWriter, TopicId,
    TopicInfo,
};
use timeloom_testkit::bench::{Bench, Stopwatch};

use self::cpu::{best, measure};

/// A schedule of messages: topic, time, offset in the pool of bytes.
struct Load {
    topics: u32,
    schedule: Vec<(u32, i64, usize, usize)>,
    pool: Vec<u8>,
}

impl Load {
    /// `counts` is messages per topic, topics, size; they are interleaved by time.
    fn new(groups: &[(u32, u32, usize)], compressible: bool) -> Self {
        let largest = groups.iter().map(|group| group.2).max().unwrap();
        let mut random = fastrand::Rng::with_seed(1);
        let pool: Vec<u8> = (0..largest + (8 << 20))
            .map(|i| {
                if compressible {
                    ((i >> 18) % 251) as u8 ^ random.u8(..4)
                } else {
                    random.u8(..)
                }
            })
            .collect();
        let mut schedule = Vec::new();
        let mut first = 0;
        for (count, topics, size) in groups {
            for k in 0..*count {
                for topic in 0..*topics {
                    let time =
                        i64::from(k) * (1_000_000_000 / i64::from(*count)) + i64::from(topic);
                    let at = random.usize(..pool.len() - size);
                    schedule.push((first + topic, 1_700_000_000_000_000_000 + time, at, *size));
                }
            }
            first += topics;
        }
        schedule.sort_by_key(|entry| entry.1);
        Self {
            topics: first,
            schedule,
            pool,
        }
    }

    fn data(&self, at: usize, size: usize) -> &[u8] {
        &self.pool[at..at + size]
    }

    fn bytes(&self) -> usize {
        self.schedule.iter().map(|entry| entry.3).sum()
    }
}

/// The floor: the payload bytes in calls of 1 MiB, collected first as any writer must.
fn raw(load: &Load, path: &Path) {
    let mut file = File::create(path).unwrap();
    let mut buffer = Vec::with_capacity(1 << 20);
    for (_, _, at, size) in &load.schedule {
        let mut rest = load.data(*at, *size);
        if rest.len() >= 1 << 20 {
            file.write_all(&buffer).unwrap();
            buffer.clear();
            file.write_all(rest).unwrap();
            continue;
        }
        while !rest.is_empty() {
            let count = rest.len().min((1 << 20) - buffer.len());
            buffer.extend_from_slice(&rest[..count]);
            rest = &rest[count..];
            if buffer.len() == 1 << 20 {
                file.write_all(&buffer).unwrap();
                buffer.clear();
            }
        }
    }
    file.write_all(&buffer).unwrap();
}

/// Our writer; returns the CPU time of the calling thread.
fn ours(load: &Load, path: &Path, options: McapOptions) -> f64 {
    let stopwatch = Stopwatch::start();
    let mut writer = Box::new(McapWriter::create(path, options, None).unwrap());
    for topic in 0..load.topics {
        writer
            .add_topic(&TopicInfo::new(
                format!("/bench/topic_{topic}"),
                "std_msgs/msg/ByteMultiArray",
            ))
            .unwrap();
    }
    let mut batch = Vec::with_capacity(64);
    for stretch in load.schedule.chunks(64) {
        batch.clear();
        batch.extend(stretch.iter().map(|(topic, time, at, size)| Message {
            topic: TopicId(*topic),
            log_time_ns: *time,
            publish_time_ns: *time,
            sequence: 0,
            data: load.data(*at, *size),
        }));
        assert!(writer.write(&batch, 0).is_ok());
    }
    let hot = stopwatch.usage().cpu;
    let (summary, outcome) = writer.finish(&mut |_| BagMetadata::default());
    assert!(outcome.is_ok());
    assert_eq!(
        summary.total().messages_recorded,
        load.schedule.len() as u64
    );
    hot
}

/// The `mcap` crate with all checksums, chunked and indexed, with its defaults.
fn theirs(load: &Load, path: &Path) {
    let options = mcap::WriteOptions::new()
        .compression(None)
        .chunk_size(Some(1 << 20));
    let mut writer = options
        .create(BufWriter::new(File::create(path).unwrap()))
        .unwrap();
    let schema = writer
        .add_schema("std_msgs/msg/ByteMultiArray", "ros2msg", b"")
        .unwrap();
    let channels: Vec<u16> = (0..load.topics)
        .map(|topic| {
            writer
                .add_channel(
                    schema,
                    &format!("/bench/topic_{topic}"),
                    "cdr",
                    &BTreeMap::new(),
                )
                .unwrap()
        })
        .collect();
    for (topic, time, at, size) in &load.schedule {
        let time = time.cast_unsigned();
        let header = mcap::records::MessageHeader {
            channel_id: channels[*topic as usize],
            sequence: 0,
            log_time: time,
            publish_time: time,
        };
        writer
            .write_to_known_channel(&header, load.data(*at, *size))
            .unwrap();
    }
    writer.finish().unwrap();
}

/// The best of raw, ours and, on request, theirs; interleaved so that a busy machine affects all alike.
fn compare(load: &Load, directory: &Path, rounds: usize, with_crate: bool) -> [f64; 3] {
    let path = directory.join("bench.mcap");
    let mut samples: [Vec<f64>; 3] = Default::default();
    for _ in 0..rounds {
        let mut run = |at: usize, work: &dyn Fn(&Path)| {
            fs::remove_file(&path).unwrap_or_default();
            samples[at].push(measure(|| work(&path)));
        };
        run(0, &|path| raw(load, path));
        run(1, &|path| {
            ours(load, path, McapOptions::default());
        });
        if with_crate {
            run(2, &|path| theirs(load, path));
        }
    }
    fs::remove_file(&path).unwrap_or_default();
    samples.map(|values| best(&values))
}

fn writing(bench: &mut Bench<Stdout>, directory: &Path, scale: u32) {
    let small = Load::new(&[(40 * scale, 500, 100)], false);
    let [raw, ours_time, crate_time] = compare(&small, directory, 7, true);
    bench.note(
        "bag.write.small_vs_raw",
        format_args!(
            "{} messages, {:.0} ns each, raw {:.0}",
            small.schedule.len(),
            ours_time / small.schedule.len() as f64,
            raw / small.schedule.len() as f64
        ),
    );
    bench.ratio_at_most("bag.write.small_vs_raw", ours_time / raw, 2.0);
    bench.ratio_at_least("bag.write.small_vs_crate", crate_time / ours_time, 3.0);
    drop(small);
    let mixed = Load::new(&[(20 * scale, 500, 100), (scale, 1, 5 << 20)], false);
    let [raw, ours_time, _] = compare(&mixed, directory, 5, false);
    bench.note(
        "bag.write.mixed_vs_raw",
        format_args!("{} MB", mixed.bytes() / 1_000_000),
    );
    bench.ratio_at_most("bag.write.mixed_vs_raw", ours_time / raw, 1.4);
    drop(mixed);
    let images = Load::new(&[(scale * 3 / 2, 6, 1 << 20)], false);
    let [raw, ours_time, _] = compare(&images, directory, 5, false);
    bench.note(
        "bag.write.images_vs_raw",
        format_args!("{} MB", images.bytes() / 1_000_000),
    );
    bench.ratio_at_most("bag.write.images_vs_raw", ours_time / raw, 1.2);
}

/// The work of a recorder with a load, a minute long by its clock: accounts are saved once a second. With `losses`,
/// every tenth message is beside one that was lost.
fn recorded(load: &Load, path: &Path, losses: bool) {
    let mut writer = BagWriter::create(path, BagOptions::default()).unwrap();
    for topic in 0..load.topics {
        let name = format!("/bench/topic_{topic}");
        let info = TopicInfo::new(name, "std_msgs/msg/ByteMultiArray");
        writer.add_topic(&info).unwrap();
    }
    let begin = load.schedule[0].1;
    for stretch in load.schedule.chunks(64) {
        let batch = stretch.iter().map(|(topic, time, at, size)| Message {
            topic: TopicId(*topic),
            log_time_ns: begin + (time - begin) * 60,
            publish_time_ns: *time,
            sequence: 0,
            data: load.data(*at, *size),
        });
        let batch: Vec<_> = batch.collect();
        let now = batch[0].log_time_ns;
        for message in batch.iter().step_by(10).filter(|_| losses) {
            writer.lost_in_transport(message.topic, 1, now);
        }
        assert!(writer.write(&batch, now).is_ok());
    }
    assert!(writer.finish().unwrap().1.is_ok());
}

/// The cost of the account while messages are lost.
fn accounting(bench: &mut Bench<Stdout>, directory: &Path, scale: u32) {
    let load = Load::new(&[(40 * scale, 100, 100)], false);
    let mut samples = [Vec::new(), Vec::new()];
    for _ in 0..7 {
        for (values, losses) in samples.iter_mut().zip([false, true]) {
            let path = directory.join("account");
            values.push(measure(|| recorded(&load, &path, losses)));
            fs::remove_dir_all(&path).unwrap();
        }
    }
    let [without, with] = samples.map(|values| best(&values));
    let each = |time: f64| time / load.schedule.len() as f64;
    bench.note(
        "bag.write.losses_vs_none",
        format_args!(
            "{} messages of 100 topics in a minute, {:.0} ns each, {:.0} with a loss beside every tenth",
            load.schedule.len(),
            each(without),
            each(with)
        ),
    );
    bench.ratio_at_most("bag.write.losses_vs_none", with / without, 1.2);
}

fn compressing(bench: &mut Bench<Stdout>, directory: &Path, scale: u32) {
    let load = Load::new(&[(10 * scale, 500, 100), (scale / 2, 1, 5 << 20)], true);
    let path = directory.join("zstd.mcap");
    let options = McapOptions {
        compression: McapCompression::Zstd(1),
        threads: 2,
        ..McapOptions::default()
    };
    let mut shares = Vec::new();
    for _ in 0..3 {
        fs::remove_file(&path).unwrap_or_default();
        let mut hot = 0.0;
        let total = measure(|| hot = ours(&load, &path, options.clone()));
        shares.push(hot / total * 100.0);
    }
    bench.note(
        "bag.zstd.hot_thread_percent",
        format_args!(
            "{} MB to {} MB",
            load.bytes() / 1_000_000,
            fs::metadata(&path).unwrap().len() / 1_000_000
        ),
    );
    fs::remove_file(&path).unwrap_or_default();
    bench.ratio_at_most("bag.zstd.hot_thread_percent", best(&shares), 10.0);
}

/// A bag of about 2 GB at full scale, 501 topics.
fn big_bag(bench: &mut Bench<Stdout>, directory: &Path, scale: u32) -> PathBuf {
    let path = directory.join("big.mcap");
    let load = Load::new(&[(60 * scale, 500, 100), (scale * 3, 1, 5 << 20)], false);
    fs::remove_file(&path).unwrap_or_default();
    ours(&load, &path, McapOptions::default());
    bench.note(
        "bag.read.seek_ms",
        format_args!(
            "bag of {} MB, {} messages",
            fs::metadata(&path).unwrap().len() / 1_000_000,
            load.schedule.len()
        ),
    );
    path
}

fn reading(bench: &mut Bench<Stdout>, directory: &Path, scale: u32) {
    let path = big_bag(bench, directory, scale);
    let mut reader = McapReader::open(&path).unwrap();
    let (start, end) = (
        reader.info().start_time_ns.unwrap(),
        reader.info().end_time_ns.unwrap(),
    );
    let seeks = 200;
    let mut random = fastrand::Rng::with_seed(1);
    let spent = measure(|| {
        for _ in 0..seeks {
            let time = random.i64(start..end);
            reader
                .start(&Query {
                    start_ns: Some(time),
                    ..Query::default()
                })
                .unwrap();
            assert!(reader.next_message().unwrap().unwrap().log_time_ns >= time);
        }
    });
    bench.ratio_at_most("bag.read.seek_ms", spent / 1e6 / f64::from(seeks), 1.0);
    let open = measure(|| drop(McapReader::open(&path).unwrap()));
    bench.note(
        "bag.read.seek_ms",
        format_args!("open {:.2} ms", open / 1e6),
    );
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..3 {
        let mut counts = (0u64, 0u64);
        ours.push(measure(|| counts.0 = scan_ours(&path)));
        theirs.push(measure(|| {
            counts.1 = mcap_crate::read_all(&path, IndexedReaderOptions::default());
        }));
        assert_eq!(counts.0, counts.1);
    }
    bench.note(
        "bag.read.scan_vs_crate",
        format_args!(
            "ours {:.0} ms with checksums, the crate {:.0} ms without",
            best(&ours) / 1e6,
            best(&theirs) / 1e6
        ),
    );
    bench.ratio_at_most("bag.read.scan_vs_crate", best(&ours) / best(&theirs), 1.0);
    fs::remove_file(&path).unwrap_or_default();
}

fn scan_ours(path: &Path) -> u64 {
    let mut reader = McapReader::open(path).unwrap();
    let (mut count, mut bytes) = (0, 0);
    while let Some(message) = reader.next_message().unwrap() {
        count += 1;
        bytes += message.data.len();
    }
    assert!(bytes > 0);
    count
}

fn main() {
    // `cargo test` also starts benchmarks; without this it would run for a minute.
    if std::env::args().any(|argument| argument == "--test")
        || !std::env::args().any(|argument| argument == "--bench")
    {
        return;
    }
    let mut bench = Bench::from_env();
    let scale = std::env::var("BAG_BENCH_SCALE")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(100);
    let shared = Path::new("/dev/shm");
    let directory = if shared.is_dir() {
        tempfile::tempdir_in(shared).unwrap()
    } else {
        tempfile::tempdir().unwrap()
    };
    if bench.wants("bag.write") {
        writing(&mut bench, directory.path(), scale);
        accounting(&mut bench, directory.path(), scale);
    }
    if bench.wants("bag.zstd.hot_thread_percent") {
        compressing(&mut bench, directory.path(), scale);
    }
    if bench.wants("bag.read.seek_ms") || bench.wants("bag.read.scan_vs_crate") {
        reading(&mut bench, directory.path(), scale);
    }
}
