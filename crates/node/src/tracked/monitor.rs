use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use timeloom_msg::qos::{Durability, Reliability};
use timeloom_msg::{Definitions, QosProfile, StampProgram, TypeName};
use timeloom_trace::{
    Content, DeadlineEvent, Engine, EngineOptions, Feed, Linker, NOTIFICATION_TOPIC,
    NOTIFICATION_TYPE, NodeModel, PUBLISHED_TIME_SUFFIX, Report, is_lineage_type,
};
use timeloom_wire::{EndpointKind, Graph, GraphWatch, LossTracker, Subscription, TopicSpec};

use super::diagnostics::{DIAGNOSTICS, DIAGNOSTICS_TYPE, diagnostics};
use super::graph_model::graph_model;
use super::monitor_feed::{Heart, State, TopicFeed};
use super::times::Times;
use crate::{Result, RosNode, TypedPublisher};

/// How many samples of one topic wait at most.
const DEPTH: u64 = 1000;

/// What a monitor looks at.
#[derive(Clone, Debug, Default)]
pub struct MonitorOptions {
    /// Targets, deadlines, hosts.
    pub engine: EngineOptions,
    /// Topics without tags that are listened to and linked by the graph: stamps where they are equal, else the latest.
    pub plain_topics: Vec<String>,
    /// What is known of nodes that do not tag, in place of what the graph shows.
    pub model: NodeModel,
}

/// Listens to all lineage of a running robot, also of what comes later, and tells of missed deadlines on
/// `/deadline_notification` and `/diagnostics`.
///
/// It has no thread of its own: call [`tick`](Self::tick) some times a second.
pub struct LineageMonitor {
    node: RosNode,
    options: MonitorOptions,
    heart: Arc<Heart>,
    graph: Arc<Mutex<Graph>>,
    _watch: GraphWatch,
    feeds: BTreeMap<String, Box<dyn Subscription>>,
    outlets: Option<Outlets>,
    /// What the graph showed last.
    model: NodeModel,
}

struct Outlets {
    notifications: TypedPublisher,
    diagnostics: TypedPublisher,
}

impl LineageMonitor {
    /// Listens as this node; with deadlines it also publishes.
    ///
    /// # Errors
    /// When the middleware refuses a publisher.
    pub fn new(node: RosNode, options: MonitorOptions) -> Result<Self> {
        let graph = Arc::new(Mutex::new(Graph::default()));
        let seen = Arc::clone(&graph);
        let watch = node.participant().watch_graph(Box::new(move |event| {
            let mut graph = seen.lock().unwrap_or_else(PoisonError::into_inner);
            graph.apply(event);
        }));
        let outlets = if options.engine.deadlines.is_empty() {
            None
        } else {
            Some(Outlets::new(&node)?)
        };
        let mut feed = if options.plain_topics.is_empty() {
            Feed::default()
        } else {
            Feed::with_linker(Linker::with_model(options.model.clone()))
        };
        for topic in &options.plain_topics {
            feed.hears(topic);
        }
        let state = State {
            engine: Engine::new(options.engine.clone()),
            feed,
            lost_in_transport: 0,
        };
        let heart = Heart {
            engine: Mutex::new(state),
            times: Times::of(&node),
        };
        Ok(Self {
            heart: Arc::new(heart),
            node,
            options,
            graph,
            _watch: watch,
            feeds: BTreeMap::new(),
            outlets,
            model: NodeModel::default(),
        })
    }

    /// Subscribes to what is new, lets time pass in the engine, publishes missed deadlines and gives them.
    ///
    /// # Errors
    /// When the middleware refuses a subscription or a message.
    pub fn tick(&mut self) -> Result<Vec<DeadlineEvent>> {
        self.subscribe_new()?;
        let now = self.heart.times.now().steady.nanos();
        let events = {
            let mut state = self.heart.lock();
            state.engine.advance(now);
            state.engine.take_events()
        };
        if let Some(outlets) = &self.outlets {
            for event in &events {
                outlets
                    .notifications
                    .publish(&event.notification().to_value()?)?;
            }
        }
        Ok(events)
    }

    /// Publishes the state of all deadlines on `/diagnostics`; once a second is usual.
    ///
    /// # Errors
    /// When the middleware refuses the message.
    pub fn publish_diagnostics(&self) -> Result<()> {
        let Some(outlets) = &self.outlets else {
            return Ok(());
        };
        let report = self.report();
        let now = self.heart.times.now().ros;
        let value = diagnostics(&outlets.diagnostics, &report.deadlines, now)?;
        outlets.diagnostics.publish(&value)?;
        Ok(())
    }

    /// What was found so far.
    pub fn report(&self) -> Report {
        let mut state = self.heart.lock();
        let mut report = state.engine.report();
        let mut note = |count: u64, words: &str| {
            if count > 0 {
                report.notes.push(format!("{count} {words}"));
            }
        };
        let counts = state.feed.counts();
        note(counts.header_only, "tags of tilde_lite name no inputs");
        note(counts.broken, "tags could not be decoded");
        note(
            state.lost_in_transport,
            "samples were lost on their way to us",
        );
        report
    }

    /// The topics that are listened to.
    pub fn topics(&self) -> impl Iterator<Item = &str> {
        self.feeds.keys().map(String::as_str)
    }

    /// How many samples did not reach us, as gaps in the writers' numbers tell.
    pub fn lost_in_transport(&self) -> u64 {
        self.heart.lock().lost_in_transport
    }

    fn subscribe_new(&mut self) -> Result<()> {
        let graph = self
            .graph
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
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
            let feed = TopicFeed {
                topic: topic.clone(),
                content,
                heart: Arc::clone(&self.heart),
                losses: Mutex::new(LossTracker::default()),
            };
            let subscription = self.node.wire().subscribe(&spec, Arc::new(feed))?;
            self.feeds.insert(topic.clone(), subscription);
        }
        self.renew_model(&graph);
        Ok(())
    }

    /// Links topics that are listened to, and topics of which others note when they were published, as the graph shows.
    fn renew_model(&mut self, graph: &Graph) {
        let noted = self.feeds.keys().filter_map(|topic| {
            let main = topic.strip_suffix(PUBLISHED_TIME_SUFFIX)?;
            Some(main.to_owned())
        });
        let mut wanted: BTreeSet<String> = noted.collect();
        wanted.extend(self.options.plain_topics.iter().cloned());
        // A model that somebody wrote down stays; what the graph shows changes.
        let declared = !self.options.model.nodes.is_empty();
        if wanted.is_empty() || declared && self.heart.lock().feed.has_linker() {
            return;
        }
        let model = if declared {
            self.options.model.clone()
        } else {
            graph_model(graph)
        };
        if model != self.model {
            self.model.clone_from(&model);
            self.heart.lock().feed.set_model(model);
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

/// Takes what any writer offers.
fn listening() -> QosProfile {
    QosProfile {
        reliability: Reliability::BestEffort,
        durability: Durability::Volatile,
        depth: DEPTH,
        ..QosProfile::DEFAULT
    }
}

impl Outlets {
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
