//! Checks the law against the ledgers of the peers: published = recorded + lost in transport + lost in the recorder +
//! left out + unknown, per topic.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::Failure;
use crate::bag::{self, Stored};
use crate::claims::{Claims, Counts};
use crate::ledger::{Ledger, Writer};
use crate::process::Ended;
use crate::tally::Tally;
use crate::test_bed::TestBed;

/// Checks a bag whose recorder had no space for the ends of its files: its content and account are correct, and
/// `recover` repairs it without losing a message.
pub(crate) fn judge_without_ends(
    bed: &TestBed,
    directory: &Path,
    recorder: &Ended,
    tally: &mut Tally,
) -> Result<(), Failure> {
    let (code, ..) = bag::ask(bed, directory, "info bag")?;
    if code != 3 {
        return judge(bed, directory, recorder, tally);
    }
    let before = bag::read(bed, directory, "bag")?.len();
    let (code, report, words) = bag::ask(bed, directory, "recover bag")?;
    let after = report["message_count"].as_u64();
    tally.check(code == 0 && after == Some(before as u64), || {
        format!("recover ended with {code} and {after:?} messages of {before}: {words}")
    });
    judge(bed, directory, recorder, tally)
}

/// Checks a recording whose recorder wrote its account.
pub(crate) fn judge(
    bed: &TestBed,
    directory: &Path,
    recorder: &Ended,
    tally: &mut Tally,
) -> Result<(), Failure> {
    let (code, info, words) = bag::ask(bed, directory, "info -v bag")?;
    tally.check(code == 0, || format!("info ended with {code}: {words}"));
    let stored = bag::read(bed, directory, "bag")?;
    let claims = Claims::read(&info);
    let printed = Claims::printed(&recorder.stdout)?;
    tally.check(printed == claims, || {
        format!("the recorder says {printed:?}, the bag says {claims:?}")
    });
    let ledger = Ledger::read(directory)?;
    let before = tally.clone();
    let seen = sort(&ledger, &stored, tally);
    law(&published(&ledger, &seen), &seen, &claims, tally);
    let lost = tally.lost_in_transport + tally.lost_in_recorder
        > before.lost_in_transport + before.lost_in_recorder;
    let right = if lost { Some(3) } else { Some(0) };
    tally.check(recorder.code == right || recorder.code == Some(3), || {
        format!(
            "the recorder ended with {:?} and not with {right:?}",
            recorder.code
        )
    });
    Ok(())
}

/// The messages of a publisher.
#[derive(Clone, Debug)]
pub(crate) struct Published {
    pub(crate) topic: String,
    pub(crate) count: u64,
}

/// The recorded sequence numbers of each publisher.
pub(crate) type Seen = BTreeMap<String, BTreeSet<u64>>;

#[derive(Clone, Debug, Default)]
struct Missing {
    head: u64,
    holes: u64,
    tail: u64,
    /// All messages of publishers without any recorded message.
    unseen: u64,
    /// The missing messages at the end of each publisher, or all of them.
    ends: Vec<u64>,
}

impl Missing {
    /// Missing before the first, between first and last, and after the last recorded message; or all messages of a
    /// publisher.
    fn of(numbers: &BTreeSet<u64>, published: u64) -> Self {
        let (Some(first), Some(last)) = (numbers.first(), numbers.last()) else {
            return Self {
                unseen: published,
                ends: vec![published],
                ..Self::default()
            };
        };
        Self {
            head: *first,
            holes: last + 1 - first - numbers.len() as u64,
            tail: published.saturating_sub(last + 1),
            unseen: 0,
            ends: vec![published.saturating_sub(last + 1)],
        }
    }

    fn add(&mut self, other: Self) {
        self.head += other.head;
        self.holes += other.holes;
        self.tail += other.tail;
        self.unseen += other.unseen;
        self.ends.extend(other.ends);
    }

    fn all(&self) -> u64 {
        self.head + self.holes + self.tail + self.unseen
    }
}

/// A topic in the bag and in the ledger.
#[derive(Debug, Default)]
struct Topic {
    published: u64,
    count: u64,
    missing: Missing,
}

/// Compares the stored messages with the published ones and with the account.
pub(crate) fn law(
    publishers: &BTreeMap<String, Published>,
    seen: &Seen,
    claims: &Claims,
    tally: &mut Tally,
) {
    let mut topics: BTreeMap<&str, Topic> = BTreeMap::new();
    for (name, publisher) in publishers {
        let topic = topics.entry(&publisher.topic).or_default();
        let none = BTreeSet::new();
        let numbers = seen.get(name).unwrap_or(&none);
        topic.published += publisher.count;
        topic.count += numbers.len() as u64;
        topic.missing.add(Missing::of(numbers, publisher.count));
    }
    for (name, topic) in &topics {
        let counts = claims.topics.get(*name).copied().unwrap_or_default();
        settle(name, topic, &counts, tally);
    }
}

/// Checks one topic.
fn settle(name: &str, topic: &Topic, counts: &Counts, tally: &mut Tally) {
    tally.count(topic.published, counts);
    let words = |what: &str| format!("{what}: {name}, {counts:?}, {topic:?}");
    tally.unexplained(counts.recorded.abs_diff(topic.count), || {
        words("what is said to be recorded is not what is there")
    });
    let (missing, known) = (&topic.missing, counts.missing());
    if !counts.interrupted {
        tally.unexplained(missing.holes.saturating_sub(known), || {
            words("a hole that is not counted")
        });
    }
    tally.unexplained(known.saturating_sub(missing.all()), || {
        words("a loss that did not happen")
    });
    let mut rest = missing.all().saturating_sub(known);
    let mut explain = |most: u64| {
        let taken = rest.min(most);
        rest -= taken;
        taken
    };
    // Unknown messages have a position: before the first or after the last message of a publisher.
    let most = if counts.interrupted {
        u64::MAX
    } else {
        counts.before
    };
    let before = explain((missing.head + missing.unseen).min(most));
    let is_open = counts.open > 0 || counts.interrupted;
    let after = explain(if is_open { missing.tail } else { 0 });
    let unseen = explain(if is_open { missing.unseen } else { 0 });
    let holes = explain(if counts.interrupted { missing.holes } else { 0 });
    tally.unknown += before + after + unseen + holes;
    tally.unexplained(rest, || words("nothing accounts for some"));
    let publishers = fewest(&missing.ends, after + unseen);
    if !counts.interrupted {
        tally.unexplained(publishers.saturating_sub(counts.open), || {
            words("more publishers sent something that is unknown")
        });
    }
}

/// The smallest number of publishers that explains so many missing messages.
fn fewest(ends: &[u64], mut messages: u64) -> u64 {
    let mut ends = ends.to_vec();
    ends.sort_unstable_by(|a, b| b.cmp(a));
    let mut publishers = 0;
    for end in ends {
        if messages == 0 {
            break;
        }
        messages = messages.saturating_sub(end);
        publishers += 1;
    }
    publishers
}

/// The ledger, plus messages that arrived although their peer was killed before it could log them.
pub(crate) fn published(ledger: &Ledger, seen: &Seen) -> BTreeMap<String, Published> {
    let of = |(name, writer): (&String, &Writer)| {
        let last = seen.get(name).and_then(BTreeSet::last);
        let published = Published {
            topic: writer.topic.clone(),
            count: writer.done.max(last.map_or(0, |last| last + 1)),
        };
        (name.clone(), published)
    };
    ledger.writers.iter().map(of).collect()
}

/// The recorded numbers of each writer; duplicates and messages that were not published are unexplained.
pub(crate) fn sort(ledger: &Ledger, stored: &[Stored], tally: &mut Tally) -> Seen {
    let mut seen = Seen::new();
    for message in stored.iter().filter(|message| !is_other(message)) {
        let Some((writer, number, text)) = message.text() else {
            let text = format!("{}: not a message of a peer", message.topic);
            tally.unexplained(1, || text);
            continue;
        };
        let topic = ledger.writers.get(writer).map(|writer| &writer.topic);
        if topic != Some(&message.topic) || !ledger.knows(writer, number, text) {
            tally.unexplained(1, || format!("{writer}:{number} was never published so"));
        }
        let first = seen.entry(writer.to_owned()).or_default().insert(number);
        tally.unexplained(u64::from(!first), || {
            format!("{writer}:{number} is there twice")
        });
    }
    seen
}

/// Topics that nodes publish besides those of the peers.
fn is_other(message: &Stored) -> bool {
    !message.topic.starts_with("/chaos")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(numbers: [u64; 6]) -> Counts {
        let [
            recorded,
            lost_in_transport,
            lost_in_recorder,
            left_out,
            before,
            open,
        ] = numbers;
        Counts {
            recorded,
            lost_in_transport,
            lost_in_recorder,
            left_out,
            before,
            open,
            interrupted: false,
        }
    }

    fn judged(publishers: &[(&str, u64, &[u64])], counts: Counts) -> Tally {
        let topic = "/chaos/a".to_owned();
        let published = publishers.iter().map(|(name, count, _)| {
            let published = Published {
                topic: topic.clone(),
                count: *count,
            };
            ((*name).to_owned(), published)
        });
        let seen = publishers.iter().map(|(name, _, there)| {
            let there: BTreeSet<u64> = there.iter().copied().collect();
            ((*name).to_owned(), there)
        });
        let claims = Claims {
            topics: BTreeMap::from([(topic.clone(), counts)]),
            interrupted: counts.interrupted,
        };
        let mut tally = Tally::default();
        law(&published.collect(), &seen.collect(), &claims, &mut tally);
        tally
    }

    fn tried(count: u64, there: &[u64], numbers: [u64; 6]) -> Tally {
        judged(&[("w", count, there)], counts(numbers))
    }

    #[test]
    fn counted_losses_are_explained() {
        assert!(tried(4, &[0, 1, 2, 3], [4, 0, 0, 0, 0, 0]).is_good());
        assert!(tried(4, &[0, 3], [2, 1, 1, 0, 0, 0]).is_good());
        assert!(tried(4, &[0, 3], [2, 1, 0, 1, 0, 0]).is_good(), "left out");
        let tally = tried(4, &[1, 2], [2, 0, 0, 0, 1, 1]);
        assert!(tally.is_good(), "{tally:?}");
        assert_eq!(tally.unknown, 2);
        assert!(
            tried(4, &[], [0, 0, 0, 0, 4, 0]).is_good(),
            "announced, none received"
        );
        assert!(
            tried(4, &[], [0, 0, 0, 0, 0, 1]).is_good(),
            "matched, silent"
        );
    }

    #[test]
    fn each_publisher_with_a_lost_end_is_counted() {
        let two: [(&str, u64, &[u64]); 2] = [("a", 3, &[0, 1]), ("b", 3, &[0, 1])];
        assert_eq!(judged(&two, counts([4, 0, 0, 0, 0, 2])).unexplained, 0);
        assert_eq!(judged(&two, counts([4, 0, 0, 0, 0, 1])).unexplained, 1);
        let silent: [(&str, u64, &[u64]); 2] = [("a", 3, &[]), ("b", 3, &[])];
        assert_eq!(judged(&silent, counts([0, 0, 0, 0, 0, 1])).unexplained, 1);
    }

    #[test]
    fn after_a_kill_the_rest_is_unknown_and_counts_are_checked() {
        let killed = |numbers| Counts {
            interrupted: true,
            ..counts(numbers)
        };
        let writer: [(&str, u64, &[u64]); 1] = [("w", 9, &[0, 1, 4])];
        assert!(judged(&writer, killed([3, 2, 0, 0, 0, 0])).is_good());
        assert!(judged(&writer, killed([3, 0, 0, 0, 0, 0])).is_good());
        assert_eq!(judged(&writer, killed([3, 7, 0, 0, 0, 0])).unexplained, 1);
        assert_eq!(judged(&writer, counts([3, 2, 0, 0, 0, 0])).unexplained, 4);
    }

    #[test]
    fn off_by_one_counts_are_found() {
        let none = [3, 0, 0, 0, 0, 0];
        assert_eq!(tried(4, &[0, 1, 3], none).unexplained, 2, "a hole");
        assert_eq!(tried(4, &[0, 1, 2], none).unexplained, 1, "a tail");
        assert_eq!(tried(4, &[1, 2, 3], none).unexplained, 1, "a head");
        let all = &[0, 1, 2, 3];
        assert_eq!(tried(4, all, [4, 1, 0, 0, 0, 0]).unexplained, 1, "too many");
        assert_eq!(tried(4, all, [3, 0, 1, 0, 0, 0]).unexplained, 2, "a lie");
        let open = [2, 0, 0, 0, 0, 1];
        assert!(tried(4, &[0, 2], open).unexplained > 0, "a hole is no tail");
        assert_eq!(tried(4, &[], [0; 6]).unexplained, 4, "never seen");
    }
}
