//! Asks the nodes of the robot for their parameters, and listens to their changes.

use std::sync::{Arc, Mutex, MutexGuard};

use timeloom_bag::RobotParameters;
use timeloom_msg::{Definitions, QosProfile, Schema, TypeName};
use timeloom_time::{BaseThread, CancelToken, Clock, Duration, Event, Steady, TimeBase};
use timeloom_wire::backend::lock;
use timeloom_wire::{GraphWatch, Node, Participant, Receiver, Sample, Subscription, TopicSpec};

use super::parameter_log::ParameterLog;
use super::shared_input::SharedInput;
use crate::{Error, RemoteParameters, Result};

/// Number of nodes that are queried at a time.
const THREADS: usize = 4;
/// Time limit for finding a service of a node, and again for its answer.
const PATIENCE: Duration = Duration::from_secs(3);
/// Interval of retries for nodes that did not answer.
const LOOK_AGAIN: Duration = Duration::from_secs(1);
const EVENT: &str = "rcl_interfaces/msg/ParameterEvent";

/// The parameters of the robot while a bag is recorded.
pub(super) struct ParameterWatch {
    core: Arc<Core>,
    remote: RemoteParameters,
    graph: Option<GraphWatch>,
    events: Option<Box<dyn Subscription>>,
    threads: Vec<BaseThread<()>>,
}

struct Core {
    log: Arc<Mutex<ParameterLog>>,
    input: Arc<SharedInput>,
    clock: Clock<Steady>,
    /// There is a question, or the end.
    wake: Event,
    ending: CancelToken,
    event: Schema,
}

impl Core {
    fn log(&self) -> MutexGuard<'_, ParameterLog> {
        lock(&self.log)
    }

    /// Asks nodes until the end.
    fn work(&self, remote: &RemoteParameters) {
        loop {
            let (question, more, retries) = {
                let mut log = self.log();
                let question = log.next_question(self.clock.now().nanos());
                (question, log.has_questions(), log.has_retries())
            };
            if more {
                self.wake.set();
            }
            if let Some(node) = question {
                let answer = remote.read(&node).map_err(|error| error.to_string());
                if self.ending.is_cancelled() {
                    return;
                }
                let times = (self.input.now_ns(), self.clock.now().nanos());
                self.log().answered(&node, answer, times);
                continue;
            }
            if retries {
                self.wake.wait_for(LOOK_AGAIN);
            } else {
                self.wake.wait();
            }
            self.wake.clear();
            if self.ending.is_cancelled() {
                // For the next thread.
                self.wake.set();
                return;
            }
        }
    }
}

impl Receiver for Core {
    fn sample(&self, sample: Sample) {
        let Ok(message) = self.event.decode(&sample.payload) else {
            return;
        };
        let writer = (sample.writer, sample.sequence);
        if self.log().event(&message, writer, self.input.now_ns()) {
            self.wake.set();
        }
    }
}

impl ParameterWatch {
    /// Begins to ask and to listen, as that node; the log has what was heard.
    ///
    /// # Errors
    /// When the middleware refuses the subscription, or a thread cannot be started.
    pub(super) fn start(
        participant: &Arc<dyn Participant>,
        node: &Arc<dyn Node>,
        (input, log): (&Arc<SharedInput>, &Arc<Mutex<ParameterLog>>),
        ending: &CancelToken,
    ) -> Result<Self> {
        let base = participant.time_base();
        let event = Definitions::builtin().schema(EVENT)?;
        let spec = TopicSpec {
            name: "/parameter_events".into(),
            type_name: TypeName::parse(EVENT)?,
            type_hash: event.type_hash().ok(),
            qos: QosProfile::PARAMETERS,
        };
        let core = Arc::new(Core {
            log: Arc::clone(log),
            input: Arc::clone(input),
            clock: Clock::on(&base),
            wake: Event::new(&base),
            ending: ending.clone(),
            event,
        });
        // Before the first question: a change after the answer is heard.
        let events = node.subscribe(&spec, Arc::clone(&core) as _)?;
        let inside = Arc::clone(&core);
        let graph = participant.watch_graph(Box::new(move |event| {
            let now = inside.input.now_ns();
            if inside.log().apply(event, now) {
                inside.wake.set();
            }
        }));
        let mut watch = Self {
            core,
            remote: RemoteParameters::new(Arc::clone(node), &base, PATIENCE),
            graph: Some(graph),
            events: Some(events),
            threads: Vec::new(),
        };
        for _ in 0..THREADS {
            let started = watch.spawn(&base);
            if let Err(error) = started {
                watch.core.ending.cancel();
                watch.finish();
                return Err(error);
            }
        }
        Ok(watch)
    }

    fn spawn(&mut self, base: &TimeBase) -> Result<()> {
        let (core, remote) = (Arc::clone(&self.core), self.remote.clone());
        let thread = base.spawn("recorder-parameters", move || core.work(&remote));
        let thread = thread.map_err(|source| Error::Io {
            action: "start a thread",
            source,
        })?;
        self.threads.push(thread);
        Ok(())
    }

    /// Ends the questions; the recording is ending. Does not wait for nodes that do not answer.
    pub(super) fn finish(&mut self) {
        self.graph = None;
        self.events = None;
        self.remote.stop();
        self.core.wake.set();
        for thread in self.threads.drain(..) {
            // After a panic, only the parameters of one node are missing.
            let _panicked = thread.join();
        }
    }
}

/// Changes since the last call.
pub(super) fn take_changed(
    log: &Mutex<ParameterLog>,
    log_time_ns: i64,
    at_end: bool,
) -> RobotParameters {
    lock(log).take_changed(log_time_ns, at_end)
}
