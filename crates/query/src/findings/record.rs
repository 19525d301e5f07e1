//! What a worker found, on its way to the process that asked.

use serde::{Deserialize, Serialize};

use super::{Findings, Undecoded};

/// What was found while messages were read; damage that was known when the bags were opened is not in it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FindingsRecord {
    unread: Vec<String>,
    undecoded: Vec<UndecodedRecord>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct UndecodedRecord {
    bag: String,
    topic: String,
    from_ns: Option<i64>,
    count: u64,
    reason: String,
}

impl FindingsRecord {
    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Findings {
    /// What was found so far.
    pub(crate) fn record(&self) -> FindingsRecord {
        let state = self.lock();
        let undecoded = state.undecoded.iter();
        FindingsRecord {
            unread: state.unread.iter().cloned().collect(),
            undecoded: undecoded
                .map(|(key, (count, reason))| UndecodedRecord {
                    bag: key.bag.clone(),
                    topic: key.topic.clone(),
                    from_ns: key.from_ns,
                    count: *count,
                    reason: reason.clone(),
                })
                .collect(),
        }
    }

    /// Adds what a worker found.
    pub(crate) fn add_record(&self, record: FindingsRecord) {
        for text in record.unread {
            self.add_unread(text);
        }
        for it in record.undecoded {
            let key = Undecoded {
                bag: it.bag,
                topic: it.topic,
                from_ns: it.from_ns,
            };
            self.add_undecoded(key, it.count, &it.reason);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_of_workers_add_up_and_repeated_ones_count_once() {
        let worker = |from_ns, count| {
            let findings = Findings::default();
            let key = Undecoded {
                bag: "a".into(),
                topic: "/t".into(),
                from_ns,
            };
            findings.add_undecoded(key, count, "short");
            findings.add_unread("a: cut".into());
            findings.record()
        };
        let asker = Findings::default();
        for record in [worker(None, 3), worker(Some(9), 2), worker(None, 3)] {
            asker.add_record(record);
        }
        assert_eq!(asker.damage(), ["a: cut"]);
        let sums = asker.undecoded();
        assert_eq!(sums, [("a".into(), "/t".into(), 5, "short".into())]);
    }
}
