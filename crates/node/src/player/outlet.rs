use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use timeloom_bag::{BagReader, StorageReader as _, TopicId, TopicInfo};
use timeloom_msg::name::action_of;
use timeloom_msg::qos::parse_profiles;
use timeloom_msg::{Definitions, QosProfile, TypeHash, TypeName};
use timeloom_wire::{EventObserver, PublishOptions, Publisher, TopicSpec};

use super::clock_publisher::CLOCK_TOPIC;
use super::listeners::Offer;
use super::mailbox::Mailbox;
use super::notice::{Notice, Reporter};
use super::options::{ClockTrigger, Options, RequestSource, ServiceReplay};
use super::publisher_qos::PublisherQos;
use super::requests::Requests;
use crate::RosNode;

/// Where the messages of one topic go.
pub(super) struct Outlet {
    /// As it is published.
    pub(super) name: String,
    pub(super) type_name: String,
    pub(super) id: TopicId,
    way: Way,
    qos: QosProfile,
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

/// How messages go out.
enum Way {
    /// As they are.
    Publish(Box<dyn Publisher>),
    /// As calls of a service.
    Call(Requests),
}

/// What became of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sent {
    /// It went out.
    Yes,
    /// It was refused.
    No,
    /// It is not meant to go out: an answer among the events of a service that is called again.
    NotMeant,
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
            if !options.selection.takes(topic)
                || own_clock
                || is_servers_word(topic, options)
                || is_left_out(topic, options, reporter)
            {
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
        if let Some(source) = called_again(topic, options) {
            let requests = Requests::open(topic, node, source)?;
            return Ok(Self::calling(id, topic, requests, options));
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
        Ok(Self {
            triggers_clock: triggers_clock(options, &[&topic.name, &name]),
            name,
            type_name: topic.type_name.clone(),
            id,
            way: Way::Publish(publisher),
            qos: qos.profile,
            reliable: qos.is_reliable(),
            keeps: qos.keeps,
            last: None,
            refused: false,
        })
    }

    fn calling(id: TopicId, topic: &TopicInfo, requests: Requests, options: &Options) -> Self {
        Self {
            name: requests.service.clone(),
            type_name: topic.service_type().unwrap_or_default().to_owned(),
            id,
            triggers_clock: triggers_clock(options, &[&topic.name, &requests.service]),
            way: Way::Call(requests),
            qos: QosProfile::SERVICES,
            reliable: true,
            keeps: 0,
            last: None,
            refused: false,
        }
    }

    /// How many take its messages: subscriptions, or servers.
    pub(super) fn matched(&self) -> usize {
        match &self.way {
            Way::Publish(publisher) => publisher.matched(),
            Way::Call(requests) => requests.servers(),
        }
    }

    /// What it sends to whom.
    pub(super) fn offer(&self) -> Offer {
        match &self.way {
            Way::Publish(_) => Offer::Topic {
                name: self.name.clone(),
                type_name: self.type_name.clone(),
                qos: self.qos,
            },
            Way::Call(_) => Offer::Service {
                name: self.name.clone(),
            },
        }
    }

    /// What calls a service; none if messages are published.
    pub(super) fn requests(&self) -> Option<&Requests> {
        match &self.way {
            Way::Publish(_) => None,
            Way::Call(requests) => Some(requests),
        }
    }

    /// Its publisher; none if messages go out as calls.
    pub(super) fn publisher(&self) -> Option<&dyn Publisher> {
        match &self.way {
            Way::Publish(publisher) => Some(&**publisher),
            Way::Call(_) => None,
        }
    }

    /// Publishes a message; the first refusal of a topic is reported.
    pub(super) fn publish(&mut self, data: Bytes, reporter: &Reporter) -> Sent {
        let notice = match &self.way {
            Way::Publish(publisher) => match publisher.publish(data, PublishOptions::default()) {
                Ok(_) => return Sent::Yes,
                Err(error) => Notice::PublishFailed {
                    topic: self.name.clone(),
                    reason: error.to_string(),
                },
            },
            Way::Call(requests) => match requests.send(&data) {
                Ok(true) => return Sent::Yes,
                Ok(false) => return Sent::NotMeant,
                Err(reason) => Notice::RequestDropped {
                    service: self.name.clone(),
                    reason,
                },
            },
        };
        if !std::mem::replace(&mut self.refused, true) {
            reporter.report(notice);
        }
        Sent::No
    }
}

fn triggers_clock(options: &Options, names: &[&str]) -> bool {
    match &options.clock.before {
        ClockTrigger::None => false,
        ClockTrigger::Topics(topics) => topics.iter().any(|topic| names.contains(&topic.as_str())),
        ClockTrigger::All => true,
    }
}

/// Whose events of a topic are calls to be made again; none if the topic is published.
fn called_again(topic: &TopicInfo, options: &Options) -> Option<RequestSource> {
    topic.service_name()?;
    let replay = if action_of(&topic.name).is_some() {
        options.actions
    } else {
        options.services
    };
    match replay {
        ServiceReplay::AsEvents => None,
        ServiceReplay::AsRequests(source) => Some(source),
    }
}

/// Whether a topic is left out because recorders of the peers' distribution would fail on its type; reports it.
fn is_left_out(topic: &TopicInfo, options: &Options, reporter: &Reporter) -> bool {
    let lacking = options.peers.filter(|distro| {
        distro.lacks(&topic.type_name) && !options.named_topics.contains(&topic.name)
    });
    if let Some(distro) = lacking {
        reporter.report(Notice::LeftOut {
            topic: topic.name.clone(),
            type_name: topic.type_name.clone(),
            distro,
        });
    }
    lacking.is_some()
}

/// Whether a topic is what a recorded action server said, while goals are sent to another one.
fn is_servers_word(topic: &TopicInfo, options: &Options) -> bool {
    options.actions != ServiceReplay::AsEvents
        && action_of(&topic.name).is_some_and(|(_, part)| !part.is_service())
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
