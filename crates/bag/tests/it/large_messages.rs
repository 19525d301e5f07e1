//! Messages that are large enough for direct writes: readers of a growing file, `kill -9`, a full disk.

use std::io::{BufRead as _, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use timeloom_bag::mcap::{McapOptions, WritePath};
use timeloom_bag::{
    BagOptions, BagWriter, DiskWait, Message, StorageOptions, TopicInfo, WriteOutcome, recover,
};
use timeloom_testkit::mcap::BagScratch;

use crate::support::read_bag;

const DIRECTORY: &str = "TIMELOOM_LARGE_DIRECTORY";
const COUNT: &str = "TIMELOOM_LARGE_COUNT";

/// A message with its number in every byte, at a place in memory that depends on it.
fn payload(number: u32) -> (Vec<u8>, usize) {
    let skipped = (number * 37 % 600) as usize;
    let size = 270_000 + (number * 7_919 % 200_000) as usize;
    let byte = |at: usize| (at + number as usize).to_le_bytes()[0];
    ((0..skipped + size).map(byte).collect(), skipped)
}

fn create(directory: &Path, write_path: WritePath) -> BagWriter {
    let options = McapOptions {
        write_path,
        ..McapOptions::default()
    };
    let options = BagOptions {
        storage: StorageOptions::Mcap(options),
        ..BagOptions::default()
    };
    let mut writer = BagWriter::create(directory, options).unwrap();
    for name in ["/image", "/small"] {
        let info = TopicInfo::new(name, "std_msgs/msg/String");
        writer.add_topic(&info).unwrap();
    }
    writer
}

/// Writes a large message; every fifth follows a small one.
fn write(writer: &mut BagWriter, number: u32) -> WriteOutcome {
    let (memory, skipped) = payload(number);
    let messages = [(1, &memory[..100]), (0, &memory[skipped..])].map(|(topic, data)| Message {
        topic: timeloom_bag::TopicId(topic),
        log_time_ns: i64::from(number),
        publish_time_ns: 0,
        sequence: number,
        data,
    });
    let from = usize::from(!number.is_multiple_of(5));
    writer.set_disk_wait(if number % 7 == 3 {
        DiskWait::Avoided
    } else {
        DiskWait::Allowed
    });
    writer.write(&messages[from..], i64::from(number))
}

/// The numbers of the large messages in a bag; each must hold what was written.
fn numbers(directory: &Path) -> Vec<u32> {
    let messages = read_bag(directory);
    let large = messages.iter().filter(|message| message.data.len() > 1000);
    large
        .map(|message| {
            let (memory, skipped) = payload(message.sequence);
            assert!(message.data == memory[skipped..], "{}", message.sequence);
            message.sequence
        })
        .collect()
}

#[test]
fn readers_see_large_messages_while_the_file_grows() {
    for write_path in [WritePath::Direct, WritePath::PageCache] {
        let directory = BagScratch::new();
        let path = directory.path().join("run");
        let mut writer = create(&path, write_path);
        for number in 0..12 {
            assert!(write(&mut writer, number).is_ok());
            let expected: Vec<u32> = (0..=number).collect();
            assert_eq!(numbers(&path), expected, "{write_path:?}");
        }
        let (summary, outcome) = writer.finish().unwrap();
        assert!(outcome.is_ok());
        assert_eq!(summary.metadata.message_count, 15);
        assert_eq!(numbers(&path).len(), 12);
    }
}

/// The other process of the tests below. On its own it writes a little.
#[test]
fn the_recording_process() {
    let directory = std::env::var(DIRECTORY);
    let count = std::env::var(COUNT).map(|count| count.parse::<u32>().unwrap());
    let (Ok(directory), Ok(count)) = (directory, count) else {
        let directory = BagScratch::new();
        let mut writer = create(&directory.path().join("run"), WritePath::Direct);
        assert!(write(&mut writer, 0).is_ok());
        assert!(writer.finish().unwrap().1.is_ok());
        return;
    };
    let mut writer = create(Path::new(&directory), WritePath::Direct);
    let mut lost = 0;
    for number in 0..count {
        let outcome = write(&mut writer, number);
        lost += outcome.messages_lost();
        println!("\naccepted {number}");
        std::io::stdout().flush().unwrap();
    }
    let (summary, outcome) = writer.finish().unwrap();
    lost += outcome.messages_lost();
    let recorded: u64 = summary.topics.iter().map(|one| one.messages_recorded).sum();
    println!("\nresult {recorded} {lost}");
}

const RUN: [&str; 3] = [
    "--exact",
    "large_messages::the_recording_process",
    "--nocapture",
];

#[test]
fn kill_minus_nine_loses_no_large_message_that_was_accepted() {
    let directory = BagScratch::new();
    directory.unchecked();
    for lines in [3, 20, 61] {
        let path = directory.path().join(format!("after_{lines}"));
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(RUN)
            .env(DIRECTORY, &path)
            .env(COUNT, "100000")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (mut accepted, mut seen) = (0, 0);
        for line in BufReader::new(child.stdout.take().unwrap()).lines() {
            let line = line.unwrap();
            let Some(number) = line.strip_prefix("accepted ") else {
                continue;
            };
            accepted = number.parse::<u32>().unwrap() + 1;
            seen += 1;
            if seen == lines {
                child.kill().unwrap();
            }
        }
        child.wait().unwrap();
        let readable = numbers(&path);
        let count = u32::try_from(readable.len()).unwrap();
        assert_eq!(readable, (0..count).collect::<Vec<_>>());
        assert!(count >= accepted, "{count} of {accepted}");
        assert!(count <= accepted + 1, "{count} of {accepted}");
        recover(&path, 10).unwrap();
        assert_eq!(numbers(&path), readable, "recovery gets all of them");
    }
}

#[test]
fn large_messages_that_a_full_disk_refuses_are_counted() {
    let directory = BagScratch::new();
    directory.unchecked();
    let path = directory.path().join("full");
    // The signal is ignored, so that writing beyond the limit fails instead of killing.
    let shell = format!(
        "trap '' XFSZ; ulimit -f 9000; exec \"$0\" {}",
        RUN.join(" ")
    );
    let program = std::env::current_exe().unwrap();
    let output = Command::new("bash")
        .args(["-c", &shell, program.to_str().unwrap()])
        .env(DIRECTORY, &path)
        .env(COUNT, "50")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    let result = text.lines().find_map(|line| line.strip_prefix("result "));
    let result = result.unwrap_or_else(|| panic!("{text}"));
    let (recorded, lost) = result.split_once(' ').unwrap();
    let (recorded, lost): (u64, u64) = (recorded.parse().unwrap(), lost.parse().unwrap());
    assert!(lost > 0 && recorded > 0, "{result}");
    assert_eq!(recorded + lost, 60, "fifty large ones, ten small ones");
    assert_eq!(read_bag(&path).len() as u64, recorded);
    assert!(!numbers(&path).is_empty(), "and they hold what was written");
}
