//! Simulated time of a node: from its own subscription of `/clock`, whose samples reach the hub on the receive thread,
//! or from a source that replaces it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use timeloom_msg::{Definitions, QosProfile, TypeName};
use timeloom_time::{Clock, ClockSink, ClockWarning, Ros, SourceId, TimeHub, TimeSource};
use timeloom_wire::backend::lock;
use timeloom_wire::{
    EndpointKind, Gid, GraphEvent, GraphWatch, Node, Participant, Receiver, Sample, Subscription,
    TopicSpec,
};

use super::executor::JobQueue;
use super::rosout::{Logger, Severity};
use super::time_source_choice::{SIM_TIME_SOURCE, TimeSourceChoice};
use crate::player::decode_clock;
use crate::{Error, Result};

/// The message of `/clock`.
const TYPE: &str = "rosgraph_msgs/msg/Clock";
/// Number of remembered publishers; only a flood has more.
const MOST_OWNERS: usize = 64;

/// Provides simulated time while it is switched on.
pub(super) struct ClockSource {
    node: Arc<dyn Node>,
    participant: Arc<dyn Participant>,
    topic: String,
    hub: TimeHub,
    clock: Clock<Ros>,
    owners: Arc<Owners>,
    logger: DeferredLogger,
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

/// The current source of time.
enum Running {
    /// The subscription of `/clock`, and the watch of its publishers.
    Topic {
        _subscription: Box<dyn Subscription>,
        _watch: GraphWatch,
    },
    Process,
    Own,
}

/// The wanted source of time.
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

/// The nodes that publish the clock, by the GID of their publishers.
#[derive(Default)]
struct Owners(Mutex<BTreeMap<Gid, String>>);

/// Logs from a receive thread, on another thread: a publisher of `/rosout` may block.
#[derive(Clone)]
pub(super) struct DeferredLogger {
    pub(super) jobs: JobQueue,
    pub(super) logger: Logger,
}

impl DeferredLogger {
    fn log(&self, severity: Severity, text: &str) {
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
        logger: DeferredLogger,
    ) -> Self {
        let owners = Arc::new(Owners::default());
        let clock = hub.clock();
        let (named, log) = (Arc::clone(&owners), logger.clone());
        hub.set_reporter(move |warning| log.log(Severity::Warn, &named.describe(warning)));
        Self {
            node,
            participant,
            topic,
            hub,
            clock,
            owners,
            logger,
            state: Mutex::default(),
        }
    }

    /// The node's clock.
    pub(super) fn clock(&self) -> &Clock<Ros> {
        &self.clock
    }

    /// The hub that `/clock` or the node's own source feeds.
    pub(super) fn hub(&self) -> &TimeHub {
        &self.hub
    }

    /// The topic, after remapping.
    pub(super) fn topic(&self) -> &str {
        &self.topic
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
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

    /// Replaces `/clock` by a source of the node's own; `None` for `/clock` again.
    ///
    /// # Errors
    /// The error of the source if it cannot start; there is no source then.
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

    /// Changes the source of time; after an error nothing has changed.
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
        self.activate(wanted, matches!(before, Some(Running::Process)));
        Ok(())
    }

    fn activate(&self, wanted: Option<Wanted>, leaves_process: bool) {
        match wanted {
            Some(Wanted::Process) => {
                TimeHub::process().attach(&self.clock);
                TimeHub::process().activate();
            }
            Some(Wanted::Topic(_) | Wanted::Own) => self.hub.activate(),
            None => self.hub.deactivate(),
        }
        // Only then: its owner may have attached the clock to another hub.
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
            logger: self.logger.clone(),
        };
        Ok(Running::Topic {
            _subscription: self.node.subscribe(&spec, Arc::new(receiver))?,
            _watch: watch,
        })
    }
}

impl Owners {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<Gid, String>> {
        lock(&self.0)
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

    /// The node of a publisher, or its GID while the node is not known.
    fn name(&self, gid: &str) -> String {
        let owners = self.lock();
        let owner = owners.iter().find(|(known, _)| known.to_string() == gid);
        owner.map_or_else(|| gid.to_owned(), |(_, name)| name.clone())
    }

    /// The text of a warning, with the names of nodes.
    fn describe(&self, warning: &ClockWarning) -> String {
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
    logger: DeferredLogger,
}

/// A publisher that was received.
struct Known {
    sink: ClockSink,
    /// Whether a malformed sample was reported.
    reported: bool,
}

impl Receiver for ClockReceiver {
    fn sample(&self, sample: Sample) {
        let sink = self.with(sample.writer, |known| known.sink.clone());
        match (decode_clock(&sample.payload), sample.sequence) {
            // Not awaited: a jump handler of a user must not block reception.
            (Some(time), Some(sequence)) => sink.post_numbered(time, sequence),
            (Some(time), None) => sink.post(time),
            (None, _) => self.report_malformed(&sample),
        }
    }
}

impl ClockReceiver {
    fn with<T>(&self, writer: Gid, act: impl FnOnce(&mut Known) -> T) -> T {
        let mut publishers = lock(&self.publishers);
        if publishers.len() >= MOST_OWNERS && !publishers.contains_key(&writer) {
            publishers.clear();
        }
        let new = || Known {
            sink: self.hub.sink(SourceId::new(&writer.to_string(), writer.0)),
            reported: false,
        };
        act(publishers.entry(writer).or_insert_with(new))
    }

    fn report_malformed(&self, sample: &Sample) {
        if self.with(sample.writer, |known| {
            std::mem::replace(&mut known.reported, true)
        }) {
            return;
        }
        let owner = self.owners.name(&sample.writer.to_string());
        let length = sample.payload.len();
        let text = format!(
            "malformed /clock sample of {length} bytes from {owner}; such samples are ignored"
        );
        self.logger.log(Severity::Warn, &text);
    }
}
