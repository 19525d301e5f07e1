//! A file that cannot grow any more: every message that is not in it is named.

use std::path::Path;
use std::process::Command;

use timeloom_bag::mcap::{McapCompression, McapOptions};
use timeloom_bag::sqlite::SqliteOptions;
use timeloom_bag::{BagOptions, BagWriter, Message, StorageOptions};
use timeloom_testkit::mcap::BagScratch;

use crate::support::{message_time, payload, read_bag, test_topics};

const DIRECTORY: &str = "TIMELOOM_FULL_DIRECTORY";
const STORAGE: &str = "TIMELOOM_FULL_STORAGE";
const COUNT: u32 = 2000;

fn storage(name: &str) -> StorageOptions {
    let small = McapOptions {
        chunk_size: 6000,
        ..McapOptions::default()
    };
    match name {
        "mcap" => StorageOptions::Mcap(small),
        "threads" => StorageOptions::Mcap(McapOptions {
            threads: 2,
            ..small
        }),
        "pool" => StorageOptions::Mcap(McapOptions {
            threads: 2,
            compression: McapCompression::Zstd(-5),
            ..small
        }),
        "fastwrite" => StorageOptions::Mcap(McapOptions {
            chunking: false,
            ..small
        }),
        _ => StorageOptions::Sqlite3(SqliteOptions {
            page_size: 4096,
            max_batch_messages: 50,
            ..SqliteOptions::default()
        }),
    }
}

/// Writes all messages; returns the writer's numbers of recorded and lost messages.
fn record(directory: &Path, name: &str) -> (u64, u64) {
    let mut writer = BagWriter::create(
        directory,
        BagOptions {
            storage: storage(name),
            ..BagOptions::default()
        },
    )
    .unwrap();
    let ids: Vec<_> = test_topics()
        .iter()
        .map(|topic| writer.add_topic(topic).unwrap())
        .collect();
    let mut lost = [0u64; 3];
    let mut note = |outcome: timeloom_bag::WriteOutcome| {
        for entry in outcome.unwritten {
            lost[entry.topic.index()] += entry.messages;
        }
    };
    for k in 0..COUNT {
        let (data, time) = (payload(k), message_time(k));
        note(writer.write(
            &[Message {
                topic: ids[(k % 2) as usize],
                log_time_ns: time,
                publish_time_ns: time,
                sequence: k,
                data: &data,
            }],
            0,
        ));
    }
    note(writer.seal());
    let live = writer.statistics().to_vec();
    let (summary, outcome) = writer.finish().unwrap();
    note(outcome);
    for (at, topic) in summary.topics.iter().enumerate() {
        assert_eq!(
            topic.messages_lost_in_recorder(),
            lost[at],
            "the account and the outcomes agree"
        );
        assert_eq!(
            topic.messages_recorded, live[at].messages_recorded,
            "and so does the live account"
        );
        assert_eq!(
            topic.messages_published(),
            if at < 2 { u64::from(COUNT) / 2 } else { 0 },
            "nothing is forgotten"
        );
    }
    (
        summary
            .topics
            .iter()
            .map(|topic| topic.messages_recorded)
            .sum(),
        lost.iter().sum(),
    )
}

/// The process with the small file limit; on its own it has no limit and loses nothing.
#[test]
fn the_limited_process() {
    if let (Ok(directory), Ok(storage)) = (std::env::var(DIRECTORY), std::env::var(STORAGE)) {
        let (recorded, lost) = record(Path::new(&directory), &storage);
        println!("\nresult {recorded} {lost}");
        return;
    }
    let directory = BagScratch::new();
    assert_eq!(
        record(&directory.path().join("run"), "mcap"),
        (u64::from(COUNT), 0)
    );
}

#[test]
fn every_message_that_a_full_disk_refuses_is_counted() {
    let directory = BagScratch::new();
    directory.unchecked();
    for name in ["mcap", "threads", "pool", "fastwrite", "sqlite3"] {
        let path = directory.path().join(name);
        // The signal is ignored, so that writing beyond the limit fails instead of killing.
        let blocks = if name == "pool" { 40 } else { 150 };
        let run = "exec \"$0\" --exact full_disk::the_limited_process --nocapture";
        let shell = format!("trap '' XFSZ; ulimit -f {blocks}; {run}");
        let output = Command::new("bash")
            .args([
                "-c",
                &shell,
                std::env::current_exe().unwrap().to_str().unwrap(),
            ])
            .env(DIRECTORY, &path)
            .env(STORAGE, name)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned()
            + &String::from_utf8_lossy(&output.stderr);
        let result = text
            .lines()
            .find_map(|line| line.strip_prefix("result "))
            .unwrap_or_else(|| panic!("{name}: {text}"));
        let (recorded, lost) = result.split_once(' ').unwrap();
        let (recorded, lost): (u64, u64) = (recorded.parse().unwrap(), lost.parse().unwrap());
        assert!(lost > 0 && recorded > 0, "{name}: {result}");
        assert_eq!(recorded + lost, u64::from(COUNT), "{name}");
        let messages = read_bag(&path);
        assert_eq!(
            messages.len() as u64,
            recorded,
            "{name}: what is said to be recorded is there"
        );
        // MCAP stores the sequence number: each message in the file must have its own.
        assert!(
            messages
                .iter()
                .all(|message| name == "sqlite3" || message.data == payload(message.sequence)),
            "{name}"
        );
    }
}
