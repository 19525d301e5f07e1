use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use timeloom_bag::{BagOptions, BagReader, StorageReader as _};
use timeloom_node::player::{
    ClockPublishing, ClockTrigger, Control, Notice, Options as PlayerOptions, Pace, PlayRange,
    Player, Reporter, Selection, SettleWait, State,
};
use timeloom_node::recorder::{Options as RecorderOptions, Recorder};
use timeloom_node::{NodeOptions, RosNode, TopicSelection, TypeFinder};
use timeloom_text::counted;
use timeloom_time::sync::lock;
use timeloom_time::{Clock, Duration, Steady, Time};
use timeloom_wire::EndpointKind;

use super::{Played, RunContext, SharedParticipant, counts, open};
use crate::failure::{Failure, FailureKind};
use crate::plan::{PacePlan, RunPlan};
use crate::process::Process;
use crate::ready::{GraphView, OutputGate};

/// Polling interval of a run.
const LOOK: Duration = Duration::from_millis(20);
/// The connections are complete when nothing was missing for so long.
const SETTLED: Duration = Duration::from_millis(300);
/// No more output comes when none came for so long after the last input.
const QUIET: Duration = Duration::from_millis(500);
/// The period of `/clock`.
const CLOCK_PERIOD: Duration = Duration::from_millis(25);

/// Player and recorder of a run.
pub(super) struct TestRun<'a> {
    context: &'a RunContext<'a>,
    player: Player,
    recorder: Recorder,
    graph: GraphView,
    node: RosNode,
    recorder_node: RosNode,
    notices: Notices,
    clock: Clock<Steady>,
    /// Expected number of messages of each output, if known.
    expected: Option<BTreeMap<String, u64>>,
    /// When the bag begins.
    start: Time<timeloom_time::Ros>,
}

#[derive(Clone, Default)]
struct Notices(Arc<Mutex<Vec<Notice>>>);

impl Notices {
    fn all(&self) -> Vec<Notice> {
        lock(&self.0).clone()
    }
}

fn hidden(name: &str) -> NodeOptions {
    NodeOptions {
        rosout: false,
        parameter_services: false,
        type_description: false,
        ..NodeOptions::new(name)
    }
}

impl<'a> TestRun<'a> {
    pub(super) fn open(
        context: &'a RunContext<'a>,
        participant: &SharedParticipant,
        reader: BagReader,
    ) -> timeloom_node::Result<Self> {
        let plan = context.plan;
        let start = Time::from_nanos(reader.info().start_time_ns.unwrap_or_default());
        let node = RosNode::new(
            Arc::clone(participant),
            NodeOptions {
                remaps: plan.inputs.remaps.clone(),
                ..hidden("timeloom_replay_player")
            },
        )?;
        let recorder_node =
            RosNode::new(Arc::clone(participant), hidden("timeloom_replay_recorder"))?;
        let graph = GraphView::new(
            &**participant,
            [node.name().clone(), recorder_node.name().clone()],
        );
        let notices = Notices::default();
        let heard = notices.clone();
        let reporter = Reporter::new(move |notice| {
            let mut all = lock(&heard.0);
            all.push(notice.clone());
        });
        let player = Player::open(&node, reader, player_options(plan), reporter)?;
        let ros_distro = context.ros_distro.clone();
        let options = RecorderOptions {
            bag: Arc::new(move || BagOptions {
                ros_distro: ros_distro.clone(),
                ..BagOptions::default()
            }),
            log_clock: Some(player.clock().clone()),
            ..RecorderOptions::new(
                context.directory.join("output"),
                TopicSelection {
                    topics: plan.outputs.iter().cloned().collect(),
                    lineage: plan.budgets.is_some(),
                    include_hidden_topics: true,
                    ..TopicSelection::default()
                },
                Arc::new(TypeFinder::new(
                    Arc::clone(participant),
                    Arc::clone(recorder_node.wire()),
                    context.types.clone(),
                )),
            )
        };
        let wire = Arc::clone(recorder_node.wire());
        let recorder = Recorder::start(Arc::clone(participant), wire, options)?;
        // An expected bag that cannot be read is reported when it is compared.
        let expected = plan.expected.as_ref();
        let expected = expected.and_then(|path| open(std::slice::from_ref(path)).ok());
        Ok(Self {
            context,
            player,
            recorder,
            graph,
            node,
            recorder_node,
            notices,
            clock: Clock::on(&participant.time_base()),
            expected: expected.map(|bag| counts(&bag, &plan.outputs)),
            start,
        })
    }

    /// Plays, and stops the process.
    pub(super) fn run(self, process: Process) -> Played {
        let mut failure = self
            .connect(&process)
            .and_then(|()| self.play(&process))
            .and_then(|()| self.drain(&process))
            .err();
        self.player.handle().control_then(Control::Stop, drop);
        self.player.wait_for(Duration::from_secs(3));
        // Before it is connected, nothing is known about its subscriptions.
        let mut notes = if failure.is_none() {
            self.notes()
        } else {
            Vec::new()
        };
        // Before the process ends: its publishers are asked for their last number.
        let bag = match self.recorder.finish() {
            Ok(reports) => reports.into_iter().next().map(|report| report.directory),
            Err(error) => {
                failure.get_or_insert_with(|| {
                    Failure::new(FailureKind::Setup, format!("cannot record: {error}"))
                });
                None
            }
        };
        if let Some(failure) = &mut failure {
            failure.last_lines = process.last_lines();
        }
        let stopped = process.stop(self.context.plan.timeouts.stop);
        if let Some(signal @ ("SIGTERM" | "SIGKILL")) = stopped.signal {
            notes.push(format!(
                "the process did not end at SIGINT: {signal} was sent"
            ));
        }
        Played {
            inputs: self.player.status().played(),
            bag: bag.filter(|bag: &PathBuf| bag.exists()),
            failure,
            notes,
        }
    }

    /// Ends without a process.
    pub(super) fn close(self) {
        // The failure to start is what the report is about.
        let _closed = self.recorder.finish();
    }

    fn connect(&self, process: &Process) -> Result<(), Failure> {
        let plan = self.context.plan;
        // It waits for the subscribers, with time standing at the start of the bag.
        let begun = self.player.control(Control::Play(PlayRange::default()));
        begun.map_err(|refusal| Failure::new(FailureKind::Setup, refusal.to_string()))?;
        let outputs = if plan.waits_for_publishers {
            let subscriptions =
                |topic: &String| 1 + usize::from(plan.lockstep_topic() == Some(topic));
            let outputs = plan.outputs.iter();
            outputs
                .map(|topic| (topic.clone(), subscriptions(topic)))
                .collect()
        } else {
            Vec::new()
        };
        let wire = self.recorder_node.wire();
        let mut gate = OutputGate::new(&self.graph, &**wire, outputs);
        let end = self.clock.now().saturating_add(plan.timeouts.start);
        let mut complete_since = None;
        loop {
            self.check(process, RunPhase::Start)?;
            let subscribed = self.player.status().state == State::Paused;
            let unconnected = gate.unconnected();
            let now = self.clock.now();
            if subscribed && unconnected.is_empty() {
                let since = *complete_since.get_or_insert(now);
                if now - since >= SETTLED {
                    return Ok(());
                }
            } else {
                complete_since = None;
                if now >= end {
                    return Err(self.unconnected(subscribed, &unconnected));
                }
            }
            process.wait_for(LOOK);
        }
    }

    fn unconnected(&self, subscribed: bool, outputs: &[String]) -> Failure {
        let plan = self.context.plan;
        let after = plan.timeouts.start;
        if subscribed {
            let text = format!(
                "the process has no publisher of {} after {after}",
                outputs.join(", ")
            );
            return Failure::new(FailureKind::NoPublisher, text);
        }
        let status = self.player.status();
        let topics = status.topics.iter().map(|topic| &topic.name);
        let waited: Vec<&String> = topics.filter(|topic| self.is_waited_for(topic)).collect();
        let alone: Vec<&str> = waited
            .iter()
            .filter(|topic| {
                self.graph
                    .others(topic, EndpointKind::Subscription)
                    .is_empty()
            })
            .map(|topic| topic.as_str())
            .collect();
        let mut text = if alone.is_empty() {
            format!("the subscriptions of the process are not connected after {after}")
        } else {
            format!(
                "the process does not subscribe to {} after {after}",
                alone.join(", ")
            )
        };
        for notice in self.notices.all() {
            if matches!(notice, Notice::IncompatibleQos { .. }) {
                text.push_str("; ");
                text.push_str(&notice.to_string());
            }
        }
        Failure::new(FailureKind::NoSubscriber, text)
    }

    /// Whether playing waits for a subscriber of a topic, which has its remapped name here.
    fn is_waited_for(&self, topic: &str) -> bool {
        let wait_for = self.context.plan.inputs.wait_for.as_ref();
        wait_for.is_none_or(|names| {
            let mut names = names.iter();
            names.any(|name| {
                self.node
                    .resolve_topic(name)
                    .is_ok_and(|name| name == topic)
            })
        })
    }

    fn play(&self, process: &Process) -> Result<(), Failure> {
        let plan = self.context.plan;
        let resumed = self.player.control(Control::Resume);
        resumed.map_err(|refusal| Failure::new(FailureKind::Setup, refusal.to_string()))?;
        let mut last = (self.player.clock().now(), 0);
        let mut moved = self.clock.now();
        while !self.player.wait_for(LOOK) {
            self.check(process, RunPhase::Play)?;
            let progress = (self.player.clock().now(), self.received());
            let now = self.clock.now();
            if progress != last {
                (last, moved) = (progress, now);
            } else if now - moved >= plan.timeouts.idle {
                return Err(self.hung());
            }
        }
        let status = self.player.status();
        let lost = status.lost();
        if lost > 0 || status.state != State::Ended {
            let text = format!(
                "{} of the bag could not be played",
                counted(lost, "message")
            );
            return Err(Failure::new(FailureKind::Input, text));
        }
        for notice in self.notices.all() {
            if matches!(
                notice,
                Notice::EndedUnacknowledged { .. } | Notice::Unreadable(_) | Notice::Damage(_)
            ) {
                return Err(Failure::new(FailureKind::Input, notice.to_string()));
            }
        }
        Ok(())
    }

    fn hung(&self) -> Failure {
        let plan = self.context.plan;
        let idle = plan.timeouts.idle;
        let at = self.bag_time();
        let text = match &plan.pace {
            PacePlan::Lockstep { topic, window } => format!(
                "time stands at {at} of the bag: for {idle}, no message came on {topic} whose stamp is within {window} of it"
            ),
            PacePlan::WaitAcked => format!(
                "time stands at {at} of the bag: for {idle}, the process did not acknowledge an input"
            ),
        };
        Failure::new(FailureKind::Hung, text)
    }

    /// Waits for the last outputs.
    fn drain(&self, process: &Process) -> Result<(), Failure> {
        let end = self
            .clock
            .now()
            .saturating_add(self.context.plan.timeouts.finish);
        let mut received = self.received();
        let mut changed = self.clock.now();
        loop {
            self.check(process, RunPhase::Drain)?;
            let now = self.clock.now();
            let count = self.received();
            if count != received {
                (received, changed) = (count, now);
            }
            let quiet = now - changed >= QUIET;
            if now >= end || (quiet && self.is_complete()) {
                return Ok(());
            }
            let _woke = self.clock.sleep_for(LOOK);
        }
    }

    /// Whether as many outputs came as the expected bag has; true if that is not known.
    fn is_complete(&self) -> bool {
        let Some(expected) = &self.expected else {
            return true;
        };
        let counts = self.output_counts();
        expected
            .iter()
            .all(|(topic, count)| counts.get(topic).is_some_and(|got| got >= count))
    }

    fn output_counts(&self) -> BTreeMap<String, u64> {
        let status = self.recorder.status();
        let outputs = &self.context.plan.outputs;
        let topics = status.topics.into_iter();
        topics
            .filter(|topic| outputs.contains(&topic.name))
            .map(|topic| {
                let count = topic.statistics.messages_recorded + topic.in_flight;
                (topic.name, count)
            })
            .collect()
    }

    /// Messages of all outputs so far.
    fn received(&self) -> u64 {
        self.output_counts().values().sum()
    }

    /// Fails if the process has ended, or if the user ends the test.
    fn check(&self, process: &Process, phase: RunPhase) -> Result<(), Failure> {
        if self.context.cancel.is_cancelled() {
            return Err(Failure::new(FailureKind::Interrupted, "interrupted"));
        }
        match process.exit() {
            None => Ok(()),
            // Its work may be done with the last input.
            Some(exit) if phase == RunPhase::Drain && exit.is_success() => Ok(()),
            Some(exit) => {
                let when = match phase {
                    RunPhase::Start => "before the first input".to_owned(),
                    RunPhase::Play => format!("at {} of the bag", self.bag_time()),
                    RunPhase::Drain => "after the last input".to_owned(),
                };
                let text = format!("the process ended with {exit} {when}");
                Err(Failure::new(FailureKind::Died, text))
            }
        }
    }

    /// Where playing is, since the start of the bag.
    fn bag_time(&self) -> String {
        let time = self.player.status().time - self.start;
        format!("{:.3} s", time.nanos() as f64 / 1e9)
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if !self.graph.is_clock_followed() {
            notes.push(
                "the process does not follow /clock: set the parameter use_sim_time of its nodes"
                    .to_owned(),
            );
        }
        let others = self.graph.others("/clock", EndpointKind::Publisher);
        if !others.is_empty() {
            notes.push("the process publishes /clock itself".to_owned());
        }
        notes
    }
}

/// A phase of a run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RunPhase {
    Start,
    Play,
    Drain,
}

fn player_options(plan: &RunPlan) -> PlayerOptions {
    let (played, waited) = (plan.clone(), plan.clone());
    PlayerOptions {
        selection: Selection::new(move |topic| played.plays(&topic.name)),
        rate: plan.rate,
        start_paused: true,
        settle: Some(SettleWait::NETWORK),
        wait_for_subscribers: 1,
        waited_for: Selection::new(move |topic| waited.waits_for(&topic.name)),
        clock: ClockPublishing {
            period: Some(CLOCK_PERIOD),
            before: ClockTrigger::All,
        },
        pace: match &plan.pace {
            PacePlan::Lockstep { topic, window } => Pace::Lockstep {
                topic: topic.clone(),
                window: *window,
            },
            PacePlan::WaitAcked => Pace::WaitAcked,
        },
        ..PlayerOptions::default()
    }
}
