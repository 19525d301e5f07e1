use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard};

use timeloom_msg::qos::{Durability, Reliability};
use timeloom_msg::{Definitions, QosProfile, StampProgram, TypeName};
use timeloom_trace::{
    Content, DeadlineEvent, Engine, EngineOptions, Feed, Linker, NOTIFICATION_TOPIC,
    NOTIFICATION_TYPE, NodeModel, PUBLISHED_TIME_SUFFIX, Report, is_lineage_type,
};
use timeloom_wire::backend::lock;
use timeloom_wire::{EndpointKind, Graph, Subscription, TopicSpec, WatchedGraph};

use super::diagnostics::{DIAGNOSTICS, DIAGNOSTICS_TYPE, diagnostics};
use super::graph_model::graph_model;
use super::monitor_feed::{Analysis, Inbox, TopicContent, TopicReceiver};
use super::times::Times;
use crate::{Result, RosNode, TypedPublisher};

/// The history depth of a subscription.
const DEPTH: u64 = 1000;

/// Options of a [`LineageMonitor`].
#[derive(Clone, Debug, Default)]
pub struct MonitorOptions {
    /// Targets, deadlines, hosts.
    pub engine: EngineOptions,
    /// Topics without tags that are also subscribed to and linked by the graph: by equal stamps, else the latest input.
    pub plain_topics: Vec<String>,
    /// Declared nodes, used instead of the graph.
    pub model: NodeModel,
}

/// Analyses the lineage of a running robot, and publishes missed deadlines on `/deadline_notification` and
/// `/diagnostics`.
///
/// It has no thread of its own: call [`tick`](Self::tick) a few times a second. Reception only puts samples into a queue
/// and never waits for the analysis or for a report; samples beyond 65,536 between two ticks are dropped and counted.
///
/// ```no_run
/// use timeloom_node::{LineageMonitor, MonitorOptions, NodeOptions, RosNode};
/// use timeloom_time::{Clock, Duration, Steady, TimeBase};
/// use timeloom_wire::loopback::LoopbackNetwork;
///
/// let base = TimeBase::machine();
/// let network = LoopbackNetwork::new(&base);
/// let node = RosNode::new(network.participant("monitor")?, NodeOptions::new("monitor"))?;
/// let mut monitor = LineageMonitor::new(node, MonitorOptions::default())?;
/// let clock = Clock::<Steady>::on(&base);
/// for _ in 0..50 {
///     for missed in monitor.tick()? {
///         eprintln!("{missed:?}");
///     }
///     let _woke = clock.sleep_for(Duration::from_millis(200));
/// }
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
pub struct LineageMonitor {
    node: RosNode,
    options: MonitorOptions,
    inbox: Arc<Inbox>,
    analysis: Mutex<Analysis>,
    graph: WatchedGraph,
    feeds: BTreeMap<String, Box<dyn Subscription>>,
    publishers: Option<DeadlinePublishers>,
    /// The model of the last graph.
    model: NodeModel,
}

struct DeadlinePublishers {
    notifications: TypedPublisher,
    diagnostics: TypedPublisher,
}

impl LineageMonitor {
    /// A monitor on this node; with deadlines it also publishes.
    ///
    /// # Errors
    /// When the middleware refuses a publisher.
    pub fn new(node: RosNode, options: MonitorOptions) -> Result<Self> {
        let graph = WatchedGraph::new(&**node.participant());
        let publishers = if options.engine.deadlines.is_empty() {
            None
        } else {
            Some(DeadlinePublishers::new(&node)?)
        };
        let mut feed = if options.plain_topics.is_empty() {
            Feed::default()
        } else {
            Feed::with_linker(Linker::with_model(options.model.clone()))
        };
        for topic in &options.plain_topics {
            feed.hears(topic);
        }
        let engine = Engine::new(options.engine.clone());
        Ok(Self {
            inbox: Arc::new(Inbox::new(Times::of(&node))),
            analysis: Mutex::new(Analysis { feed, engine }),
            node,
            options,
            graph,
            feeds: BTreeMap::new(),
            publishers,
            model: NodeModel::default(),
        })
    }

    /// Subscribes to new topics, analyses what was received, and publishes and returns missed deadlines.
    ///
    /// # Errors
    /// When the middleware refuses a subscription or a message.
    pub fn tick(&mut self) -> Result<Vec<DeadlineEvent>> {
        self.subscribe_new()?;
        let now = self.inbox.times().now().steady.nanos();
        let events = {
            let mut analysis = self.received();
            analysis.engine.advance(now);
            analysis.engine.take_events()
        };
        if let Some(publishers) = &self.publishers {
            for event in &events {
                publishers
                    .notifications
                    .publish(&event.notification().to_value()?)?;
            }
        }
        Ok(events)
    }

    /// Publishes the state of all deadlines on `/diagnostics`; call it once a second.
    ///
    /// # Errors
    /// When the middleware refuses the message.
    pub fn publish_diagnostics(&self) -> Result<()> {
        let Some(publishers) = &self.publishers else {
            return Ok(());
        };
        let report = self.report();
        let now = self.inbox.times().now().ros;
        let value = diagnostics(&publishers.diagnostics, &report.deadlines, now)?;
        publishers.diagnostics.publish(&value)?;
        Ok(())
    }

    /// The report so far. Reception continues while it is built.
    pub fn report(&self) -> Report {
        let mut analysis = self.received();
        let mut report = analysis.engine.report();
        let mut note = |count: u64, words: &str| {
            if count > 0 {
                report.notes.push(format!("{count} {words}"));
            }
        };
        let (counts, losses) = (analysis.feed.counts(), self.inbox.losses());
        note(counts.header_only, "tags of tilde_lite name no inputs");
        note(counts.broken, "tags could not be decoded");
        note(losses.in_transport, "samples lost in transport");
        note(losses.dropped, "samples dropped: analysis queue full");
        report
    }

    /// The subscribed topics.
    pub fn topics(&self) -> impl Iterator<Item = &str> {
        self.feeds.keys().map(String::as_str)
    }

    /// Samples that did not reach us, by gaps in the sequence numbers of their publishers.
    pub fn lost_in_transport(&self) -> u64 {
        self.inbox.losses().in_transport
    }

    /// The analysis with everything that was received so far.
    fn received(&self) -> MutexGuard<'_, Analysis> {
        let mut analysis = lock(&self.analysis);
        self.inbox.drain(&mut analysis);
        analysis
    }

    fn subscribe_new(&mut self) -> Result<()> {
        let graph = self.graph.snapshot();
        for endpoint in graph.endpoints() {
            if endpoint.kind != EndpointKind::Publisher || self.feeds.contains_key(&endpoint.topic)
            {
                continue;
            }
            let Some(content) = self.content(&endpoint.topic, &endpoint.type_name) else {
                continue;
            };
            let (Ok(type_name), topic) = (TypeName::parse(&endpoint.type_name), &endpoint.topic)
            else {
                continue;
            };
            let spec = TopicSpec {
                name: topic.clone(),
                type_name,
                type_hash: endpoint.type_hash,
                qos: listening(),
            };
            let topic_content = TopicContent {
                topic: topic.clone(),
                content,
            };
            let receiver = TopicReceiver::new(topic_content, &self.inbox);
            let subscription = self.node.wire().subscribe(&spec, Arc::new(receiver))?;
            self.feeds.insert(topic.clone(), subscription);
        }
        self.renew_model(&graph);
        Ok(())
    }

    /// Links subscribed topics, and topics with Autoware's publish times, by the current graph.
    fn renew_model(&mut self, graph: &Graph) {
        let noted = self.feeds.keys().filter_map(|topic| {
            let main = topic.strip_suffix(PUBLISHED_TIME_SUFFIX)?;
            Some(main.to_owned())
        });
        let mut wanted: BTreeSet<String> = noted.collect();
        wanted.extend(self.options.plain_topics.iter().cloned());
        // A declared model stays; the graph changes.
        let declared = !self.options.model.nodes.is_empty();
        if wanted.is_empty() || declared && self.received().feed.has_linker() {
            return;
        }
        let model = if declared {
            self.options.model.clone()
        } else {
            graph_model(graph)
        };
        if model != self.model {
            self.model.clone_from(&model);
            self.received().feed.set_model(model);
        }
    }

    fn content(&self, topic: &str, type_name: &str) -> Option<Content> {
        if is_lineage_type(type_name) {
            return Content::of_lineage(topic, type_name);
        }
        let mut wanted = self.options.plain_topics.iter();
        wanted.find(|wanted| *wanted == topic)?;
        let schema = Definitions::builtin().schema(type_name).ok();
        let stamp = schema.as_ref().and_then(StampProgram::compile);
        Some(Content::Messages(stamp))
    }
}

/// Compatible with every publisher.
fn listening() -> QosProfile {
    QosProfile {
        reliability: Reliability::BestEffort,
        durability: Durability::Volatile,
        depth: DEPTH,
        ..QosProfile::DEFAULT
    }
}

impl DeadlinePublishers {
    fn new(node: &RosNode) -> Result<Self> {
        let late = QosProfile {
            reliability: Reliability::BestEffort,
            ..QosProfile::DEFAULT
        };
        Ok(Self {
            notifications: node.publisher(NOTIFICATION_TOPIC, NOTIFICATION_TYPE, late)?,
            diagnostics: node.publisher(DIAGNOSTICS, DIAGNOSTICS_TYPE, QosProfile::DEFAULT)?,
        })
    }
}

impl std::fmt::Debug for LineageMonitor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "LineageMonitor({} topics)", self.feeds.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NodeOptions;
    use timeloom_time::TimeBase;
    use timeloom_trace::{MessageTrackingTag, OutputInfo, TAG_TYPE};
    use timeloom_wire::PublishOptions;
    use timeloom_wire::loopback::LoopbackNetwork;

    #[test]
    fn reception_does_not_wait_for_a_report() {
        let network = LoopbackNetwork::new(&TimeBase::machine());
        let node = |name: &str| {
            let participant = network.participant(name).unwrap();
            RosNode::new(participant, NodeOptions::new(name)).unwrap()
        };
        let robot = node("robot");
        let spec = TopicSpec {
            name: "/a/message_tracking_tag".into(),
            type_name: TypeName::parse(TAG_TYPE).unwrap(),
            type_hash: None,
            qos: QosProfile::DEFAULT,
        };
        let tags = robot.wire().publish(&spec).unwrap();
        let mut monitor = LineageMonitor::new(node("monitor"), MonitorOptions::default()).unwrap();
        while tags.matched() == 0 {
            monitor.tick().unwrap();
        }
        let tag = MessageTrackingTag {
            header_stamp: timeloom_time::Time::ZERO,
            output: OutputInfo {
                topic: "/a".into(),
                ..OutputInfo::default()
            },
            inputs: Vec::new(),
        };
        // A report locks the analysis for as long as it takes; this one until all is received.
        let report = monitor.received();
        let sent = tags.publish(tag.encode().into(), PublishOptions::default());
        sent.unwrap();
        while monitor.inbox.waiting() == 0 {
            std::thread::yield_now();
        }
        drop(report);
        assert_eq!(monitor.report().tags, 1);
        assert_eq!(monitor.inbox.waiting(), 0);
    }
}
