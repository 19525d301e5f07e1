//! The Rust libraries that `timeloom-bench` compares with: the `mcap` crate and the timers of tokio.
//!
//! A program of its own, so that the released binary does not carry other people's implementations:
//!
//! ```sh
//! cargo build --release -p timeloom-cli -p timeloom-bench --bins --example versus_peer
//! target/release/timeloom-bench
//! ```
//!
//! Usage: `versus_peer JOB INPUT OUTPUT COUNT BYTES`; one line of JSON says what the job cost and its answer.
#![expect(clippy::print_stdout, reason = "the line is what the program is for")]

use std::collections::BTreeMap;
use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Read as _, Seek as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use mcap::sans_io::{
    IndexedReadEvent, IndexedReader, IndexedReaderOptions, SummaryReadEvent, SummaryReader,
};
use timeloom_testkit::bench::Stopwatch;
use timeloom_time::{Clock, Duration, Steady};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The same as in the jobs of `timeloom-bench`.
const BEGIN_NS: u64 = 1_700_000_000_000_000_000;
const STEP_NS: u64 = 1_000_000;
const TOPICS: usize = 10;

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [job, input, output, count, size] = words.as_slice() else {
        return Err("usage: versus_peer JOB INPUT OUTPUT COUNT BYTES".into());
    };
    let (count, size) = (count.parse::<u64>()?, size.parse::<usize>()?);
    if job == "pace" {
        return pace(count);
    }
    let stopwatch = Stopwatch::start();
    let (items, answer) = match job.as_str() {
        "write-mcap" => write(Path::new(output), count, size)?,
        "read" => read(&file_of(input)?, IndexedReaderOptions::new())?,
        "info" => {
            let path = file_of(input)?;
            let mut answer = 0;
            for _ in 0..count {
                let summary = summary(&mut File::open(&path)?)?;
                answer = summary.stats.map_or(0, |stats| stats.message_count);
            }
            (count, answer)
        }
        "slice" => {
            let start = BEGIN_NS + count / 2 * STEP_NS;
            let end = BEGIN_NS + (count / 2 + count / 100) * STEP_NS;
            let options = IndexedReaderOptions::new()
                .include_topics(["/load_1"])
                .starting_at(start)
                .ending_before(end);
            let (messages, _) = read(&file_of(input)?, options)?;
            (1, messages)
        }
        other => return Err(format!("no job {other}").into()),
    };
    // The crate does all its work on the thread that calls it.
    say(stopwatch.usage().cpu * 1e-9 / items.max(1) as f64, answer);
    Ok(())
}

fn say(value: f64, answer: u64) {
    println!("{{\"value\": {value:e}, \"answer\": {answer}}}");
}

/// The one MCAP file of a bag.
fn file_of(bag: &str) -> Result<PathBuf> {
    for entry in std::fs::read_dir(bag)? {
        let path = entry?.path();
        if path.extension().is_some_and(|end| end == "mcap") {
            return Ok(path);
        }
    }
    Err(format!("no MCAP file in {bag}").into())
}

fn write(path: &Path, count: u64, size: usize) -> Result<(u64, u64)> {
    let options = mcap::WriteOptions::new()
        .compression(None)
        .chunk_size(Some(1 << 20));
    let mut writer = options.create(BufWriter::new(File::create(path)?))?;
    let schema = writer.add_schema("std_msgs/msg/ByteMultiArray", "ros2msg", b"")?;
    let mut channels = Vec::new();
    for topic in 1..=TOPICS {
        let name = format!("/load_{topic}");
        channels.push(writer.add_channel(schema, &name, "cdr", &BTreeMap::new())?);
    }
    let message = vec![7; size];
    for (number, channel_id) in (0..count).zip(channels.iter().cycle()) {
        let time = BEGIN_NS + number * STEP_NS;
        let header = mcap::records::MessageHeader {
            channel_id: *channel_id,
            sequence: 0,
            log_time: time,
            publish_time: time,
        };
        writer.write_to_known_channel(&header, &message)?;
    }
    writer.finish()?;
    Ok((count, count))
}

fn summary(file: &mut File) -> Result<mcap::Summary> {
    let mut reader = SummaryReader::new();
    while let Some(event) = reader.next_event() {
        match event? {
            SummaryReadEvent::ReadRequest(count) => {
                let read = file.read(reader.insert(count))?;
                reader.notify_read(read);
            }
            SummaryReadEvent::SeekRequest(to) => {
                let at = file.seek(to)?;
                reader.notify_seeked(at);
            }
        }
    }
    reader.finish().ok_or_else(|| "no summary".into())
}

/// Messages and their bytes, in the order of log times.
fn read(path: &Path, options: IndexedReaderOptions) -> Result<(u64, u64)> {
    let mut file = File::open(path)?;
    let summary = summary(&mut file)?;
    let mut reader = IndexedReader::new_with_options(&summary, options)?;
    let mut buffer = Vec::new();
    let (mut count, mut bytes) = (0, 0);
    while let Some(event) = reader.next_event() {
        match event? {
            IndexedReadEvent::ReadChunkRequest { offset, length } => {
                buffer.resize(length, 0);
                file.read_exact_at(&mut buffer, offset)?;
                reader.insert_chunk_record_data(offset, &buffer)?;
            }
            IndexedReadEvent::Message { data, .. } => {
                count += 1;
                bytes += data.len() as u64;
            }
        }
    }
    Ok((count, bytes))
}

/// A thousand ticks a second of tokio; the middle of all delays.
fn pace(count: u64) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()?;
    let clock = Clock::<Steady>::new();
    let mut late: Vec<i64> = runtime.block_on(async {
        // The grid of the timer begins when it is made, and its first tick is that beginning.
        let begin = clock.now();
        let mut timer = tokio::time::interval(std::time::Duration::from_millis(1));
        timer.tick().await;
        let mut late = Vec::new();
        for number in 1..=count {
            timer.tick().await;
            let due = Duration::from_millis(i64::try_from(number).unwrap_or(i64::MAX));
            late.push((clock.now() - begin.saturating_add(due)).nanos().max(0));
        }
        late
    });
    late.sort_unstable();
    let middle = late.get(late.len() / 2).copied().unwrap_or(0);
    say(middle as f64 * 1e-9, count);
    Ok(())
}
