//! The law: published = recorded + lost in transport + lost in the recorder, held against what the robot published.

use std::collections::BTreeMap;
use std::path::Path;

use timeloom_bag::{BagInfo, TopicStatistics};

use crate::Failure;
use crate::bag_file::log_times;
use crate::claim::{Chapter, Claim, Table};
use crate::truth::{Published, TOPICS, Truth};

/// The topics on which lost packets are not sent again.
const BEST_EFFORT: [&str; 3] = ["/scan", "/scan_filtered", "/imu"];

pub(crate) fn check(bag: &Path, truth: &Truth) -> Result<Chapter, Failure> {
    let info = BagInfo::open(bag)?;
    let mut table = Table {
        head: vec![
            "topic",
            "published",
            "recorded",
            "lost on the wire",
            "lost in the recorder",
            "unseen ends",
        ],
        rows: Vec::new(),
    };
    let (mut adds_up, mut repaired, mut lost) = (true, true, 0);
    for (topic, type_name) in TOPICS {
        let entry = info.topics.iter().find(|entry| entry.name == topic);
        let account = entry
            .and_then(|entry| entry.statistics.as_ref())
            .ok_or_else(|| format!("the bag has no account of {topic}"))?;
        let recorded = log_times(bag, topic, type_name)?;
        let ends = unseen_ends(truth.of(topic), &recorded);
        adds_up &= is_right(account, truth.of(topic), &recorded, ends);
        repaired &= account.messages_lost() == 0 || BEST_EFFORT.contains(&topic);
        lost += account.messages_lost_in_transport;
        let numbers = [
            truth.of(topic).len() as u64,
            account.messages_recorded,
            account.messages_lost_in_transport,
            account.messages_lost_in_recorder(),
            ends,
        ];
        let cells = numbers.iter().map(ToString::to_string);
        table
            .rows
            .push(std::iter::once(topic.to_owned()).chain(cells).collect());
    }
    Ok(Chapter {
        title: "Recording: what became of every message",
        table,
        claims: vec![
            Claim::new(
                adds_up,
                "published = recorded + lost on the wire + lost in the recorder, topic by topic",
            ),
            Claim::new(
                lost > 0,
                format!("the network lost {lost} messages, and the recorder counted each of them"),
            ),
            Claim::new(
                repaired,
                "reliable topics lost none: what was lost on the way was sent again",
            ),
        ],
    })
}

/// Messages before the first and after the last one that was recorded: their loss cannot be detected.
///
/// Counted by the stamps that the robot wrote down, not by the sequence numbers that the recorder counts with.
fn unseen_ends(published: &[Published], recorded: &BTreeMap<i64, i64>) -> u64 {
    let is_there = |message: &Published| recorded.contains_key(&message.stamp_ns);
    let first = published.iter().position(is_there);
    let last = published.iter().rposition(is_there);
    match (first, last) {
        (Some(first), Some(last)) => (first + published.len() - 1 - last) as u64,
        _ => published.len() as u64,
    }
}

/// Whether an account says what really happened. A loss at the ends may be known all the same, by a heartbeat.
fn is_right(
    account: &TopicStatistics,
    published: &[Published],
    recorded: &BTreeMap<i64, i64>,
    ends: u64,
) -> bool {
    let published = published.len() as u64;
    let known = account.messages_published();
    account.messages_recorded == recorded.len() as u64
        && known <= published
        && known + ends >= published
}
