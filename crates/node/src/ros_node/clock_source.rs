//! Time from `/clock`: a subscription of its own, straight into the hub on the thread that receives.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use timeloom_msg::cdr::{Encapsulation, Endian};
use timeloom_msg::{Definitions, QosProfile, TypeName};
use timeloom_time::{ClockSink, ClockWarning, Ros, SourceId, Time, TimeHub, WireTime};
use timeloom_wire::{
    EndpointKind, Gid, GraphEvent, GraphWatch, Node, Participant, Receiver, Sample, Subscription,
    TopicSpec,
};

use super::executor::JobQueue;
use super::rosout::{Logger, Severity};
use crate::Result;

/// The message of `/clock`.
const TYPE: &str = "rosgraph_msgs/msg/Clock";
/// How many publishers are remembered; more come only from a flood.
const MOST_OWNERS: usize = 64;

/// Listens to `/clock` while it is switched on.
pub(super) struct ClockSource {
    node: Arc<dyn Node>,
    participant: Arc<dyn Participant>,
    topic: String,
    hub: TimeHub,
    owners: Arc<Owners>,
    words: Words,
    running: Mutex<Option<Running>>,
}

/// The subscription, and who publishes.
struct Running {
    _subscription: Box<dyn Subscription>,
    _watch: GraphWatch,
}

/// The nodes that publish the clock, by what identifies their publishers.
#[derive(Default)]
struct Owners(Mutex<BTreeMap<Gid, String>>);

/// Says something from a receive thread: elsewhere.
#[derive(Clone)]
pub(super) struct Words {
    pub(super) jobs: JobQueue,
    pub(super) logger: Logger,
}

impl Words {
    fn say(&self, severity: Severity, text: &str) {
        let (logger, copy) = (self.logger.clone(), text.to_owned());
        if !self.jobs.submit(move || logger.log(severity, &copy)) {
            self.logger.report(severity, text);
        }
    }
}

impl ClockSource {
    pub(super) fn new(
        participant: Arc<dyn Participant>,
        node: Arc<dyn Node>,
        topic: String,
        hub: TimeHub,
        words: Words,
    ) -> Self {
        let owners = Arc::new(Owners::default());
        let (named, told) = (Arc::clone(&owners), words.clone());
        hub.set_reporter(move |warning| told.say(Severity::Warn, &named.words(warning)));
        Self {
            node,
            participant,
            topic,
            hub,
            owners,
            words,
            running: Mutex::default(),
        }
    }

    /// The topic, after remapping.
    pub(super) fn topic(&self) -> &str {
        &self.topic
    }

    /// Switches it on with that `QoS`, or off. When this returns, the clocks of the hub follow `/clock`, or the
    /// machine again.
    ///
    /// # Errors
    /// When the middleware refuses the subscription; then nothing has changed.
    pub(super) fn set(&self, on: Option<QosProfile>) -> Result<()> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if running.is_some() == on.is_some() {
            return Ok(());
        }
        let before = match on {
            Some(qos) => running.replace(self.start(qos)?),
            None => running.take(),
        };
        drop(running);
        drop(before);
        if on.is_some() {
            self.hub.activate();
        } else {
            self.hub.deactivate();
        }
        Ok(())
    }

    fn start(&self, qos: QosProfile) -> Result<Running> {
        let owners = Arc::clone(&self.owners);
        let topic = self.topic.clone();
        let watch = self
            .participant
            .watch_graph(Box::new(move |event| owners.note(event, &topic)));
        let spec = TopicSpec {
            name: self.topic.clone(),
            type_name: TypeName::parse(TYPE)?,
            type_hash: Definitions::builtin().schema(TYPE)?.type_hash().ok(),
            qos,
        };
        let receiver = ClockReceiver {
            hub: self.hub.clone(),
            publishers: Mutex::default(),
            owners: Arc::clone(&self.owners),
            words: self.words.clone(),
        };
        Ok(Running {
            _subscription: self.node.subscribe(&spec, Arc::new(receiver))?,
            _watch: watch,
        })
    }
}

impl Owners {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<Gid, String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, event: &GraphEvent, topic: &str) {
        match event {
            GraphEvent::EndpointChanged(info)
                if info.topic == topic && info.kind == EndpointKind::Publisher =>
            {
                let mut owners = self.lock();
                if let Some(node) = &info.node
                    && owners.len() < MOST_OWNERS
                {
                    owners.insert(info.gid, node.full());
                }
            }
            GraphEvent::EndpointRemoved(gid) => {
                self.lock().remove(gid);
            }
            _ => {}
        }
    }

    /// Who that is, for people: the node, or what identifies the publisher while its node is not known.
    fn name(&self, gid: &str) -> String {
        let owners = self.lock();
        let owner = owners.iter().find(|(known, _)| known.to_string() == gid);
        owner.map_or_else(|| gid.to_owned(), |(_, name)| name.clone())
    }

    /// A warning with the names of nodes in it: these may be known only after the first sample.
    fn words(&self, warning: &ClockWarning) -> String {
        match warning {
            ClockWarning::TwoSources { first, second } => ClockWarning::TwoSources {
                first: self.name(first),
                second: self.name(second),
            }
            .to_string(),
            ClockWarning::OutOfOrder {
                source,
                sequence,
                newest,
            } => ClockWarning::OutOfOrder {
                source: self.name(source),
                sequence: *sequence,
                newest: *newest,
            }
            .to_string(),
            other => other.to_string(),
        }
    }
}

struct ClockReceiver {
    hub: TimeHub,
    publishers: Mutex<BTreeMap<Gid, Known>>,
    owners: Arc<Owners>,
    words: Words,
}

/// A publisher that was heard.
struct Known {
    sink: ClockSink,
    /// Whether it was said that it sends what is no time.
    blamed: bool,
}

impl Receiver for ClockReceiver {
    fn sample(&self, sample: Sample) {
        let sink = self.with(sample.writer, |known| known.sink.clone());
        match (time_of(&sample.payload), sample.sequence) {
            (Some(time), Some(sequence)) => sink.tick_numbered(time, sequence),
            (Some(time), None) => sink.tick(time),
            (None, _) => self.blame(&sample),
        }
    }
}

impl ClockReceiver {
    fn with<T>(&self, writer: Gid, act: impl FnOnce(&mut Known) -> T) -> T {
        let publishers = self.publishers.lock();
        let mut publishers = publishers.unwrap_or_else(PoisonError::into_inner);
        if publishers.len() >= MOST_OWNERS && !publishers.contains_key(&writer) {
            publishers.clear();
        }
        let new = || Known {
            sink: self.hub.sink(SourceId::new(&writer.to_string(), writer.0)),
            blamed: false,
        };
        act(publishers.entry(writer).or_insert_with(new))
    }

    fn blame(&self, sample: &Sample) {
        if self.with(sample.writer, |known| {
            std::mem::replace(&mut known.blamed, true)
        }) {
            return;
        }
        let owner = self.owners.name(&sample.writer.to_string());
        let length = sample.payload.len();
        let text = format!(
            "{owner} sends {length} bytes as clock that are no time; such samples are ignored"
        );
        self.words.say(Severity::Warn, &text);
    }
}

/// The time of a serialised `rosgraph_msgs/msg/Clock`: two numbers after the header.
fn time_of(payload: &[u8]) -> Option<Time<Ros>> {
    let header = Encapsulation::parse(payload).ok()?;
    let number = |at: usize| -> Option<[u8; 4]> { payload.get(at..at + 4)?.try_into().ok() };
    let (sec, nanosec) = (number(4)?, number(8)?);
    let wire = match header.endian {
        Endian::Little => WireTime {
            sec: i32::from_le_bytes(sec),
            nanosec: u32::from_le_bytes(nanosec),
        },
        Endian::Big => WireTime {
            sec: i32::from_be_bytes(sec),
            nanosec: u32::from_be_bytes(nanosec),
        },
    };
    Some(wire.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fast_path_reads_what_the_schema_writes() {
        let schema = Definitions::builtin().schema(TYPE).unwrap();
        let mut value = schema.default_value().unwrap();
        value.set("clock.sec", -3).unwrap();
        value.set("clock.nanosec", 500_u32).unwrap();
        let payload = schema.encode(&value).unwrap();
        assert_eq!(time_of(&payload).unwrap().nanos(), -2_999_999_500);
        let big = [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2];
        assert_eq!(time_of(&big).unwrap().nanos(), 1_000_000_002);
        for short in 0..payload.len() {
            assert!(time_of(&payload[..short]).is_none(), "{short}");
        }
    }
}
