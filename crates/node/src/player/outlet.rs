use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use timeloom_bag::{BagReader, StorageReader as _, TopicId, TopicInfo};
use timeloom_msg::qos::parse_profiles;
use timeloom_msg::{Definitions, QosProfile, TypeHash, TypeName};
use timeloom_wire::{EventObserver, PublishOptions, Publisher, TopicSpec};

use super::clock_publisher::CLOCK_TOPIC;
use super::mailbox::Mailbox;
use super::notice::{Notice, Reporter};
use super::options::{ClockTrigger, Options};
use super::publisher_qos::PublisherQos;
use crate::RosNode;

/// Where the messages of one topic go.
pub(super) struct Outlet {
    /// As it is published.
    pub(super) name: String,
    pub(super) type_name: String,
    pub(super) id: TopicId,
    pub(super) publisher: Box<dyn Publisher>,
    pub(super) reliable: bool,
    /// How many messages late joiners get; 0 if the topic is not latched.
    pub(super) keeps: usize,
    /// `/clock` goes before each message.
    pub(super) triggers_clock: bool,
    /// The bag's time of the last message that was published.
    pub(super) last: Option<i64>,
    /// A refusal was told.
    pub(super) refused: bool,
}

/// All outlets, by topic of the bag.
pub(super) struct Outlets(Vec<Option<Outlet>>);

impl Outlets {
    /// Makes a publisher for each topic that is wanted; those that cannot be played are reported.
    pub(super) fn open(
        reader: &BagReader,
        node: &RosNode,
        options: &Options,
        mailbox: &Arc<Mailbox>,
        reporter: &Reporter,
    ) -> Self {
        let bell = Arc::clone(mailbox);
        let observer: EventObserver = Arc::new(move |_| bell.ring());
        let topics = reader.info().topics.iter().enumerate();
        let outlets = topics.map(|(index, topic)| {
            let id = TopicId::from_index(index)?;
            // The player's own /clock takes the place of the recorded one.
            let own_clock = options.clock.is_on() && topic.name == CLOCK_TOPIC;
            if !options.selection.takes(topic) || own_clock {
                return None;
            }
            Outlet::open(id, topic, node, options, &observer, reporter)
                .map_err(|reason| {
                    reporter.report(Notice::TopicSkipped {
                        topic: topic.name.clone(),
                        reason,
                    });
                })
                .ok()
        });
        Self(outlets.collect())
    }

    /// The outlet of a topic.
    pub(super) fn get_mut(&mut self, topic: TopicId) -> Option<&mut Outlet> {
        self.0.get_mut(topic.index())?.as_mut()
    }

    /// All outlets.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Outlet> {
        self.0.iter().flatten()
    }

    /// The topics that are played.
    pub(super) fn topics(&self) -> Vec<TopicId> {
        self.iter().map(|outlet| outlet.id).collect()
    }

    /// Names and types by topic of the bag.
    pub(super) fn names(&self) -> Vec<Option<(String, String)>> {
        let name = |outlet: &Outlet| (outlet.name.clone(), outlet.type_name.clone());
        self.0
            .iter()
            .map(|outlet| outlet.as_ref().map(name))
            .collect()
    }

    /// The latched topics and how many messages each keeps.
    pub(super) fn latched(&self) -> Vec<(TopicId, usize)> {
        let latched = self.iter().filter(|outlet| outlet.keeps > 0);
        latched.map(|outlet| (outlet.id, outlet.keeps)).collect()
    }
}

impl Outlet {
    fn open(
        id: TopicId,
        topic: &TopicInfo,
        node: &RosNode,
        options: &Options,
        observer: &EventObserver,
        reporter: &Reporter,
    ) -> Result<Self, String> {
        if topic.serialization_format != "cdr" && !topic.serialization_format.is_empty() {
            return Err(format!(
                "it is serialised as {:?}, and only cdr is published",
                topic.serialization_format
            ));
        }
        let type_name = TypeName::parse(&topic.type_name).map_err(|error| error.to_string())?;
        let name = renamed(topic, node).map_err(|error| error.to_string())?;
        let qos = qos_of(topic, &name, &options.qos_overrides, reporter);
        let spec = TopicSpec {
            type_hash: hash_of(topic, &type_name),
            name: name.clone(),
            type_name,
            qos: qos.profile,
        };
        let publisher = node
            .wire()
            .publish_observed(&spec, Arc::clone(observer))
            .map_err(|error| error.to_string())?;
        let triggers_clock = match &options.clock.before {
            ClockTrigger::None => false,
            ClockTrigger::Topics(topics) => topics.iter().any(|t| *t == topic.name || *t == name),
            ClockTrigger::All => true,
        };
        Ok(Self {
            name,
            type_name: topic.type_name.clone(),
            id,
            publisher,
            reliable: qos.is_reliable(),
            keeps: qos.keeps,
            triggers_clock,
            last: None,
            refused: false,
        })
    }

    /// Publishes a message; the first refusal of a topic is reported.
    pub(super) fn publish(&mut self, data: Bytes, reporter: &Reporter) -> bool {
        match self.publisher.publish(data, PublishOptions::default()) {
            Ok(_) => true,
            Err(error) => {
                if !std::mem::replace(&mut self.refused, true) {
                    reporter.report(Notice::PublishFailed {
                        topic: self.name.clone(),
                        reason: error.to_string(),
                    });
                }
                false
            }
        }
    }
}

/// The name to publish on, by the node's remap rules: a service gives the name of its event topic.
fn renamed(topic: &TopicInfo, node: &RosNode) -> crate::Result<String> {
    if let Some(service) = topic.service_name() {
        let to = node.resolve_service(service)?;
        if to != service {
            return Ok(timeloom_msg::name::service_event_topic(&to));
        }
    }
    node.resolve_topic(&topic.name)
}

fn qos_of(
    topic: &TopicInfo,
    name: &str,
    overrides: &BTreeMap<String, QosProfile>,
    reporter: &Reporter,
) -> PublisherQos {
    let wanted = overrides.get(name).or_else(|| overrides.get(&topic.name));
    if let Some(profile) = wanted {
        return PublisherQos::of_override(*profile);
    }
    // A profile that cannot be read is none: the default reaches most subscriptions.
    let recorded = parse_profiles(&topic.offered_qos_profiles).unwrap_or_default();
    let qos = PublisherQos::of_recorded(&recorded);
    if qos.mixed {
        reporter.report(Notice::MixedQos {
            topic: topic.name.clone(),
        });
    }
    qos
}

/// The hash of a type: as recorded, or worked out from the definition in the bag, or that of the built-in type.
fn hash_of(topic: &TopicInfo, type_name: &TypeName) -> Option<TypeHash> {
    if let Ok(hash) = topic.type_description_hash.parse() {
        return Some(hash);
    }
    let text = &topic.definition.text;
    let recorded = match topic.definition.encoding.as_str() {
        "ros2msg" if !text.is_empty() => Definitions::parse_ros2msg(type_name, text).ok(),
        "ros2idl" if !text.is_empty() => Definitions::parse_ros2idl(type_name, text).ok(),
        _ => None,
    };
    let definitions = recorded.as_ref().unwrap_or_else(|| Definitions::builtin());
    let schema = definitions.schema(&topic.type_name).ok()?;
    schema.type_hash().ok()
}
