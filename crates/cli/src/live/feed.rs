//! The samples of one topic as they come, with an account of what did not.

use std::sync::Arc;

use clap::Args;
use timeloom_msg::{QosProfile, TypeHash, TypeName};
use timeloom_text::counted;
use timeloom_time::{Clock, Duration, Ros};
use timeloom_wire::queue::{CountedQueue, QueueLimits, ReceivedAccount};
use timeloom_wire::{
    EndpointEvent, EndpointInfo, EndpointKind, Graph, Receiver, Sample, Subscription, TopicSpec,
    adapt_to_offers,
};

use crate::context::Context;
use crate::failure::Failure;
use crate::live::{Live, QosArguments, TypeFinder};

/// The most samples that are queued for printing.
const LIMITS: QueueLimits = QueueLimits {
    messages: 50_000,
    bytes: 256 << 20,
};
/// Minimum history depth, so that bursts are not lost before they are taken.
const DEPTH: u64 = 1000;

/// Which topic to listen to.
#[derive(Debug, Args)]
pub(crate) struct FeedArguments {
    /// The topic
    #[arg(value_name = "TOPIC")]
    topic: String,
    /// Its type, such as `std_msgs/msg/String`; if given, waits for a topic that does not exist yet
    #[arg(value_name = "TYPE")]
    type_name: Option<String>,
    #[command(flatten)]
    qos: QosArguments,
}

/// Time limits of a feed.
#[derive(Default)]
pub(crate) struct FeedTimes {
    /// The clock of reception times, zero while it has no time; default: the machine.
    pub(crate) clock: Option<Clock<Ros>>,
    /// Time to wait for a topic; without a limit if `None`.
    pub(crate) patience: Option<Duration>,
}

/// A subscription with its queue.
pub(crate) struct Feed {
    pub(crate) topic: String,
    /// A publisher of the topic, for the layout of its messages.
    pub(crate) publisher: EndpointInfo,
    queue: Arc<CountedQueue>,
    qos: QosProfile,
    _subscription: Box<dyn Subscription>,
}

impl Feed {
    /// Subscribes with the strongest `QoS` that all publishers offer. `None` when interrupted before there was a
    /// publisher.
    pub(crate) fn open(
        arguments: &FeedArguments,
        live: &Live,
        context: &mut Context,
    ) -> anyhow::Result<Option<Self>> {
        Self::open_timed(arguments, live, FeedTimes::default(), context)
    }

    /// The same with its own time limits; `None` also on timeout.
    pub(crate) fn open_timed(
        arguments: &FeedArguments,
        live: &Live,
        times: FeedTimes,
        context: &mut Context,
    ) -> anyhow::Result<Option<Self>> {
        let topic = live.topic(&arguments.topic)?;
        let wanted = arguments
            .type_name
            .as_deref()
            .map(TypeName::parse)
            .transpose()?;
        let wanted = wanted.map(|name| name.to_string());
        let is_there = |graph: &Graph| !publishers(graph, &topic, wanted.as_deref()).is_empty();
        if !live.look_for(is_there) {
            let graph = live.graph();
            let Some(wanted) = &wanted else {
                return Err(not_published(live, &graph, &topic).into());
            };
            let text = format!("waiting for a publisher of {topic}");
            context.printer.aside(&text);
            // Some publish only once a subscription is in the graph.
            let _request = live
                .node()
                .subscribe(&request(&topic, wanted)?, Arc::new(Discard))?;
            if !live.wait_for(times.patience, is_there) {
                return Ok(None);
            }
        }
        // Others may offer less than the first.
        let found = publishers(&live.settled_endpoints(), &topic, wanted.as_deref());
        let Some(publisher) = found.first().cloned() else {
            return Err(Failure::new(format!("the publisher of {topic} is gone")).into());
        };
        let queue = CountedQueue::new(&live.base(), LIMITS, times.clock);
        let mut spec = spec(&topic, &found, &publisher)?;
        spec.qos = arguments.qos.over(spec.qos);
        let subscription = live.node().subscribe(&spec, Arc::clone(&queue) as _)?;
        let waiting = Arc::clone(&queue);
        live.interrupt().wakes(move || waiting.nudge());
        Ok(Some(Self {
            topic,
            publisher,
            queue,
            qos: spec.qos,
            _subscription: subscription,
        }))
    }

    /// Blocks for samples or until `timeout`; moves them to the end of `samples`. Nothing is taken after Ctrl-C.
    pub(crate) fn wait(&self, samples: &mut Vec<Sample>, timeout: Duration) -> usize {
        self.queue.wait(samples, timeout)
    }

    /// Says what happened besides samples.
    pub(crate) fn report_events(&self, context: &mut Context) {
        for event in self.queue.take_events() {
            if let EndpointEvent::IncompatibleQos { policy, .. } = event {
                let text = format!(
                    "a publisher of {} offers weaker QoS than requested ({policy}): its messages are not received; \
                     without QoS flags, the QoS that all publishers offer is used",
                    self.topic
                );
                context.printer.warning(&text);
            }
        }
    }

    /// The `QoS` of the subscription: the strongest that all publishers offer.
    pub(crate) const fn qos(&self) -> QosProfile {
        self.qos
    }

    pub(crate) fn account(&self) -> ReceivedAccount {
        self.queue.account()
    }

    /// Says what is missing, if anything is.
    pub(crate) fn report_loss(&self, context: &mut Context) -> bool {
        let account = self.account();
        if account.lost_in_transport > 0 {
            let lost = counted(account.lost_in_transport, "message");
            context
                .printer
                .loss(&format!("{lost} of {} lost in transport", self.topic));
        }
        if account.dropped > 0 {
            let dropped = counted(account.dropped, "message");
            let text = format!(
                "{dropped} of {} dropped here: the output was too slow",
                self.topic
            );
            context.printer.loss(&text);
        }
        account.is_lossy()
    }
}

/// Drops messages that arrive before the publishers' `QoS` is known.
struct Discard;

impl Receiver for Discard {
    fn sample(&self, _sample: Sample) {}
}

/// A subscription that fits every publisher.
fn request(topic: &str, type_name: &str) -> anyhow::Result<TopicSpec> {
    Ok(TopicSpec {
        name: topic.to_owned(),
        type_name: TypeName::parse(type_name)?,
        type_hash: known_hash(type_name),
        qos: adapt_to_offers(&[]),
    })
}

fn publishers(graph: &Graph, topic: &str, type_name: Option<&str>) -> Vec<EndpointInfo> {
    graph
        .on(topic, EndpointKind::Publisher)
        .filter(|endpoint| type_name.is_none_or(|name| endpoint.type_name == name))
        .cloned()
        .collect()
}

fn spec(
    topic: &str,
    found: &[EndpointInfo],
    publisher: &EndpointInfo,
) -> anyhow::Result<TopicSpec> {
    let mut types: Vec<&str> = found
        .iter()
        .map(|endpoint| endpoint.type_name.as_str())
        .collect();
    types.sort_unstable();
    types.dedup();
    if types.len() > 1 {
        let text = format!("{topic} has {} types: {}", types.len(), types.join(", "));
        return Err(Failure::new(text)
            .hint("give the type after the topic")
            .into());
    }
    let offers: Vec<QosProfile> = found.iter().map(|endpoint| endpoint.qos).collect();
    let qos = adapt_to_offers(&offers);
    Ok(TopicSpec {
        name: topic.to_owned(),
        type_name: TypeName::parse(&publisher.type_name)?,
        type_hash: publisher
            .type_hash
            .or_else(|| known_hash(&publisher.type_name)),
        qos: QosProfile {
            depth: qos.depth.max(DEPTH),
            ..qos
        },
    })
}

/// ROS nodes complain about endpoints without a hash, so one is announced for publishers outside of ROS.
fn known_hash(type_name: &str) -> Option<TypeHash> {
    let schema = TypeFinder::new().by_name(type_name).ok()?;
    schema.type_hash().ok()
}

fn not_published(live: &Live, graph: &Graph, topic: &str) -> Failure {
    if graph.on(topic, EndpointKind::Subscription).next().is_some() {
        let hint = "give the type after the topic to wait for a publisher";
        return Failure::new(format!("{topic} has subscriptions but no publisher")).hint(hint);
    }
    live.missing(
        "topic",
        topic,
        graph.topics().into_iter().map(|(name, _)| name),
    )
}
