use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use timeloom_bag::{BagReader, StorageReader as _, TopicId, TopicInfo};
use timeloom_msg::name::action_of;
use timeloom_msg::qos::parse_profiles;
use timeloom_msg::{QosProfile, Schema, TypeHash, TypeName, TypeResolver};
use timeloom_wire::{EventObserver, PublishOptions, Publisher, TopicSpec};

use super::clock_publisher::CLOCK_TOPIC;
use super::listeners::Offer;
use super::mailbox::Mailbox;
use super::notice::{Notice, Reporter};
use super::options::{ClockTrigger, Options, RequestSource, ServiceReplay, TimeSituation};
use super::publisher_qos::PublisherQos;
use super::requests::Requests;
use super::status::SkippedTopic;
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
    /// Whether the first message waits for its subscriptions, if it waits for any.
    pub(super) wait: SubscriptionWait,
}

/// Whether subscriptions are waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SubscriptionWait {
    Wanted,
    None,
}

impl SubscriptionWait {
    fn of(topic: &TopicInfo, options: &Options) -> Self {
        if options.waited_for.takes(topic) {
            Self::Wanted
        } else {
            Self::None
        }
    }
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

/// All outlets.
pub(super) struct Outlets {
    /// By topic of the bag.
    by_topic: Vec<Option<Outlet>>,
    /// The topics that were to be played and cannot be.
    pub(super) skipped: Vec<SkippedTopic>,
}

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
        let info = reader.info();
        let types = options.types.for_distro(&info.ros_distro);
        let mut outlets = Self {
            by_topic: Vec::with_capacity(info.topics.len()),
            skipped: Vec::new(),
        };
        for (index, topic) in info.topics.iter().enumerate() {
            let id = TopicId::from_index(index).filter(|_| {
                options.selection.takes(topic)
                    && !is_another_clock(topic, node, options)
                    && !is_servers_word(topic, options)
                    && !is_left_out(topic, options, reporter)
            });
            let outlet =
                id.map(|id| Outlet::open(id, topic, (node, &types), options, &observer, reporter));
            let outlet = match outlet {
                Some(Err(reason)) => {
                    let messages = info.message_counts.get(index).copied().unwrap_or(0);
                    outlets.skip(topic, messages, reason, reporter);
                    None
                }
                outlet => outlet.and_then(Result::ok),
            };
            outlets.by_topic.push(outlet);
        }
        outlets
    }

    fn skip(&mut self, topic: &TopicInfo, messages: u64, reason: String, reporter: &Reporter) {
        reporter.report(Notice::TopicSkipped {
            topic: topic.name.clone(),
            messages,
            reason: reason.clone(),
        });
        self.skipped.push(SkippedTopic {
            name: topic.name.clone(),
            type_name: topic.type_name.clone(),
            messages,
            reason,
        });
    }

    /// The outlet of a topic.
    pub(super) fn get_mut(&mut self, topic: TopicId) -> Option<&mut Outlet> {
        self.by_topic.get_mut(topic.index())?.as_mut()
    }

    /// All outlets.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Outlet> {
        self.by_topic.iter().flatten()
    }

    /// The topics that are played.
    pub(super) fn topics(&self) -> Vec<TopicId> {
        self.iter().map(|outlet| outlet.id).collect()
    }

    /// Names and types by topic of the bag.
    pub(super) fn names(&self) -> Vec<Option<(String, String)>> {
        let name = |outlet: &Outlet| (outlet.name.clone(), outlet.type_name.clone());
        self.by_topic
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
        (node, types): (&RosNode, &TypeResolver),
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
        let schema = topic.schema(types);
        if let Some(source) = called_again(topic, options) {
            let requests = Requests::open(topic, schema.as_ref(), node, source)?;
            return Ok(Self::calling(id, topic, requests, options));
        }
        let type_name = TypeName::parse(&topic.type_name).map_err(|error| error.to_string())?;
        let name = renamed(topic, node).map_err(|error| error.to_string())?;
        let qos = qos_of(topic, &name, &options.qos_overrides, reporter);
        // What has no definition is played all the same: payloads are not looked into.
        let hash = hash_of(topic, schema.as_ref().ok());
        let spec = TopicSpec {
            type_hash: hash,
            name: name.clone(),
            type_name,
            qos: qos.profile,
        };
        let publisher = node
            .wire()
            .publish_observed(&spec, Arc::clone(observer))
            .map_err(|error| error.to_string())?;
        if let Ok(schema) = &schema {
            describe(node, schema, hash);
        }
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
            wait: SubscriptionWait::of(topic, options),
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
            wait: SubscriptionWait::of(topic, options),
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

/// Whether a topic would be a second `/clock`: beside the player's own, or beside the one that it follows.
fn is_another_clock(topic: &TopicInfo, node: &RosNode, options: &Options) -> bool {
    let one_is_there = options.clock.is_on() || options.time != TimeSituation::Controlled;
    let clock = node.resolve_topic(CLOCK_TOPIC).ok();
    let is_clock = topic.name == CLOCK_TOPIC || renamed(topic, node).ok() == clock;
    one_is_there && is_clock
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

/// The hash of a type: as recorded, or that of the layout.
fn hash_of(topic: &TopicInfo, schema: Option<&Schema>) -> Option<TypeHash> {
    let recorded = topic.type_description_hash.parse();
    recorded.ok().or_else(|| schema?.type_hash().ok())
}

/// Has the node describe a type that it publishes, and the service whose events it publishes.
///
/// A layout with another hash than the recorded one is not described: peers ask by hash.
fn describe(node: &RosNode, schema: &Schema, hash: Option<TypeHash>) {
    if schema.type_hash().ok() != hash {
        return;
    }
    node.register_type(&Arc::new(schema.clone()));
    let interface = schema.name().interface();
    if interface != *schema.name()
        && let Ok(interface) = schema.related(&interface.to_string())
    {
        node.register_type(&Arc::new(interface));
    }
}
