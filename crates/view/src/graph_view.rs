//! A running robot, for browsers and for programs that speak the Foxglove protocol.

mod intake;
mod known_topic;
mod live_timeline;
mod options;
mod recorder_losses;
mod watcher;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock};

use bytes::Bytes;
use timeloom_msg::{QosProfile, Schema, TypeName, TypeRequest};
use timeloom_node::{TypeFinder, TypeService};
use timeloom_wire::{
    EndpointKind, Graph, Node, NodeName, Participant, PublishOptions, Publisher, TopicSpec,
};

pub use self::options::{GraphViewOptions, Hidden, Listening, TakesTopic};
use self::watcher::Watcher;
use crate::channel::ChannelId;
use crate::error::{Error, Result};
use crate::graph_services::GraphServices;
use crate::peer::lock;
use crate::protocol::ConnectionGraph;
use crate::snapshot::{Fact, Snapshot, SnapshotKind, TopicRow};
use crate::source::{Ability, Demand, Description, Source};
use crate::source_output::SourceOutput;

/// Limit for the topics that clients publish on.
const MOST_PUBLISHERS: usize = 1_000;

/// A ROS graph behind a server: its topics as channels, with their rates and losses; its services; publishing.
///
/// The losses reported by recorders are part of a topic's account. Topics without a known definition are counted but
/// not shown to clients.
pub struct GraphView {
    participant: Arc<dyn Participant>,
    node: Arc<dyn Node>,
    options: GraphViewOptions,
    parts: OnceLock<(Watcher, GraphServices)>,
    publishers: Mutex<BTreeMap<(String, String), Arc<dyn Publisher>>>,
    /// Created when the first client publishes.
    types: Mutex<Option<TypeService>>,
}

impl GraphView {
    /// Shows the graph as `participant` sees it, using a hidden node.
    ///
    /// # Errors
    /// When the middleware cannot create the node.
    pub fn new(participant: Arc<dyn Participant>, options: GraphViewOptions) -> Result<Self> {
        let name = format!("_timeloom_view_{}", std::process::id());
        let node = NodeName::new("/", &name).and_then(|name| participant.node(name));
        let node = node.map_err(|error| Error::Refused(error.to_string()))?;
        Ok(Self {
            participant,
            node,
            options,
            parts: OnceLock::new(),
            publishers: Mutex::default(),
            types: Mutex::default(),
        })
    }

    /// Messages lost in transport, on all topics.
    pub fn lost_on_the_wire(&self) -> u64 {
        let rows = self.rows();
        rows.iter().filter_map(|row| row.lost_wire).sum()
    }

    fn rows(&self) -> Vec<TopicRow> {
        let parts = self.parts.get();
        parts.map_or_else(Vec::new, |(watcher, _)| watcher.rows())
    }

    fn known(&self) -> Graph {
        let parts = self.parts.get();
        parts.map_or_else(Graph::default, |(watcher, _)| watcher.graph())
    }

    fn facts(&self, graph: &Graph) -> Vec<Fact> {
        let nodes: usize = graph
            .nodes()
            .filter(|(name, _)| *name != self.node.name())
            .map(|(_, count)| count)
            .sum();
        let services = self.parts.get().map_or(0, |(_, services)| services.len());
        let clocks: Vec<String> = graph
            .on("/clock", EndpointKind::Publisher)
            .map(|publisher| node_name(publisher.node.as_ref()))
            .collect();
        let clock = match clocks.as_slice() {
            [] => Fact::new("clock", "the machine"),
            [owner] => Fact::new("clock", owner),
            _ => Fact::warning("/clock by", clocks.join(", ")),
        };
        vec![
            clock,
            Fact::new("nodes", nodes),
            Fact::new("services", services),
        ]
    }

    fn publisher(&self, topic: &str, type_name: &str) -> Result<Arc<dyn Publisher>, String> {
        let key = (topic.to_owned(), type_name.to_owned());
        let mut publishers = lock(&self.publishers);
        if let Some(publisher) = publishers.get(&key) {
            return Ok(Arc::clone(publisher));
        }
        if publishers.len() >= MOST_PUBLISHERS {
            return Err(format!(
                "clients publish on {MOST_PUBLISHERS} topics already"
            ));
        }
        let words = |error: &dyn std::fmt::Display| error.to_string();
        timeloom_msg::name::validate_full_topic_name(topic).map_err(|error| words(&error))?;
        let schema = self.options.types.resolve(&TypeRequest::new(type_name));
        let schema = Arc::new(schema.map_err(|error| words(&error))?);
        let spec = TopicSpec {
            name: topic.to_owned(),
            type_name: TypeName::parse(type_name).map_err(|error| words(&error))?,
            type_hash: schema.type_hash().ok(),
            qos: QosProfile::DEFAULT,
        };
        let publisher: Arc<dyn Publisher> = self
            .node
            .publish(&spec)
            .map_err(|error| words(&error))?
            .into();
        self.describe(&schema).map_err(|error| words(&error))?;
        publishers.insert(key, Arc::clone(&publisher));
        Ok(publisher)
    }

    /// Lets `~/get_type_description` answer for a type that clients publish.
    fn describe(&self, schema: &Arc<Schema>) -> timeloom_node::Result<()> {
        let mut types = lock(&self.types);
        if types.is_none() {
            *types = Some(TypeService::start(
                &*self.node,
                &self.participant.time_base(),
            )?);
        }
        if let Some(types) = &*types {
            types.add(schema);
        }
        Ok(())
    }
}

impl Source for GraphView {
    fn description(&self) -> Description {
        Description {
            name: self.options.name.clone(),
            range_ns: None,
            time: match self.options.clock {
                Some(_) => Ability::Yes,
                None => Ability::No,
            },
            services: Ability::Yes,
            publish: Ability::Yes,
            graph: Ability::Yes,
        }
    }

    fn attach(&self, output: SourceOutput) -> Result<()> {
        let finder = TypeFinder::new(
            Arc::clone(&self.participant),
            Arc::clone(&self.node),
            self.options.types.clone(),
        );
        let services = GraphServices::open(&*self.participant, &self.node, &finder, &output);
        let watcher = Watcher::start(
            &self.participant,
            &self.node,
            finder,
            output,
            self.options.clone(),
        )?;
        // A source is attached once.
        drop(self.parts.set((watcher, services)));
        Ok(())
    }

    fn time_ns(&self) -> Option<i64> {
        let clock = self.options.clock.as_ref()?;
        clock.started().then(|| clock.now().nanos())
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            title: self.options.name.clone(),
            kind: SnapshotKind::Graph,
            state: "live".into(),
            timeline: self.parts.get().and_then(|(watcher, _)| watcher.timeline()),
            topics: self.rows(),
            facts: self.facts(&self.known()),
        }
    }

    fn demand(&self, channel: ChannelId, demand: Demand) {
        if let Some((watcher, _)) = self.parts.get() {
            watcher.demand(channel, demand);
        }
    }

    fn call(&self, service: &str, request: Bytes) -> Result<Bytes> {
        let parts = self.parts.get();
        let (_, services) = parts.ok_or_else(|| Error::Unsupported {
            what: format!("calling {service}"),
        })?;
        services.call(service, request)
    }

    fn publish(&self, topic: &str, type_name: &str, payload: Bytes) -> Result<()> {
        let refused = |reason: String| Error::Refused(format!("can't publish {topic}: {reason}"));
        let publisher = self.publisher(topic, type_name).map_err(refused)?;
        let sent = publisher.publish(payload, PublishOptions::default());
        sent.map_err(|error| refused(error.to_string()))?;
        Ok(())
    }

    fn graph(&self) -> Option<ConnectionGraph> {
        let graph = self.known();
        let mut connections = ConnectionGraph::default();
        for endpoint in graph.endpoints() {
            let names = match endpoint.kind {
                EndpointKind::Publisher => &mut connections.published,
                EndpointKind::Subscription => &mut connections.subscribed,
                EndpointKind::Server => &mut connections.services,
                EndpointKind::Client => continue,
            };
            if endpoint.node.as_ref() != Some(self.node.name()) {
                let names = names.entry(endpoint.topic.clone()).or_default();
                names.insert(node_name(endpoint.node.as_ref()));
            }
        }
        Some(connections)
    }
}

fn node_name(node: Option<&NodeName>) -> String {
    node.map_or_else(|| "(unknown node)".to_owned(), NodeName::full)
}
