//! Listens to `/clock`, and warns when it has more than one owner.

use std::sync::Arc;

use timeloom_msg::{Definitions, QosProfile, TypeName};
use timeloom_node::RosNode;
use timeloom_node::player::{ClockWatch, decode_clock};
use timeloom_time::{Duration, Ros, System, Time};
use timeloom_wire::queue::{Overflow, QueueLimits, SampleQueue};
use timeloom_wire::{EndpointKind, Gid, Graph, Sample, Subscription, TopicSpec};

use crate::context::Context;
use crate::live::{Live, Notices};

pub(super) const CLOCK: &str = "/clock";
const TYPE: &str = "rosgraph_msgs/msg/Clock";
/// The most samples that are queued for printing.
const LIMITS: QueueLimits = QueueLimits {
    messages: 10_000,
    bytes: 1 << 20,
};

/// A subscription of `/clock` with its queue.
pub(super) struct ClockListener {
    queue: Arc<SampleQueue>,
    notices: Notices,
    _subscription: Box<dyn Subscription>,
    _watch: ClockWatch,
    _node: RosNode,
}

/// One sample of `/clock`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tick {
    pub(super) time: Time<Ros>,
    pub(super) received: Time<System>,
    pub(super) writer: Gid,
}

impl ClockListener {
    pub(super) fn open(live: &Live) -> anyhow::Result<Self> {
        let node = RosNode::new(Arc::clone(live.participant()), live.helper("ear")?)?;
        let notices = Notices::default();
        let watch = ClockWatch::start(&node, notices.reporter())?;
        let queue = SampleQueue::new(&live.base(), LIMITS, Overflow::DropOldest);
        let schema = Definitions::builtin().schema(TYPE)?;
        let spec = TopicSpec {
            name: live.topic(CLOCK)?,
            type_name: TypeName::parse(TYPE)?,
            type_hash: schema.type_hash().ok(),
            qos: QosProfile {
                depth: 1000,
                ..QosProfile::CLOCK
            },
        };
        let subscription = live.node().subscribe(&spec, Arc::clone(&queue) as _)?;
        let waker = Arc::clone(&queue);
        live.interrupt().wakes(move || waker.nudge());
        Ok(Self {
            queue,
            notices,
            _subscription: subscription,
            _watch: watch,
            _node: node,
        })
    }

    /// The next samples, after at most `timeout`; warnings are printed.
    pub(super) fn wait(&self, timeout: Duration, context: &mut Context) -> Vec<Tick> {
        let mut samples = Vec::new();
        self.queue.wait(timeout);
        self.queue.take(&mut samples);
        self.report(context);
        samples.iter().filter_map(tick).collect()
    }

    /// Warns about more than one publisher of `/clock`.
    pub(super) fn report(&self, context: &mut Context) {
        self.notices.print(context);
    }
}

fn tick(sample: &Sample) -> Option<Tick> {
    Some(Tick {
        time: decode_clock(&sample.payload)?,
        received: sample.receive_time,
        writer: sample.writer,
    })
}

/// The nodes that publish `/clock`, by name; `clock` is its name after remapping.
pub(super) fn owners(graph: &Graph, clock: &str) -> Vec<String> {
    let publishers = graph.on(clock, EndpointKind::Publisher);
    let names = publishers.filter_map(|info| Some(info.node.as_ref()?.full()));
    let mut names: Vec<_> = names.collect();
    names.sort();
    names.dedup();
    names
}

/// Whether the node of a publisher is known.
pub(super) fn is_named(graph: &Graph, writer: &Gid) -> bool {
    let info = graph.endpoint(writer);
    info.is_some_and(|info| info.node.is_some())
}

/// The name of the node behind a publisher.
pub(super) fn owner_of(graph: &Graph, writer: &Gid) -> String {
    let node = graph.endpoint(writer).and_then(|info| info.node.as_ref());
    node.map_or_else(|| writer.to_string(), timeloom_wire::NodeName::full)
}
