//! `timeloom check --live`: a running robot held against a contract.

mod inbox;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use timeloom_bag::{HostClockRecord, MessageDefinition, TopicInfo, TopicStatistics};
use timeloom_contract::{Check, Checker, Contract, Recording};
use timeloom_msg::TypeName;
use timeloom_msg::qos::{QosSpelling, profiles_to_yaml};
use timeloom_node::host_clock::{HostClockEntry, HostClockHistory, HostClockProbe};
use timeloom_time::{Clock, Duration, Steady, System, Time};
use timeloom_trace::span_text;
use timeloom_wire::{EndpointInfo, EndpointKind, Graph, Subscription, TopicSpec, adapt_to_offers};

use self::inbox::{Inbox, TopicIntake};
use super::{Arguments, explained, read_contract, report_all};
use crate::context::Context;
use crate::decode::resolver;
use crate::live::{Live, TypeFinder};
use crate::outcome::Outcome;

/// How often messages are taken and silence is noticed.
const TICK: Duration = Duration::from_millis(50);

pub(super) fn run(
    arguments: &Arguments,
    path: &Path,
    context: &mut Context,
) -> anyhow::Result<Outcome> {
    let contract = read_contract(path)?;
    let live = Live::join(&arguments.network, context)?;
    live.settled_endpoints();
    let mut session = Session::new(&live, &contract);
    let end = arguments
        .length
        .map(|length| session.clock.now().saturating_add(length));
    let ended = session.inbox.news().clone();
    live.interrupt().wakes(move || ended.set());
    loop {
        let over = live.interrupt().happened() || end.is_some_and(|end| session.clock.now() >= end);
        session.step().map_err(|error| explained(path, error))?;
        for check in session.checker.new_violations() {
            context.printer.warning(&violation_text(&check));
        }
        if over {
            break;
        }
        session.inbox.news().wait_for(TICK);
        session.inbox.news().clear();
    }
    let length = session.clock.now() - session.started;
    let report = session.finish();
    context.printer.aside(&format!(
        "checked for {}",
        span_text(u64::try_from(length.nanos()).unwrap_or(0))
    ));
    let name = format!("domain {}", live.environment().domain);
    report_all(arguments, &report, &name, None, context)?;
    if report.is_kept() {
        Ok(Outcome::Done)
    } else {
        Ok(Outcome::ProblemFound)
    }
}

fn violation_text(check: &Check) -> String {
    let text = format!(
        "{} {}: allowed {}, actual {}",
        check.topic, check.what, check.allowed, check.actual
    );
    match check.place_text() {
        place if place.is_empty() => text,
        place => format!("{text} ({place})"),
    }
}

/// A check of a running robot.
struct Session<'a> {
    live: &'a Live,
    contract: &'a Contract,
    checker: Checker<'a>,
    inbox: Arc<Inbox>,
    /// Topics that were seen, by name.
    seen: BTreeSet<String>,
    /// The intakes of subscribed topics by index.
    intakes: BTreeMap<usize, Arc<TopicIntake>>,
    subscriptions: Vec<Box<dyn Subscription>>,
    topics: usize,
    clock: Clock<Steady>,
    system: Clock<System>,
    started: Time<Steady>,
    /// The same moment by the system clock, which log times are of.
    start: Time<System>,
    host_clock: HostClockHistory,
    probe: HostClockProbe,
}

impl<'a> Session<'a> {
    fn new(live: &'a Live, contract: &'a Contract) -> Self {
        let base = live.base();
        let (clock, system) = (live.clock(), Clock::<System>::on(&base));
        Self {
            live,
            contract,
            checker: Checker::live(contract),
            inbox: Arc::new(Inbox::new(&base)),
            seen: BTreeSet::new(),
            intakes: BTreeMap::new(),
            subscriptions: Vec::new(),
            topics: 0,
            started: clock.now(),
            start: system.now(),
            clock,
            system,
            host_clock: HostClockHistory::default(),
            probe: HostClockProbe::new(&base),
        }
    }

    /// Time since the start by the system clock.
    fn time_ns(&self) -> i64 {
        (self.system.now() - self.start).nanos()
    }

    fn step(&mut self) -> timeloom_contract::Result<()> {
        if self.contract.clock.is_some() {
            self.look_at_clock();
        }
        let graph = self.live.graph();
        for (topic, publishers) in published(&graph) {
            if self.seen.insert(topic.clone()) {
                self.add(&topic, &publishers)?;
            }
        }
        for (topic, sample) in self.inbox.take() {
            let log_time = sample.receive_time;
            let time = (log_time - self.start).nanos();
            self.checker
                .message(topic, time, log_time.nanos(), &sample.payload);
        }
        self.checker.pass_time(self.time_ns());
        Ok(())
    }

    fn look_at_clock(&mut self) {
        let (steady, system) = (self.clock.now(), self.system.now());
        if let Some(reason) = self.host_clock.look(steady, system) {
            self.host_clock.add(HostClockEntry {
                at: system,
                steady,
                reason,
                clock: self.probe.look(),
            });
        }
    }

    /// Adds a topic to the check, and subscribes to it if the contract names it.
    fn add(&mut self, topic: &str, publishers: &[EndpointInfo]) -> timeloom_contract::Result<()> {
        let Some(first) = publishers.first() else {
            return Ok(());
        };
        let offers: Vec<_> = publishers.iter().map(|publisher| publisher.qos).collect();
        let mut info = TopicInfo::new(topic, &first.type_name);
        info.offered_qos_profiles = profiles_to_yaml(&offers, QosSpelling::Names);
        let wanted = self.contract.topics.contains_key(topic);
        if wanted && let Some(text) = self.definition(first) {
            info.definition = MessageDefinition {
                encoding: "ros2msg".into(),
                text,
            };
        }
        let index = self.checker.add_topic(&info, &resolver(), self.time_ns())?;
        self.topics = index + 1;
        if !wanted {
            return Ok(());
        }
        let intake = Arc::new(TopicIntake::new(index, &self.inbox));
        let spec = TypeName::parse(&first.type_name).map(|type_name| TopicSpec {
            name: topic.to_owned(),
            type_name,
            type_hash: first.type_hash,
            qos: adapt_to_offers(&offers),
        });
        // A topic that cannot be subscribed to has no messages: that is what the report says.
        if let Ok(spec) = spec
            && let Ok(subscription) = self.live.node().subscribe(&spec, Arc::clone(&intake) as _)
        {
            self.subscriptions.push(subscription);
        }
        self.intakes.insert(index, intake);
        Ok(())
    }

    /// The definition of the type, from here or from the publisher.
    fn definition(&self, publisher: &EndpointInfo) -> Option<String> {
        let schema = TypeFinder::new().of_endpoint(self.live, publisher).ok()?;
        schema.ros2msg().ok()
    }

    fn finish(self) -> timeloom_contract::Report {
        let statistics = (0..self.topics).map(|topic| {
            let intake = self.intakes.get(&topic)?;
            let (received, lost, dropped) = intake.counts();
            let mut statistics = TopicStatistics {
                messages_recorded: received,
                messages_lost_in_transport: lost,
                ..TopicStatistics::default()
            };
            statistics.lost_in_recorder.queue = dropped;
            Some(statistics)
        });
        let recording = Recording {
            start_ns: self.start.nanos(),
            duration_ns: self.time_ns(),
            statistics: statistics.collect(),
            host_clock: HostClockRecord::parse_all(&self.host_clock.to_text()),
        };
        self.checker.finish(&recording)
    }
}

/// The topics that have publishers.
fn published(graph: &Graph) -> BTreeMap<String, Vec<EndpointInfo>> {
    let mut topics: BTreeMap<String, Vec<EndpointInfo>> = BTreeMap::new();
    let publishers = graph
        .endpoints()
        .filter(|endpoint| endpoint.kind == EndpointKind::Publisher);
    for endpoint in publishers {
        let all = topics.entry(endpoint.topic.clone()).or_default();
        all.push(endpoint.clone());
    }
    topics
}
