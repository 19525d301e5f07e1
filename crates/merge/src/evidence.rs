//! The evidence of a relation between the clocks of two hosts.

use serde::Serialize;

/// One piece of evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Evidence {
    /// Messages went between the hosts.
    Messages {
        /// Number of messages to the other host.
        to: u64,
        /// Number of messages from the other host.
        from: u64,
        /// Their topics.
        topics: Vec<String>,
    },
    /// Both hosts recorded the same messages, whose publisher's host is not known.
    Copies {
        /// Stretches of ten seconds with copies.
        stretches: usize,
    },
    /// Both clocks followed a reference while the bags were recorded.
    Synchronised {
        /// The program that kept them synchronised.
        source: String,
        /// By how much both differ at most, in nanoseconds.
        error_ns: i64,
    },
}

impl Evidence {
    /// A few words.
    pub fn words(&self) -> String {
        match self {
            Self::Messages { to, from, topics } => {
                let ways = match (to, from) {
                    (0, from) => format!("messages one way ({from} from it)"),
                    (to, 0) => format!("messages one way ({to} to it)"),
                    (to, from) => format!("messages both ways ({to} to it, {from} from it)"),
                };
                format!("{ways}: {}", topics.join(", "))
            }
            Self::Copies { .. } => "messages that both recorded, from an unknown host".to_owned(),
            Self::Synchronised { source, error_ns } => {
                let error = timeloom_text::duration(*error_ns);
                format!("both synchronised by {source}, within {error}")
            }
        }
    }
}
