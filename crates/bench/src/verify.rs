//! `timeloom-bench verify`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;
use serde_json::{Value as Json, json};
use timeloom_bag::{BagInfo, BagReader, Query, StorageReader as _, TopicInfo, UnknownMessages};
use timeloom_text::Table;

use crate::ledger::Ledger;
use crate::output::{self, Format, Outcome, note};
use crate::payload::{Content, Payload};

const EXAMPLES: &str = "\
EXAMPLES
  timeloom-bench verify my_bag                              every byte and every number
  timeloom-bench verify my_bag --ledger ledger.json         published = recorded + lost, for each topic
  timeloom-bench verify my_bag/my_bag_3.mcap --format json  one file of a bag

The exit code is 3 when messages are missing, and 1 when a message is damaged or not accounted for.";

/// Check the messages of `timeloom-bench load` in a bag, byte by byte, and account for all of them
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The bag: a directory, or one .mcap or .db3 file
    #[arg(value_name = "BAG")]
    bag: PathBuf,
    /// Output of `timeloom-bench load --format json`
    #[arg(long, value_name = "FILE")]
    ledger: Option<PathBuf>,
    /// Output format
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
}

/// The messages of one topic in a bag.
#[derive(Debug, Default)]
struct Found {
    /// Number of undamaged messages.
    whole: u64,
    damaged: u64,
    /// Number of messages whose number is not above the previous one: duplicates or reordering.
    disordered: u64,
    first: Option<u64>,
    last: Option<u64>,
    /// The count of the ledger.
    published: Option<u64>,
    /// Losses in transport and in the recorder, according to the account.
    lost: Option<(u64, u64)>,
    /// Unknown messages, according to the account.
    open: UnknownMessages,
}

impl Found {
    fn add(&mut self, number: Option<u64>) {
        let Some(number) = number else {
            self.damaged += 1;
            return;
        };
        self.whole += 1;
        self.disordered += u64::from(self.last.is_some_and(|last| number <= last));
        self.first = Some(self.first.map_or(number, |first| first.min(number)));
        self.last = Some(self.last.map_or(number, |last| last.max(number)));
    }

    /// Number of missing messages: of the published ones, otherwise of those between the first and the last.
    fn missing(&self) -> u64 {
        let between = match (self.first, self.last) {
            (Some(first), Some(last)) => last - first + 1,
            _ => 0,
        };
        let expected = self.published.unwrap_or(between);
        expected.saturating_sub(self.whole + self.damaged)
    }

    /// Whether published = recorded + lost, as far as both are known.
    fn unexplained(&self) -> Option<i64> {
        let (transport, recorder) = self.lost?;
        let published = i64::try_from(self.published?).ok()?;
        let there = self.whole + self.damaged + transport + recorder + self.unknown();
        Some(published - i64::try_from(there).ok()?)
    }

    /// Missing messages before the first and after the last one that the recorder reports as unknown.
    fn unknown(&self) -> u64 {
        let (Some(published), Some((transport, recorder))) = (self.published, self.lost) else {
            return 0;
        };
        let (before, after) = match (self.first, self.last) {
            (Some(first), Some(last)) => (first, published.saturating_sub(last + 1)),
            _ => (published, 0),
        };
        let open_end = self.open.open_publishers > 0;
        let most = before.min(self.open.before_first) + if open_end { after } else { 0 };
        let rest = published.saturating_sub(self.whole + self.damaged + transport + recorder);
        if rest <= most { rest } else { 0 }
    }

    fn is_broken(&self) -> bool {
        let unexplained = self.unexplained().is_some_and(|count| count != 0);
        self.damaged > 0 || self.disordered > 0 || unexplained
    }

    fn to_json(&self) -> Json {
        json!({
            "recorded": self.whole,
            "damaged": self.damaged,
            "disordered": self.disordered,
            "first": self.first,
            "last": self.last,
            "missing": self.missing(),
            "published": self.published,
            "lost_in_transport": self.lost.map(|lost| lost.0),
            "lost_in_recorder": self.lost.map(|lost| lost.1),
            "unknown": self.unknown(),
            "unexplained": self.unexplained(),
        })
    }
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let mut topics: BTreeMap<String, Found> = BTreeMap::new();
    if let Some(path) = &arguments.ledger {
        for (name, count) in Ledger::published(path)? {
            topics.entry(name).or_default().published = Some(count);
        }
    }
    let left_out = read(BagReader::open(&arguments.bag)?, &mut topics)?;
    for topic in &BagInfo::open(&arguments.bag)?.topics {
        if let (Some(found), Some(said)) = (topics.get_mut(&topic.name), &topic.statistics) {
            found.lost = Some((
                said.messages_lost_in_transport,
                said.messages_lost_in_recorder(),
            ));
            found.open = said.unknown;
        }
    }
    if topics.is_empty() {
        // An empty table would look like a success.
        anyhow::bail!(
            "{}: no messages of `timeloom-bench load`; record while it publishes, then verify that bag",
            arguments.bag.display()
        );
    }
    output::result(arguments.format, || table(&topics), || as_json(&topics))?;
    if left_out > 0 {
        note(&format!("ignored {left_out} messages of other topics"));
    }
    let broken = topics.values().filter(|found| found.is_broken()).count();
    if broken > 0 {
        note(&format!(
            "warning: messages of {broken} topics are damaged, out of order or not accounted for"
        ));
        return Ok(Outcome::Unaccounted);
    }
    let missing: u64 = topics.values().map(Found::missing).sum();
    Ok(Outcome::missing_if(missing > 0))
}

/// Reads every message; returns the number of messages that belong to no load.
fn read(mut reader: BagReader, topics: &mut BTreeMap<String, Found>) -> anyhow::Result<u64> {
    let names = reader.info().topics.clone();
    reader.start(&Query::default())?;
    let mut payloads: BTreeMap<(usize, usize), Option<Payload>> = BTreeMap::new();
    let mut left_out = 0;
    while let Some(message) = reader.next_message()? {
        let at = message.topic.index();
        let Some((topic, content)) = names.get(at).and_then(of_a_load) else {
            left_out += 1;
            continue;
        };
        let known = payloads.entry((at, message.data.len())).or_default();
        if known.is_none() {
            *known = payload(content, &topic.name, message.data);
        }
        let number = known.as_ref().and_then(|of| number(of, message.data));
        topics.entry(topic.name.clone()).or_default().add(number);
    }
    Ok(left_out)
}

fn of_a_load(topic: &TopicInfo) -> Option<(&TopicInfo, Content)> {
    let (root, number) = topic.name.rsplit_once('_')?;
    let numbered = !root.is_empty() && number.parse::<u64>().is_ok();
    let content = Content::of_type(&topic.type_name)?;
    numbered.then_some((topic, content))
}

/// The number of a message, which DDS pads with zeros to a multiple of four bytes.
fn number(payload: &Payload, message: &[u8]) -> Option<u64> {
    let (message, padding) = message.split_at_checked(payload.len())?;
    let padded = padding.len() < 4 && padding.iter().all(|byte| *byte == 0);
    padded.then(|| payload.number(message)).flatten()
}

/// The expected messages of a topic, from one of them; `None` if it does not belong to a load.
fn payload(content: Content, topic: &str, message: &[u8]) -> Option<Payload> {
    if !content.has_data() {
        return Payload::new(content, topic, 0).ok();
    }
    let least = Payload::new(content, topic, 8).ok()?.len();
    // Padding around the data varies, so the right size is searched around the first guess.
    let guess = (message.len() + 8).checked_sub(least)?;
    (guess.saturating_sub(8)..=guess + 4)
        .rev()
        .filter_map(|size| Payload::new(content, topic, size).ok())
        .find(|payload| number(payload, message).is_some())
}

fn as_json(topics: &BTreeMap<String, Found>) -> Json {
    let sum = |count: fn(&Found) -> u64| topics.values().map(count).sum::<u64>();
    let all = topics.iter().map(|(name, of)| (name.clone(), of.to_json()));
    json!({
        "total": {
            "recorded": sum(|found| found.whole),
            "damaged": sum(|found| found.damaged),
            "missing": sum(Found::missing),
        },
        "topics": all.collect::<serde_json::Map<_, _>>(),
    })
}

fn table(topics: &BTreeMap<String, Found>) -> String {
    let heads = [
        "topic",
        "published",
        "recorded",
        "missing",
        "damaged",
        "in transport",
        "unexplained",
    ];
    let mut table = Table::new("", &heads);
    let known =
        |count: Option<u64>| count.map_or_else(|| "-".to_owned(), |count| count.to_string());
    for (name, found) in topics {
        table.row([
            name.clone(),
            known(found.published),
            found.whole.to_string(),
            found.missing().to_string(),
            found.damaged.to_string(),
            known(found.lost.map(|lost| lost.0)),
            found
                .unexplained()
                .map_or_else(|| "-".to_owned(), |count| count.to_string()),
        ]);
    }
    table.text()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payloads_of_every_length_are_recognised() {
        for content in [Content::ByteArray, Content::Image, Content::PointCloud2] {
            for size in [8, 9, 100, 1001] {
                let sent = Payload::new(content, "/load_1", size).unwrap();
                let mut message = sent.message(7);
                let found = payload(content, "/load_1", &message).unwrap();
                assert_eq!(number(&found, &message), Some(7), "{content:?} {size}");
                // As received over DDS.
                message.resize(message.len().next_multiple_of(4), 0);
                let found = payload(content, "/load_1", &message).unwrap();
                assert_eq!(number(&found, &message), Some(7), "{content:?} {size}");
                message.resize(message.len() + 4, 0);
                assert_eq!(number(&found, &message), None, "{content:?} {size}");
            }
        }
    }

    #[test]
    fn missing_messages_are_counted_up_to_the_published_number() {
        let mut found = Found::default();
        for number in [3, 4, 7] {
            found.add(Some(number));
        }
        assert_eq!((found.missing(), found.unexplained()), (2, None));
        found.published = Some(10);
        found.lost = Some((6, 1));
        assert_eq!((found.missing(), found.unexplained()), (7, Some(0)));
        assert!(!found.is_broken());
        found.add(Some(7));
        assert!(found.is_broken(), "{found:?}");
    }

    /// The recorder received 3 to 7 and counted the gap; messages before and after are unknown only if it says so.
    #[test]
    fn messages_at_the_edges_are_unknown_only_if_the_recorder_says_so() {
        let mut found = Found {
            published: Some(10),
            lost: Some((2, 0)),
            open: UnknownMessages {
                before_first: 3,
                open_publishers: 1,
                ..UnknownMessages::default()
            },
            ..Found::default()
        };
        for number in [3, 4, 7] {
            found.add(Some(number));
        }
        assert_eq!((found.unknown(), found.unexplained()), (5, Some(0)));
        found.lost = Some((1, 0));
        assert_eq!((found.unknown(), found.unexplained()), (0, Some(6)));
        found.lost = Some((2, 0));
        found.open.open_publishers = 0;
        assert_eq!((found.unknown(), found.unexplained()), (0, Some(5)));
        found.lost = Some((4, 0));
        assert_eq!((found.unknown(), found.unexplained()), (3, Some(0)));
        found.open.before_first = 2;
        assert_eq!((found.unknown(), found.unexplained()), (0, Some(3)));
    }
}
