//! The law: published = recorded + lost in transport + lost in recorder, held against the peers' ledgers.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::Failure;
use crate::bag::{self, Stored};
use crate::claims::Claims;
use crate::ledger::{Ledger, Writer};
use crate::process::Ended;
use crate::stage::Stage;
use crate::tally::Tally;

/// Judges a bag whose recorder had no room for the ends of its files: what is there and what is said holds, and
/// `recover` makes it whole with the same messages.
pub(crate) fn judge_without_ends(
    stage: &Stage,
    directory: &Path,
    recorder: &Ended,
    tally: &mut Tally,
) -> Result<(), Failure> {
    let (code, ..) = bag::ask(stage, directory, "info bag")?;
    if code != 3 {
        return judge(stage, directory, recorder, tally);
    }
    let before = bag::read(stage, directory, "bag")?.len();
    let (code, report, words) = bag::ask(stage, directory, "recover bag")?;
    let after = report["message_count"].as_u64();
    tally.check(code == 0 && after == Some(before as u64), || {
        format!("recover ended with {code} and {after:?} messages of {before}: {words}")
    });
    judge(stage, directory, recorder, tally)
}

/// Judges a recording whose recorder lived to write its account.
pub(crate) fn judge(
    stage: &Stage,
    directory: &Path,
    recorder: &Ended,
    tally: &mut Tally,
) -> Result<(), Failure> {
    let (code, info, words) = bag::ask(stage, directory, "info -v bag")?;
    tally.check(code == 0, || format!("info ended with {code}: {words}"));
    let stored = bag::read(stage, directory, "bag")?;
    let claims = Claims::read(&info, &recorder.stderr);
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

/// What a publisher has published.
#[derive(Clone, Debug)]
pub(crate) struct Published {
    pub(crate) topic: String,
    /// Whether it is of the topic's usual type.
    pub(crate) usual: bool,
    pub(crate) count: u64,
}

/// The numbers that a bag has of each publisher.
pub(crate) type Seen = BTreeMap<String, BTreeSet<u64>>;

#[derive(Clone, Copy, Debug, Default)]
struct Missing {
    head: u64,
    holes: u64,
    tail: u64,
    /// How many publishers have such a tail.
    tails: u64,
    unseen: u64,
}

impl Missing {
    /// Before the first, between first and last, after the last; or all of a publisher without any.
    fn of(numbers: &BTreeSet<u64>, published: u64) -> Self {
        let (Some(first), Some(last)) = (numbers.first(), numbers.last()) else {
            return Self {
                unseen: published,
                ..Self::default()
            };
        };
        Self {
            head: *first,
            holes: last + 1 - first - numbers.len() as u64,
            tail: published.saturating_sub(last + 1),
            tails: u64::from(published > last + 1),
            unseen: 0,
        }
    }

    fn add(&mut self, other: Self) {
        self.head += other.head;
        self.holes += other.holes;
        self.tail += other.tail;
        self.tails += other.tails;
        self.unseen += other.unseen;
    }

    fn all(&self) -> u64 {
        self.head + self.holes + self.tail + self.unseen
    }
}

/// A topic on both sides of the law.
#[derive(Debug, Default)]
struct Topic {
    published: u64,
    count: u64,
    missing: Missing,
}

/// Holds what is stored against what was published and what is claimed.
pub(crate) fn law(
    publishers: &BTreeMap<String, Published>,
    seen: &Seen,
    claims: &Claims,
    tally: &mut Tally,
) {
    let mut topics: BTreeMap<&str, Topic> = BTreeMap::new();
    for (name, publisher) in publishers {
        tally.published += publisher.count;
        if !publisher.usual && claims.left_out.contains(&publisher.topic) {
            tally.unknown += publisher.count;
            continue;
        }
        let topic = topics.entry(&publisher.topic).or_default();
        let none = BTreeSet::new();
        let numbers = seen.get(name).unwrap_or(&none);
        topic.published += publisher.count;
        topic.count += numbers.len() as u64;
        topic.missing.add(Missing::of(numbers, publisher.count));
    }
    // What is said to be unknown is said of all topics together.
    let (mut heads, mut tails) = (0, 0);
    for (name, topic) in &topics {
        let left = settle(name, topic, claims, tally);
        heads += left.0;
        tails += left.1;
    }
    tally.unexplained(tails.saturating_sub(claims.open), || {
        format!(
            "{tails} publishers went on after the last one seen, it is said of {}: {topics:?}",
            claims.open
        )
    });
    tally.unexplained(heads.saturating_sub(claims.before), || {
        format!("{heads} before the first ones, {} are said", claims.before)
    });
}

/// One topic; gives how many before the first ones, and how many publishers after the last, are left to be explained.
fn settle(name: &str, topic: &Topic, claims: &Claims, tally: &mut Tally) -> (u64, u64) {
    let [recorded, transport, recorder] = claims.topics.get(name).copied().unwrap_or_default();
    tally.recorded += recorded;
    tally.lost_in_transport += transport;
    tally.lost_in_recorder += recorder;
    let words = |what: &str| {
        format!(
            "{what}: {name}, recorded {recorded}, lost on the wire {transport}, lost here {recorder}, {topic:?}, {claims:?}"
        )
    };
    let count = topic.count;
    tally.unexplained(recorded.abs_diff(count), || {
        words("what is said to be recorded is not what is there")
    });
    let (missing, lost) = (topic.missing, transport + recorder);
    tally.unexplained(missing.holes.saturating_sub(lost), || {
        words("a hole that is not counted")
    });
    tally.unexplained(lost.saturating_sub(missing.all()), || {
        words("a loss that did not happen")
    });
    let beyond = missing.all() - missing.holes;
    let mut open = missing.all().saturating_sub(lost).min(beyond);
    let mut explain = |most: u64| {
        let taken = open.min(most);
        open -= taken;
        taken
    };
    let before = explain(missing.head);
    let after = explain(if claims.open > 0 { missing.tail } else { 0 });
    let unseen = explain(if claims.silent > 0 { missing.unseen } else { 0 });
    tally.unknown += before + after + unseen;
    tally.unexplained(open, || words("nobody says what became of some"));
    let tails = match after {
        0 => 0,
        _ if after == missing.tail => missing.tails,
        _ => 1,
    };
    (before, tails)
}

/// What the ledger says, with those that arrived although their peer was killed before it could write it down.
pub(crate) fn published(ledger: &Ledger, seen: &Seen) -> BTreeMap<String, Published> {
    let of = |(name, writer): (&String, &Writer)| {
        let last = seen.get(name).and_then(BTreeSet::last);
        let published = Published {
            topic: writer.topic.clone(),
            usual: writer.usual,
            count: writer.done.max(last.map_or(0, |last| last + 1)),
        };
        (name.clone(), published)
    };
    ledger.writers.iter().map(of).collect()
}

/// Which numbers are there of each writer; what was never published so, or comes twice, is unexplained.
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

/// What nodes publish beside the topics of the peers.
fn is_other(message: &Stored) -> bool {
    !message.topic.starts_with("/chaos")
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn tried(count: u64, there: &[u64], claimed: [u64; 3], words: &str) -> Tally {
        let published = Published {
            topic: "/chaos/a".to_owned(),
            usual: true,
            count,
        };
        let mut claims = Claims::read(&Value::Null, words);
        claims.topics.insert("/chaos/a".to_owned(), claimed);
        let seen = Seen::from([("w".to_owned(), there.iter().copied().collect())]);
        let mut tally = Tally::default();
        law(
            &BTreeMap::from([("w".to_owned(), published)]),
            &seen,
            &claims,
            &mut tally,
        );
        tally
    }

    #[test]
    fn what_is_counted_is_explained() {
        assert!(tried(4, &[0, 1, 2, 3], [4, 0, 0], "").is_good());
        assert!(tried(4, &[0, 3], [2, 1, 1], "").is_good());
        let said =
            "unknown: up to 1 message before the first one seen\nunknown: whether 1 publisher sent";
        let tally = tried(4, &[1, 2], [2, 0, 0], said);
        assert!(tally.is_good(), "{tally:?}");
        assert_eq!(tally.unknown, 2);
    }

    #[test]
    fn each_publisher_that_went_on_is_to_be_named() {
        let publisher = |topic: &str| Published {
            topic: topic.to_owned(),
            usual: true,
            count: 3,
        };
        let names = ["/chaos/a", "/chaos/b"];
        let publishers = names.map(|name| (name.to_owned(), publisher(name)));
        let seen = names.map(|name| (name.to_owned(), BTreeSet::from([0, 1])));
        let unexplained = |words: &str| {
            let mut claims = Claims::read(&Value::Null, words);
            claims.topics = names.map(|name| (name.to_owned(), [2, 0, 0])).into();
            let mut tally = Tally::default();
            law(
                &publishers.clone().into(),
                &seen.clone().into(),
                &claims,
                &mut tally,
            );
            tally.unexplained
        };
        assert_eq!(
            unexplained("unknown: whether 2 publishers sent something"),
            0
        );
        assert_eq!(
            unexplained("unknown: whether 1 publisher sent something"),
            1
        );
    }

    #[test]
    fn one_message_too_few_or_too_many_is_found() {
        assert_eq!(tried(4, &[0, 1, 3], [3, 0, 0], "").unexplained, 1, "a hole");
        assert_eq!(tried(4, &[0, 1, 2], [3, 0, 0], "").unexplained, 1, "a tail");
        assert_eq!(tried(4, &[1, 2, 3], [3, 0, 0], "").unexplained, 1, "a head");
        assert_eq!(
            tried(4, &[0, 1, 2, 3], [4, 1, 0], "").unexplained,
            1,
            "too many"
        );
        assert_eq!(
            tried(4, &[0, 1, 2, 3], [3, 0, 1], "").unexplained,
            2,
            "a lie"
        );
        let open = "unknown: whether 1 publisher sent something";
        assert_eq!(
            tried(4, &[0, 2], [2, 0, 0], open).unexplained,
            1,
            "a hole is no tail"
        );
        assert_eq!(tried(4, &[], [0, 0, 0], open).unexplained, 4, "never seen");
    }
}
