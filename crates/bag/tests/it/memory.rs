//! The memory of a writer is bounded, however many files it writes.

use std::fs;

use timeloom_bag::{BagOptions, BagWriter, Message, MissingCause, TopicInfo, TopicStatistics};
use timeloom_testkit::mcap::BagScratch;

use crate::support::message_time;

/// Resident memory of this process in bytes.
fn memory() -> u64 {
    let text = fs::read_to_string("/proc/self/status").unwrap();
    let line = text.lines().find(|line| line.starts_with("VmRSS:"));
    let kib = line.unwrap().split_ascii_whitespace().nth(1).unwrap();
    kib.parse::<u64>().unwrap() * 1024
}

#[test]
fn the_memory_of_a_writer_does_not_grow_with_splits() {
    let directory = BagScratch::new();
    directory.unchecked();
    let path = directory.path().join("bag");
    let mut writer = BagWriter::create(&path, BagOptions::default()).unwrap();
    let ids: Vec<_> = (0..104)
        .map(|number| {
            let name = format!("/sensors/group_{}/topic_{number}", number % 7);
            let topic = TopicInfo::new(name, "std_msgs/msg/String");
            writer.add_topic(&topic).unwrap()
        })
        .collect();
    let mut begin = 0;
    for split in 0..600u32 {
        let time = message_time(split);
        // Eight topics have messages and losses in each file: the account still has a line for every topic.
        for id in ids.iter().cycle().skip(split as usize * 8).take(8) {
            let message = Message {
                topic: *id,
                log_time_ns: time,
                publish_time_ns: time,
                sequence: split,
                data: &[0, 1, 0, 0, 7, 7, 7, 7],
            };
            assert!(writer.write(&[message], time).is_ok());
            writer.lost_in_transport(*id, 1, time);
        }
        writer.split().unwrap();
        // Files that wait to be closed are not measured here.
        assert!(writer.seal().is_ok());
        if split == 100 {
            begin = memory();
        }
        if split > 3 {
            let old = format!("bag_{}.mcap", split - 3);
            fs::remove_file(path.join(old)).unwrap_or_default();
        }
    }
    let grown = memory().saturating_sub(begin);
    assert!(grown < 4 << 20, "{grown} bytes");
    let mut total = TopicStatistics::default();
    for topic in writer.statistics() {
        total.merge(topic);
    }
    let counts = (total.messages_recorded, total.messages_lost());
    assert_eq!(counts, (4_800, 4_800));
    let timelines = writer.timelines().iter();
    let timed = timelines.map(|it| it.total(MissingCause::Transport));
    assert_eq!(timed.sum::<u64>(), 4_800);
}
