//! `kill -9` in the middle of a recording.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use timeloom_bag::mcap::{McapCompression, McapOptions};
use timeloom_bag::sqlite::SqliteOptions;
use timeloom_bag::{BagInfo, BagOptions, BagWriter, Message, StorageOptions, recover};
use timeloom_testkit::mcap::BagScratch;

use crate::support::{assert_holds, message_time, payload, read_bag, test_topics};

const DIRECTORY: &str = "TIMELOOM_KILL_DIRECTORY";
const STORAGE: &str = "TIMELOOM_KILL_STORAGE";

fn options(storage: &str) -> BagOptions {
    let small = McapOptions {
        chunk_size: 6000,
        ..McapOptions::default()
    };
    let (storage, max_file_size) = match storage {
        "mcap" => (StorageOptions::Mcap(small), 200_000),
        "mcap_zstd" => {
            let options = McapOptions {
                compression: McapCompression::Zstd(1),
                threads: 2,
                ..small
            };
            (StorageOptions::Mcap(options), 0)
        }
        "mcap_fastwrite" => (
            StorageOptions::Mcap(McapOptions {
                chunking: false,
                ..small
            }),
            0,
        ),
        "sqlite3" => (
            StorageOptions::Sqlite3(SqliteOptions {
                max_batch_messages: 100,
                ..SqliteOptions::default()
            }),
            0,
        ),
        _ => (
            StorageOptions::Sqlite3(SqliteOptions::preset("resilient").unwrap()),
            0,
        ),
    };
    BagOptions {
        storage,
        max_file_size,
        ..BagOptions::default()
    }
}

/// Writes until it is killed or has written `limit` messages; reports every accepted message and every seal.
fn record(directory: &Path, storage: &str, limit: u32, report: &mut dyn Write) {
    let mut writer = BagWriter::create(directory, options(storage)).unwrap();
    let ids: Vec<_> = test_topics()
        .iter()
        .map(|topic| writer.add_topic(topic).unwrap())
        .collect();
    for k in 0..limit {
        let (data, time) = (payload(k), message_time(k));
        let message = Message {
            topic: ids[(k % 2) as usize],
            log_time_ns: time,
            publish_time_ns: time,
            sequence: k,
            data: &data,
        };
        if k % 10 == 0 {
            writer.lost_in_transport(ids[0], 1, time);
        }
        // Twenty messages a second of the writer's clock.
        let now = i64::from(k) * 50_000_000;
        assert!(writer.write(&[message], now).is_ok());
        writeln!(report, "accepted {k}").unwrap();
        if k % 50 == 49 {
            assert!(writer.seal().is_ok());
            writeln!(report, "sealed {k}").unwrap();
        }
        report.flush().unwrap();
    }
}

/// The other process of the test below. On its own it writes a little and drops the writer unfinished.
#[test]
fn the_recording_process() {
    if let (Ok(directory), Ok(storage)) = (std::env::var(DIRECTORY), std::env::var(STORAGE)) {
        record(
            Path::new(&directory),
            &storage,
            u32::MAX,
            &mut std::io::stdout(),
        );
        return;
    }
    let directory = BagScratch::new();
    directory.unchecked();
    let path = directory.path().join("run");
    record(&path, "mcap", 100, &mut std::io::sink());
    assert_holds(&path, 0..100);
}

/// Starts a recording, kills it after a number of lines, and returns the numbers of accepted and sealed messages.
fn kill_after(path: &Path, storage: &str, lines: usize) -> (u32, u32) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "kill::the_recording_process", "--nocapture"])
        .env(DIRECTORY, path)
        .env(STORAGE, storage)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let (mut accepted, mut sealed, mut seen) = (0, 0, 0);
    let mut line = String::new();
    while output.read_line(&mut line).unwrap() > 0 {
        match line.trim().split_once(' ') {
            Some(("accepted", number)) => accepted = number.parse::<u32>().unwrap() + 1,
            Some(("sealed", number)) => sealed = number.parse::<u32>().unwrap() + 1,
            _ => {}
        }
        seen += 1;
        if seen == lines {
            child.kill().unwrap();
        }
        line.clear();
    }
    child.wait().unwrap();
    (accepted, sealed)
}

#[test]
fn kill_minus_nine_loses_only_unsealed_messages() {
    let directory = BagScratch::new();
    directory.unchecked();
    for (number, storage) in [
        "mcap",
        "mcap_zstd",
        "mcap_fastwrite",
        "sqlite3",
        "sqlite3_resilient",
    ]
    .into_iter()
    .enumerate()
    {
        for (round, lines) in [37, 411, 1733 + 97 * number].into_iter().enumerate() {
            let path = directory.path().join(format!("{storage}_{round}"));
            let (accepted, sealed) = kill_after(&path, storage, lines);
            assert!(accepted >= 30, "{storage}: {accepted}");
            // Sealed messages are readable at once, and nothing is invented.
            let readable = u32::try_from(read_bag(&path).len()).unwrap();
            assert!(
                readable >= sealed,
                "{storage}: {readable} readable of {sealed} sealed"
            );
            assert!(
                readable <= accepted + 1,
                "{storage}: {readable} readable of {accepted} accepted"
            );
            assert_holds(&path, 0..readable);
            // Recovery gets all that the files hold; with it, the loss is known exactly.
            let report = recover(&path, 10).unwrap();
            assert_eq!(
                report.messages(),
                u64::from(readable),
                "{storage}: {report:?}"
            );
            assert_holds(&path, 0..readable);
            let info = BagInfo::open(&path).unwrap();
            assert_eq!(
                (info.message_count, info.damage),
                (u64::from(readable), vec![]),
                "{storage}"
            );
            // As are losses on the wire, up to a second before the last seal; the rest is marked as unknown. Before
            // anything was sealed, the file may not even name its topics.
            let Some(topic) = info.topics.first() else {
                assert_eq!((sealed, readable), (0, 0), "{storage}");
                continue;
            };
            let account = topic.statistics.unwrap();
            let saved = u64::from(sealed.saturating_sub(30) / 10);
            let on_the_wire = account.messages_lost_in_transport;
            assert!(on_the_wire >= saved, "{storage}: {on_the_wire} of {saved}");
            assert!(on_the_wire <= u64::from(accepted / 10) + 1, "{storage}");
            assert!(account.unknown.interrupted, "{storage}");
            let lost = accepted.saturating_sub(readable);
            assert!(
                lost <= accepted - sealed,
                "{storage}: lost {lost} of {} not sealed",
                accepted - sealed
            );
        }
    }
}
