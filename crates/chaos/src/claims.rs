use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::Failure;
use crate::tally::Tally;

/// The account of a recording by topic, read from JSON.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Claims {
    pub(crate) topics: BTreeMap<String, Counts>,
    /// The recorder was killed: topics may be missing as well.
    pub(crate) interrupted: bool,
}

/// The account of one topic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) recorded: u64,
    pub(crate) lost_in_transport: u64,
    pub(crate) lost_in_recorder: u64,
    pub(crate) left_out: u64,
    /// Upper bound for unknown messages before the first received one.
    pub(crate) before: u64,
    /// Publishers whose last sequence number is unknown.
    pub(crate) open: u64,
    /// The recorder was killed: messages after its last saved account are unknown.
    pub(crate) interrupted: bool,
}

impl Counts {
    fn read(statistics: &Value) -> Self {
        let number = |value: &Value| value.as_u64().unwrap_or(0);
        let sum = |value: &Value| -> u64 {
            let causes = value.as_object().into_iter().flatten();
            causes.map(|(_, count)| number(count)).sum()
        };
        let unknown = &statistics["unknown"];
        Self {
            recorded: number(&statistics["messages_recorded"]),
            lost_in_transport: number(&statistics["messages_lost_in_transport"]),
            lost_in_recorder: sum(&statistics["lost_in_recorder"]),
            left_out: sum(&statistics["left_out"]),
            before: number(&unknown["before_first"]),
            open: number(&unknown["open_publishers"]),
            interrupted: unknown["interrupted"] == true,
        }
    }

    pub(crate) fn lost(&self) -> u64 {
        self.lost_in_transport + self.lost_in_recorder
    }

    /// Lost and left out.
    pub(crate) fn missing(&self) -> u64 {
        self.lost() + self.left_out
    }

    fn add(&mut self, other: &Self) {
        self.recorded += other.recorded;
        self.lost_in_transport += other.lost_in_transport;
        self.lost_in_recorder += other.lost_in_recorder;
        self.left_out += other.left_out;
        self.before += other.before;
        self.open += other.open;
        self.interrupted |= other.interrupted;
    }
}

impl Claims {
    /// From the output of `info -v --format json`, or from the last line of `record --format json`.
    pub(crate) fn read(account: &Value) -> Self {
        let topics = account["topics"].as_array().into_iter().flatten();
        let topics = topics.map(|topic| {
            let name = topic["name"].as_str().unwrap_or_default().to_owned();
            (name, Counts::read(&topic["statistics"]))
        });
        Self {
            topics: topics.collect(),
            interrupted: account["interrupted"] == true,
        }
    }

    /// From the last line that a recorder printed.
    pub(crate) fn printed(stdout: &Path) -> Result<Self, Failure> {
        let text = fs::read_to_string(stdout)?;
        let line = text.lines().last().unwrap_or_default();
        let account: Value = serde_json::from_str(line)
            .map_err(|error| format!("the recorder printed no account: {error}: {text}"))?;
        Ok(Self::read(&account))
    }

    /// All topics together.
    pub(crate) fn total(&self) -> Counts {
        let mut total = Counts::default();
        for counts in self.topics.values() {
            total.add(counts);
        }
        total
    }

    /// The law for the sum over all topics, where only the total of published messages is known.
    pub(crate) fn settle_all(&self, published: u64, there: u64, tally: &mut Tally) {
        let total = self.total();
        tally.count(published, &total);
        tally.unexplained(total.recorded.abs_diff(there), || {
            format!(
                "{} are said to be recorded, {there} are there",
                total.recorded
            )
        });
        let known = total.recorded + total.missing();
        let rest = published.abs_diff(known);
        let said = published > known && (total.open > 0 || total.before >= rest);
        tally.unknown += if said { rest } else { 0 };
        tally.unexplained(if said { 0 } else { rest }, || {
            format!("published {published}, and {self:?}")
        });
    }

    /// The law for a recording whose bag was deleted: messages published until then are lost, and later ones may be,
    /// since the recorder has ended.
    pub(crate) fn all_lost(&self, until_then: u64, published: u64, tally: &mut Tally) {
        let total = self.total();
        tally.count(published, &total);
        tally.unexplained(total.recorded, || {
            format!("{} are said to be recorded: {self:?}", total.recorded)
        });
        let missing = total.missing();
        // Best-effort messages from before the recorder started count as unknown.
        let short = until_then.saturating_sub(missing + total.before);
        tally.unexplained(short, || {
            format!("{until_then} were published before, and {self:?}")
        });
        tally.unexplained(missing.saturating_sub(published), || {
            format!("{published} were published, and {self:?}")
        });
        tally.unknown += published.saturating_sub(missing);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn all_counts_of_the_account_are_read() {
        let account = json!({"topics": [{"name": "/a", "statistics": {
            "messages_recorded": 1, "messages_lost_in_transport": 2,
            "lost_in_recorder": {"queue": 3, "compression": 4, "storage": 5, "backpressure": 6},
            "left_out": {"paused": 7, "throttled": 8, "overwritten": 9, "deleted": 10, "type_conflict": 11},
            "unknown": {"before_first": 12, "open_publishers": 13, "unplaced": 0, "interrupted": true},
        }}]});
        let counts = Counts {
            recorded: 1,
            lost_in_transport: 2,
            lost_in_recorder: 18,
            left_out: 45,
            before: 12,
            open: 13,
            interrupted: true,
        };
        assert_eq!(Claims::read(&account).topics["/a"], counts);
    }
}
