use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use timeloom_bag::bag::FinishedBag;
use timeloom_bag::{BagWriter, WriteOutcome};
use timeloom_time::{BaseThread, CancelToken, Clock, Event};
use timeloom_wire::backend::lock;
use timeloom_wire::{GraphWatch, Node, Participant};

use super::command::{Command, Commands, Reply};
use super::discovery::Discovery;
use super::end_reason::EndReason;
use super::graph_index::GraphIndex;
use super::graph_log::GraphLog;
use super::host_clock;
use super::moment::{Moment, Trigger};
use super::options::{Options, RecordedState};
use super::parameter_log::ParameterLog;
use super::parameter_watch::ParameterWatch;
use super::report::Report;
use super::shared::{Progress, Shared};
use super::shared_input::SharedInput;
use super::status::{Phase, Status, TopicStatus};
use super::topic_input::TopicInputs;
use super::trigger_gate::Exits;
use super::writer::Writer;
use crate::{Error, Result};

/// The recording of one bag, from its first to its last message.
pub(super) struct BagRecording {
    pub(super) shared: Arc<Shared>,
    /// Taken by the caller that ends it.
    threads: Mutex<Option<Threads>>,
}

struct Threads {
    discovery: BaseThread<()>,
    writer: BaseThread<Result<(FinishedBag, WriteOutcome)>>,
    watch: GraphWatch,
    host_clock: Option<BaseThread<()>>,
    parameters: Option<ParameterWatch>,
}

impl BagRecording {
    pub(super) fn start(
        participant: &Arc<dyn Participant>,
        node: &Arc<dyn Node>,
        options: &Options,
        directory: PathBuf,
        news: &Event,
    ) -> Result<Self> {
        let bag = BagWriter::create(&directory, (options.bag)())?;
        let base = participant.time_base();
        let clock = Clock::on(&base);
        let shared = Arc::new(Shared {
            directory,
            started: clock.now(),
            clock,
            node: Arc::clone(node),
            has_sequences: participant.capabilities().sequence_numbers,
            input: Arc::new(SharedInput::new(&base, options)),
            inputs: Arc::new(TopicInputs::default()),
            commands: Commands::default(),
            index: Mutex::new(GraphIndex::new(options.names.clone())),
            graph_log: Mutex::new(GraphLog::new(node.name().clone(), options.names.clone())),
            parameter_log: Arc::new(Mutex::new(ParameterLog::new(node.name().full()))),
            graph_changed: Event::new(&base),
            discovering: AtomicBool::new(true),
            ending: CancelToken::new(),
            progress: Mutex::new(Progress::default()),
            news: news.clone(),
            options: options.clone(),
            base: base.clone(),
        });
        let writer = Writer::new(Arc::clone(&shared), bag);
        let started = |source| Error::Io {
            action: "start a thread",
            source,
        };
        let writer = base
            .spawn("recorder-writer", move || writer.run())
            .map_err(started)?;
        let inside = Arc::clone(&shared);
        let watch = participant.watch_graph(Box::new(move |event| {
            if inside.options.state != RecordedState::Nothing {
                inside.graph_log().apply(event, inside.node_time_ns());
            }
            if inside.index().apply(event) {
                inside.graph_changed.set();
            }
        }));
        let discovery = Discovery::new(Arc::clone(&shared));
        let discovery = base
            .spawn("recorder-graph", move || discovery.run())
            .map_err(started)?;
        let host_clock = options.host_clock.clone().map(|source| {
            let inside = Arc::clone(&shared);
            base.spawn("recorder-host-clock", move || {
                host_clock::run(&inside, &*source);
            })
        });
        let parameters = (options.state == RecordedState::GraphAndParameters).then(|| {
            let log = (&shared.input, &shared.parameter_log);
            ParameterWatch::start(participant, node, log, &shared.ending)
        });
        let threads = Threads {
            discovery,
            writer,
            watch,
            parameters: parameters.transpose()?,
            host_clock: host_clock.transpose().map_err(started)?,
        };
        Ok(Self {
            shared,
            threads: Mutex::new(Some(threads)),
        })
    }

    pub(super) fn set_paused(&self, paused: bool) {
        self.shared.input.set_paused(paused, None);
    }

    /// Ends the pause at that moment.
    pub(super) fn resume_at(&self, moment: &Moment) -> Result<()> {
        let trigger = self.trigger(moment)?;
        if self.is_paused() && !trigger.is_reached_at(self.shared.node_time_ns()) {
            self.shared.input.set_paused(true, Some(trigger));
        } else {
            self.set_paused(false);
        }
        Ok(())
    }

    /// Starts a new file at that moment.
    pub(super) fn split_at(&self, moment: &Moment) -> Result<()> {
        let trigger = self.trigger(moment)?;
        if trigger.is_reached_at(self.shared.node_time_ns()) {
            return self.split().map(drop);
        }
        self.shared.command(Command::SplitAt(trigger));
        Ok(())
    }

    fn trigger(&self, moment: &Moment) -> Result<Trigger> {
        let topic = moment.topic.as_ref().map(|name| {
            let inputs = self.shared.inputs.all();
            let mut inputs = inputs.iter();
            let known = inputs.find(|input| input.name == *name);
            known
                .map(|input| input.topic())
                .ok_or_else(|| Error::UnknownTopic {
                    topic: name.clone(),
                })
        });
        Ok(Trigger {
            time_ns: moment.time_ns,
            stamp: moment.stamp,
            topic: topic.transpose()?,
        })
    }

    pub(super) fn is_paused(&self) -> bool {
        self.shared.input.is_paused()
    }

    pub(super) fn split(&self) -> Result<PathBuf> {
        let (give, wait) = Reply::pair(&self.shared.base);
        self.shared.command(Command::Split(give));
        wait.wait().unwrap_or(Err(Error::NotRecording))
    }

    /// Fires a trigger by its name.
    pub(super) fn fire(&self, trigger: &str) -> Result<()> {
        let shared = &self.shared;
        let wrong = |reason| Error::Option {
            option: "trigger",
            reason,
        };
        let mut gate = shared.input.gate();
        let gate = gate.as_mut();
        let gate = gate.ok_or_else(|| wrong("the recorder has no triggers".to_owned()))?;
        let exits = Exits::new(&shared.input.queue, &shared.inputs);
        gate.fire(trigger, shared.node_time_ns(), &exits)
            .map_err(wrong)
    }

    pub(super) fn snapshot(&self) -> Result<u64> {
        if let Some(mut gate) = self.shared.input.gate() {
            let exits = Exits::new(&self.shared.input.queue, &self.shared.inputs);
            gate.snapshot(self.shared.node_time_ns(), &exits);
            return Ok(0);
        }
        let (give, wait) = Reply::pair(&self.shared.base);
        self.shared.command(Command::Snapshot(give));
        wait.wait().unwrap_or(Err(Error::NotRecording))
    }

    pub(super) fn set_discovering(&self, on: bool) {
        self.shared.discovering.store(on, Ordering::Release);
        self.shared.index().look_at_all();
        self.shared.graph_changed.set();
    }

    /// The current status; never waits for a file.
    pub(super) fn status(&self) -> Status {
        let shared = &self.shared;
        let progress = shared.progress();
        let topics = shared.inputs.all();
        let topics = topics.iter().enumerate().map(|(index, input)| {
            let written = progress.topics.get(index).copied().unwrap_or_default();
            let counts = input.counts();
            let statistics = counts.complete(&written.statistics);
            TopicStatus {
                name: input.name.clone(),
                type_name: input.type_name.clone(),
                in_flight: counts.in_flight(&statistics, written.repeated),
                statistics,
                repeated: written.repeated,
            }
        });
        Status {
            phase: if self.is_paused() {
                Phase::Paused
            } else {
                Phase::Recording
            },
            directory: shared.directory.clone(),
            files: progress.files.max(1),
            elapsed: shared.clock.now() - shared.started,
            queue_bytes: shared.input.queue.used(),
            queue_limit: shared.options.max_cache_bytes,
            host_clock: progress.host_clock.clone(),
            discovery: shared.discovering.load(Ordering::Acquire),
            topics: topics.collect(),
            triggers: shared.trigger_status(),
        }
    }

    /// Ends the subscriptions, writes all messages that arrived, and closes the bag. Blocks until it is closed.
    ///
    /// # Errors
    /// [`Error::NotRecording`] the second time; otherwise what the bag says.
    pub(super) fn finish(&self) -> Result<Report> {
        let shared = &self.shared;
        let threads = lock(&self.threads).take();
        let Threads {
            discovery,
            writer,
            watch,
            host_clock,
            parameters,
        } = threads.ok_or(Error::NotRecording)?;
        shared.ending.cancel();
        if let Some(mut parameters) = parameters {
            parameters.finish();
        }
        if let Some(thread) = host_clock {
            // After a panic only the latest state of the clock is missing in the metadata.
            let _panicked = thread.join();
        }
        shared.graph_changed.set();
        let gone = discovery.join().is_err();
        drop(watch);
        shared.input.queue.close();
        shared.command(Command::Finish);
        let finished = writer.join();
        shared.commands.close();
        shared.end(EndReason::Asked);
        let (summary, outcome) = match finished {
            Ok(finished) => finished?,
            Err(_panicked) => return Err(Error::ThreadGone { thread: "writer" }),
        };
        if gone {
            return Err(Error::ThreadGone { thread: "graph" });
        }
        Ok(Report::new(shared, summary, outcome))
    }
}
