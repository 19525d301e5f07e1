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
use super::options::{ClockMode, ClockTrigger, Options, RequestSource, ServiceReplay};
use super::publisher_qos::PublisherQos;
use super::requests::Requests;
use super::status::SkippedTopic;
use crate::RosNode;

/// The output of one topic: a publisher, or a client.
pub(super) struct Output {
    /// The published name.
    pub(super) name: String,
    pub(super) type_name: String,
    pub(super) id: TopicId,
    sink: Sink,
    qos: QosProfile,
    pub(super) reliable: bool,
    /// Number of messages for late joiners; 0 if the topic is not latched.
    pub(super) keeps: usize,
    /// `/clock` is published before each message.
    pub(super) triggers_clock: bool,
    /// The bag's time of the last message that was published.
    pub(super) last: Option<i64>,
    /// A refusal was reported.
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

/// The way of sending messages.
enum Sink {
    /// Published unchanged.
    Publish(Box<dyn Publisher>),
    /// As requests of a service.
    Call(Requests),
}

/// The result of sending a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sent {
    /// It was sent.
    Yes,
    /// It was refused.
    No,
    /// It is not to be sent: a response among the events of a service that is called again.
    Ignored,
}

/// All outputs.
pub(super) struct Outputs {
    /// By topic of the bag.
    by_topic: Vec<Option<Output>>,
    /// Selected topics that cannot be played.
    pub(super) skipped: Vec<SkippedTopic>,
}

impl Outputs {
    /// Creates a publisher for each selected topic; topics that cannot be played are reported.
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
        let mut outputs = Self {
            by_topic: Vec::with_capacity(info.topics.len()),
            skipped: Vec::new(),
        };
        for (index, topic) in info.topics.iter().enumerate() {
            let id = TopicId::from_index(index).filter(|_| {
                options.selection.takes(topic)
                    && !is_another_clock(topic, node, options)
                    && !is_of_action_server(topic, options)
                    && !is_left_out(topic, options, reporter)
            });
            let output =
                id.map(|id| Output::open(id, topic, (node, &types), options, &observer, reporter));
            let output = match output {
                Some(Err(reason)) => {
                    let messages = info.message_counts.get(index).copied().unwrap_or(0);
                    outputs.skip(topic, messages, reason, reporter);
                    None
                }
                output => output.and_then(Result::ok),
            };
            outputs.by_topic.push(output);
        }
        outputs
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

    /// The output of a topic.
    pub(super) fn get_mut(&mut self, topic: TopicId) -> Option<&mut Output> {
        self.by_topic.get_mut(topic.index())?.as_mut()
    }

    /// The bag's time of the last message that was published on a topic.
    pub(super) fn last_time(&self, topic: TopicId) -> Option<i64> {
        self.by_topic.get(topic.index())?.as_ref()?.last
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Output> {
        self.by_topic.iter().flatten()
    }

    /// The topics that are played.
    pub(super) fn topics(&self) -> Vec<TopicId> {
        self.iter().map(|output| output.id).collect()
    }

    /// Names and types by topic of the bag.
    pub(super) fn names(&self) -> Vec<Option<(String, String)>> {
        let name = |output: &Output| (output.name.clone(), output.type_name.clone());
        self.by_topic
            .iter()
            .map(|output| output.as_ref().map(name))
            .collect()
    }

    /// The latched topics and the number of messages that each keeps.
    pub(super) fn latched(&self) -> Vec<(TopicId, usize)> {
        let latched = self.iter().filter(|output| output.keeps > 0);
        latched.map(|output| (output.id, output.keeps)).collect()
    }
}

impl Output {
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
                "unsupported serialization format {:?}: only cdr can be published",
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
        // Publishing needs no definition: payloads are not decoded.
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
            sink: Sink::Publish(publisher),
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
            sink: Sink::Call(requests),
            qos: QosProfile::SERVICES,
            reliable: true,
            keeps: 0,
            last: None,
            refused: false,
            wait: SubscriptionWait::of(topic, options),
        }
    }

    /// The number of matched subscriptions, or servers.
    pub(super) fn matched(&self) -> usize {
        match &self.sink {
            Sink::Publish(publisher) => publisher.matched(),
            Sink::Call(requests) => requests.servers(),
        }
    }

    /// The description for matching subscriptions and servers.
    pub(super) fn offer(&self) -> Offer {
        match &self.sink {
            Sink::Publish(_) => Offer::Topic {
                name: self.name.clone(),
                type_name: self.type_name.clone(),
                qos: self.qos,
            },
            Sink::Call(_) => Offer::Service {
                name: self.name.clone(),
            },
        }
    }

    /// The service client; `None` if messages are published.
    pub(super) fn requests(&self) -> Option<&Requests> {
        match &self.sink {
            Sink::Publish(_) => None,
            Sink::Call(requests) => Some(requests),
        }
    }

    /// The publisher; `None` if messages are sent as requests.
    pub(super) fn publisher(&self) -> Option<&dyn Publisher> {
        match &self.sink {
            Sink::Publish(publisher) => Some(&**publisher),
            Sink::Call(_) => None,
        }
    }

    /// Publishes a message; the first refusal of a topic is reported.
    pub(super) fn publish(&mut self, data: Bytes, reporter: &Reporter) -> Sent {
        let notice = match &self.sink {
            Sink::Publish(publisher) => match publisher.publish(data, PublishOptions::default()) {
                Ok(_) => return Sent::Yes,
                Err(error) => Notice::PublishFailed {
                    topic: self.name.clone(),
                    reason: error.to_string(),
                },
            },
            Sink::Call(requests) => match requests.send(&data) {
                Ok(true) => return Sent::Yes,
                Ok(false) => return Sent::Ignored,
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
    let one_is_there = options.clock.is_on() || options.time != ClockMode::Controlled;
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

/// The source of the requests to send again; `None` if the topic is published.
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

/// Whether a topic was published by a recorded action server, while goals are sent to another one.
fn is_of_action_server(topic: &TopicInfo, options: &Options) -> bool {
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
    // An invalid profile is ignored: the default reaches most subscriptions.
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

/// Registers a type that is published, and the service whose events are published, with the node's type service.
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
