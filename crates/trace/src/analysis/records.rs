//! Single links and flows, for tables and exports.

use serde::Serialize;

use super::evidence::Evidence;
use crate::moment::Moment;

/// The records that an engine keeps until they are taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RecordKind {
    /// None.
    #[default]
    None,
    /// One for each input of each message, and one for each message without inputs.
    Links,
    /// One for each target's message and path to it.
    Flows,
}

/// One input of a message, with the durations of the hop: the same numbers as in the statistics of the hop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LinkRecord {
    /// The engine's number of the message; `None` if the message was too late to be kept.
    #[serde(skip)]
    pub message: Option<u64>,
    /// The time of reception on the engine's time line.
    pub heard_ns: i64,
    /// The topic of the message.
    pub topic: String,
    /// The node that published it; empty if it is not known.
    pub node: String,
    /// The publisher's number of the message, if it has one.
    pub sequence: Option<i64>,
    /// The message's stamp.
    pub stamp_ns: Option<i64>,
    /// The time of its publication.
    pub published: Moment,
    /// The input; `None` for a message without inputs.
    pub input: Option<InputRecord>,
}

/// The input of a link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InputRecord {
    /// The engine's number of the input; `None` if it was not found.
    #[serde(skip)]
    pub message: Option<u64>,
    /// Its topic.
    pub topic: String,
    /// Its stamp.
    pub stamp_ns: Option<i64>,
    /// The start of its callback.
    pub received: Moment,
    /// The evidence of the link.
    pub evidence: Evidence,
    /// From publication to publication; `None` if the input was not found or the clocks are inconsistent.
    pub total_ns: Option<u64>,
    /// From publication to arrival; to the callback if the arrival is not known.
    pub transport_ns: Option<u64>,
    /// From arrival to callback, if both are known.
    pub queue_ns: Option<u64>,
    /// From callback to publication of the message.
    pub node_ns: Option<u64>,
}

/// One message of a target, and the source's message at the start of one path to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FlowRecord {
    /// The topics from source to target.
    pub topics: Vec<String>,
    /// The stamp of the source's message.
    pub source_stamp_ns: Option<i64>,
    /// The stamp of the target's message.
    pub target_stamp_ns: Option<i64>,
    /// The time of publication of the target's message.
    pub published: Moment,
    /// From the publication of the source's message to that of the target's.
    pub latency_ns: u64,
    /// Whether the target's message is the first that was made of the source's: these are the flows of
    /// [`PathReport::best`](super::PathReport::best).
    pub is_first: bool,
    /// Whether the latency counts from the first reception of the source, whose publication is not known.
    pub from_reception: bool,
}

/// The records that were not taken yet.
#[derive(Debug, Default)]
pub(super) struct Records {
    kind: RecordKind,
    links: Vec<LinkRecord>,
    flows: Vec<FlowRecord>,
}

impl Records {
    pub(super) fn new(kind: RecordKind) -> Self {
        Self {
            kind,
            ..Self::default()
        }
    }

    /// Keeps a link if links are requested.
    pub(super) fn link(&mut self, make: impl FnOnce() -> LinkRecord) {
        if self.kind == RecordKind::Links {
            self.links.push(make());
        }
    }

    /// Number of kept links.
    pub(super) fn links(&self) -> usize {
        self.links.len()
    }

    /// Sets the message of the links that were kept since there were `first`.
    pub(super) fn set_message(&mut self, first: usize, number: u64) {
        for link in self.links.iter_mut().skip(first) {
            link.message = Some(number);
        }
    }

    /// Keeps a flow if flows are requested.
    pub(super) fn flow(&mut self, make: impl FnOnce() -> FlowRecord) {
        if self.kind == RecordKind::Flows {
            self.flows.push(make());
        }
    }

    pub(super) fn wants_links(&self) -> bool {
        self.kind == RecordKind::Links
    }

    pub(super) fn take_links(&mut self) -> Vec<LinkRecord> {
        std::mem::take(&mut self.links)
    }

    pub(super) fn take_flows(&mut self) -> Vec<FlowRecord> {
        std::mem::take(&mut self.flows)
    }
}
