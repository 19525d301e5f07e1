use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::tally::Tally;

/// What a recorder says of its recording.
#[derive(Debug, Default)]
pub(crate) struct Claims {
    /// Recorded, lost in transport, lost in the recorder, by topic.
    pub(crate) topics: BTreeMap<String, [u64; 3]>,
    /// "unknown: up to … before the first one seen".
    pub(crate) before: u64,
    /// "unknown: whether … publishers sent something after".
    pub(crate) open: u64,
    /// "… of which nothing came".
    pub(crate) silent: u64,
    /// Topics of which a type is said not to be recorded.
    pub(crate) left_out: BTreeSet<String>,
}

impl Claims {
    /// From the bag and from the words at the end.
    pub(crate) fn read(info: &Value, words: &str) -> Self {
        let mut claims = Self {
            before: after(words, "unknown: up to "),
            open: after(words, "unknown: whether "),
            silent: after(words, "unknown: what "),
            ..Self::default()
        };
        for topic in info["topics"].as_array().into_iter().flatten() {
            let statistics = &topic["statistics"];
            let number = |value: &Value| value.as_u64().unwrap_or(0);
            let causes = &statistics["lost_in_recorder"];
            let here = ["queue", "compression", "storage"].map(|cause| number(&causes[cause]));
            claims.topics.insert(
                topic["name"].as_str().unwrap_or_default().to_owned(),
                [
                    number(&statistics["messages_recorded"]),
                    number(&statistics["messages_lost_in_transport"]),
                    here.iter().sum(),
                ],
            );
        }
        for line in words.lines() {
            let topic = line.strip_prefix("warning: ").filter(|line| {
                line.contains("is also published as") && line.contains("not recorded")
            });
            let topic = topic.and_then(|line| line.split(' ').next());
            claims.left_out.extend(topic.map(str::to_owned));
        }
        claims
    }

    /// The law for all topics together, where only the sum of what was published is known.
    pub(crate) fn settle_all(&self, published: u64, there: u64, tally: &mut Tally) {
        let sum = |which: usize| {
            self.topics
                .values()
                .map(|counts| counts[which])
                .sum::<u64>()
        };
        let (recorded, transport, recorder) = (sum(0), sum(1), sum(2));
        tally.published += published;
        tally.recorded += recorded;
        tally.lost_in_transport += transport;
        tally.lost_in_recorder += recorder;
        tally.unexplained(recorded.abs_diff(there), || {
            format!("{recorded} are said to be recorded, {there} are there")
        });
        let known = recorded + transport + recorder;
        let rest = published.abs_diff(known);
        let said = published > known && (self.open > 0 || self.before >= rest);
        tally.unknown += if said { rest } else { 0 };
        tally.unexplained(if said { 0 } else { rest }, || {
            format!("published {published}, and {self:?}")
        });
    }

    /// The law for a recording of which nothing is left: what was published until then is lost, and what came after it
    /// may be, since the recorder has ended.
    pub(crate) fn all_lost(&self, until_then: u64, published: u64, tally: &mut Tally) {
        let sum = |which: usize| {
            self.topics
                .values()
                .map(|counts| counts[which])
                .sum::<u64>()
        };
        let (recorded, transport, recorder) = (sum(0), sum(1), sum(2));
        tally.published += published;
        tally.recorded += recorded;
        tally.lost_in_transport += transport;
        tally.lost_in_recorder += recorder;
        tally.unexplained(recorded, || {
            format!("{recorded} are said to be recorded: {self:?}")
        });
        let lost = transport + recorder;
        // Best effort ones that came before the recorder was there are said to be unknown.
        let short = until_then.saturating_sub(lost + self.before);
        tally.unexplained(short, || {
            format!("{until_then} were published before, and {self:?}")
        });
        tally.unexplained(lost.saturating_sub(published), || {
            format!("{published} were published, and {self:?}")
        });
        tally.unknown += published.saturating_sub(lost);
    }

    /// From the table that the recorder prints at its end, where there is no bag to ask.
    pub(crate) fn of_table(words: &str) -> Self {
        let mut claims = Self::read(&Value::Null, words);
        for line in words.lines().filter(|line| line.starts_with("  /")) {
            let cells: Vec<&str> = line.split_whitespace().collect();
            if let [topic, .., recorded, transport, recorder] = cells.as_slice() {
                let numbers = [*recorded, *transport, *recorder].map(number);
                claims.topics.insert((*topic).to_owned(), numbers);
            }
        }
        claims
    }
}

/// The number after these words; 0 without them.
fn after(words: &str, begin: &str) -> u64 {
    words
        .lines()
        .find_map(|line| line.trim().strip_prefix(begin))
        .map_or(0, |rest| number(rest.split(' ').next().unwrap_or_default()))
}

/// A number with or without commas.
pub(crate) fn number(text: &str) -> u64 {
    text.replace(',', "").parse().unwrap_or(0)
}
