use std::collections::BTreeMap;
use std::sync::Arc;

use timeloom_msg::{Schema, StampProgram, TypeName};
use timeloom_time::sync::{Mutex, lock};
use timeloom_time::{Clock, Ros};
use timeloom_wire::{
    EndpointInfo, EndpointKind, Gid, Graph, Node, Receiver, Sample, Subscription, TopicSpec,
    adapt_to_offers,
};

/// A publisher with a larger lag uses another clock.
const ANOTHER_CLOCK: i64 = 3600 * 1_000_000_000;

/// Times of a clock at the arrival of messages minus the stamps of the messages, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ClockLag {
    /// Number of messages.
    pub messages: u64,
    /// The smallest lag.
    pub least: i64,
    /// The largest lag.
    pub most: i64,
    sum: f64,
}

impl ClockLag {
    /// Adds a message.
    pub fn add(&mut self, lag: i64) {
        let is_first = self.messages == 0;
        self.least = if is_first { lag } else { self.least.min(lag) };
        self.most = if is_first { lag } else { self.most.max(lag) };
        self.sum += lag as f64;
        self.messages += 1;
    }

    /// The average lag; 0 without messages.
    pub fn mean(&self) -> f64 {
        self.sum / self.messages.max(1) as f64
    }

    /// Whether the stamps are of another clock: more than an hour away.
    pub fn is_another_clock(&self) -> bool {
        self.least.saturating_abs().min(self.most.saturating_abs()) > ANOTHER_CLOCK
    }
}

/// Measures the lag of all publishers of stamped messages behind a clock, until dropped.
pub struct ClockLagMeter {
    lags: Lags,
    _subscriptions: Vec<Box<dyn Subscription>>,
}

type Lags = Arc<Mutex<BTreeMap<Gid, ClockLag>>>;

impl ClockLagMeter {
    /// Subscribes to every topic of the graph but `clock_topic` whose type `schema_of` knows and has a stamp.
    pub fn start(
        node: &dyn Node,
        graph: &Graph,
        (clock, clock_topic): (&Clock<Ros>, &str),
        schema_of: impl Fn(&EndpointInfo) -> Option<Schema>,
    ) -> Self {
        let mut topics: BTreeMap<(&str, &str), Vec<&EndpointInfo>> = BTreeMap::new();
        for info in graph.endpoints() {
            if info.kind == EndpointKind::Publisher && info.topic != clock_topic {
                let key = (info.topic.as_str(), info.type_name.as_str());
                topics.entry(key).or_default().push(info);
            }
        }
        let lags = Lags::default();
        let mut subscriptions = Vec::new();
        for ((topic, type_name), publishers) in topics {
            let Some(first) = publishers.first() else {
                continue;
            };
            let program = schema_of(first).as_ref().and_then(StampProgram::compile);
            let (Some(program), Ok(type_name)) = (program, TypeName::parse(type_name)) else {
                continue;
            };
            let offers: Vec<_> = publishers.iter().map(|info| info.qos).collect();
            let spec = TopicSpec {
                name: topic.to_owned(),
                type_name,
                type_hash: first.type_hash,
                qos: adapt_to_offers(&offers),
            };
            let stamps = StampReceiver {
                program,
                clock: clock.clone(),
                lags: Arc::clone(&lags),
            };
            subscriptions.extend(node.subscribe(&spec, Arc::new(stamps)));
        }
        Self {
            lags,
            _subscriptions: subscriptions,
        }
    }

    /// The lags so far, by publisher.
    pub fn lags(&self) -> BTreeMap<Gid, ClockLag> {
        lock(&self.lags).clone()
    }
}

impl std::fmt::Debug for ClockLagMeter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ClockLagMeter({:?})", self.lags())
    }
}

/// Reads the stamps of one topic.
struct StampReceiver {
    program: StampProgram,
    clock: Clock<Ros>,
    lags: Lags,
}

impl Receiver for StampReceiver {
    fn sample(&self, sample: Sample) {
        let Ok(stamp) = self.program.read(&sample.payload) else {
            return;
        };
        if self.clock.started() {
            let lag = self.clock.now().nanos().saturating_sub(stamp.nanos());
            lock(&self.lags).entry(sample.writer).or_default().add(lag);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lags_are_summarised_and_other_clocks_detected() {
        let mut lag = ClockLag::default();
        for nanos in [10, 30, 20] {
            lag.add(nanos);
        }
        assert_eq!((lag.messages, lag.least, lag.most), (3, 10, 30));
        assert!((lag.mean() - 20.0).abs() < 1e-9 && !lag.is_another_clock());
        let mut other = ClockLag::default();
        other.add(-1_700_000_000 * 1_000_000_000);
        assert!(other.is_another_clock());
    }
}
