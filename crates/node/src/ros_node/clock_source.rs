//! Simulated time of a node: from `/clock`, by a subscription of its own, straight into the hub on the thread that
//! receives; or from a source that replaces it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use timeloom_msg::cdr::{Encapsulation, Endian};
use timeloom_msg::{Definitions, QosProfile, TypeName};
use timeloom_time::{
    Clock, ClockSink, ClockWarning, Ros, SourceId, Time, TimeHub, TimeSource, WireTime,
};
use timeloom_wire::{
    EndpointKind, Gid, GraphEvent, GraphWatch, Node, Participant, Receiver, Sample, Subscription,
    TopicSpec,
};

use super::executor::JobQueue;
use super::rosout::{Logger, Severity};
use super::time_source_choice::{SIM_TIME_SOURCE, TimeSourceChoice};
use crate::{Error, Result};

/// The message of `/clock`.
const TYPE: &str = "rosgraph_msgs/msg/Clock";
/// How many publishers are remembered; more come only from a flood.
const MOST_OWNERS: usize = 64;

/// Brings simulated time while it is switched on.
pub(super) struct ClockSource {
    node: Arc<dyn Node>,
    participant: Arc<dyn Participant>,
    topic: String,
    hub: TimeHub,
    clock: Clock<Ros>,
    owners: Arc<Owners>,
    words: Words,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The `QoS` of `/clock`, while switched on.
    on: Option<QosProfile>,
    choice: TimeSourceChoice,
    /// Whether the node was given a source of its own, which runs on its hub.
    own: bool,
    running: Option<Running>,
}

/// Where time comes from at the moment.
enum Running {
    /// The subscription, and who publishes.
    Topic {
        _subscription: Box<dyn Subscription>,
        _watch: GraphWatch,
    },
    Process,
    Own,
}

/// The same, before it is made.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Topic(QosProfile),
    Process,
    Own,
}

impl Running {
    fn is(&self, wanted: Wanted) -> bool {
        matches!(
            (self, wanted),
            (Self::Topic { .. }, Wanted::Topic(_))
                | (Self::Process, Wanted::Process)
                | (Self::Own, Wanted::Own)
        )
    }
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
        let clock = hub.clock();
        let (named, told) = (Arc::clone(&owners), words.clone());
        hub.set_reporter(move |warning| told.say(Severity::Warn, &named.words(warning)));
        Self {
            node,
            participant,
            topic,
            hub,
            clock,
            owners,
            words,
            state: Mutex::default(),
        }
    }

    /// The node's clock.
    pub(super) fn clock(&self) -> &Clock<Ros> {
        &self.clock
    }

    /// What `/clock` and a source of the node's own feed.
    pub(super) fn hub(&self) -> &TimeHub {
        &self.hub
    }

    /// The topic, after remapping.
    pub(super) fn topic(&self) -> &str {
        &self.topic
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Switches it on with that `QoS` of `/clock`, or off. When this returns, the clock follows its source, or the
    /// machine again.
    ///
    /// # Errors
    /// When the middleware refuses the subscription, or the process's source cannot be used; then nothing has changed.
    pub(super) fn set(&self, on: Option<QosProfile>, choice: TimeSourceChoice) -> Result<()> {
        let own = self.state().own;
        self.change(on, choice, own)
    }

    /// Replaces `/clock` by a source of the node's own; none for `/clock` again.
    ///
    /// # Errors
    /// What the source says when it cannot start; then there is none.
    pub(super) fn set_own(&self, source: Option<Box<dyn TimeSource>>) -> Result<()> {
        let started = match source {
            Some(source) => self.hub.set_source(source).map(|()| true),
            None => Ok(false),
        };
        let own = matches!(started, Ok(true));
        let (on, choice) = {
            let state = self.state();
            (state.on, state.choice)
        };
        self.change(on, choice, own)?;
        if !own {
            self.hub.remove_source();
        }
        let action = "start the time source";
        started
            .map(drop)
            .map_err(|source| Error::Io { action, source })
    }

    fn wanted(
        &self,
        on: Option<QosProfile>,
        choice: TimeSourceChoice,
        own: bool,
    ) -> Result<Option<Wanted>> {
        let Some(qos) = on else {
            return Ok(None);
        };
        let is_virtual = self.clock.base().is_virtual();
        Ok(Some(match choice {
            _ if own => Wanted::Own,
            TimeSourceChoice::Topic => Wanted::Topic(qos),
            TimeSourceChoice::Default if is_virtual || !TimeHub::process().has_source() => {
                Wanted::Topic(qos)
            }
            TimeSourceChoice::Process if is_virtual => {
                return Err(Error::Parameter {
                    name: SIM_TIME_SOURCE.to_owned(),
                    reason:
                        "the process's source is on the machine's time, this node on virtual time"
                            .to_owned(),
                });
            }
            TimeSourceChoice::Default | TimeSourceChoice::Process => Wanted::Process,
        }))
    }

    /// Makes time come from elsewhere; nothing has changed after an error.
    fn change(&self, on: Option<QosProfile>, choice: TimeSourceChoice, own: bool) -> Result<()> {
        let wanted = self.wanted(on, choice, own)?;
        let mut state = self.state();
        let same = match (&state.running, wanted) {
            (Some(running), Some(wanted)) => running.is(wanted),
            (None, None) => true,
            _ => false,
        };
        let next = match wanted.filter(|_| !same) {
            Some(Wanted::Topic(qos)) => Some(self.subscribe(qos)?),
            Some(Wanted::Process) => Some(Running::Process),
            Some(Wanted::Own) => Some(Running::Own),
            None => None,
        };
        (state.on, state.choice, state.own) = (on, choice, own);
        if same {
            return Ok(());
        }
        let before = std::mem::replace(&mut state.running, next);
        // With no lock held: jump handlers may set parameters.
        drop(state);
        self.steer(wanted, matches!(before, Some(Running::Process)));
        Ok(())
    }

    fn steer(&self, wanted: Option<Wanted>, leaves_process: bool) {
        match wanted {
            Some(Wanted::Process) => {
                TimeHub::process().attach(&self.clock);
                TimeHub::process().activate();
            }
            Some(Wanted::Topic(_) | Wanted::Own) => self.hub.activate(),
            None => self.hub.deactivate(),
        }
        // Only then: its owner may have attached the clock to a hub of its own.
        if leaves_process {
            self.hub.attach(&self.clock);
        }
    }

    fn subscribe(&self, qos: QosProfile) -> Result<Running> {
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
        Ok(Running::Topic {
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
            // Not awaited: a jump handler of a user must not hold up reception.
            (Some(time), Some(sequence)) => sink.post_numbered(time, sequence),
            (Some(time), None) => sink.post(time),
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
