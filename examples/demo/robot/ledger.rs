//! Writes down every message that the robot publishes. It sits in the robot's process, where nothing is lost.

use std::sync::Arc;

use timeloom_msg::qos::History;
use timeloom_msg::{Definitions, QosProfile, Value};
use timeloom_pf::simulator::SimulatedClock;
use timeloom_testkit::transport::Collector;
use timeloom_time::{Clock, Steady, System};
use timeloom_wire::{Node, NodeName, Participant, Subscription, TopicSpec};

use super::pipeline::Pipeline;
use crate::Failure;
use crate::truth::{Published, TOPICS, Truth, stamp_of};

const PACKETS: (&str, &str) = ("/r2000_header", "pf_interfaces/msg/PFR2000Header");

/// Hears everything.
pub(crate) struct Ledger {
    _node: Arc<dyn Node>,
    heard: Vec<Heard>,
}

struct Heard {
    topic: &'static str,
    type_name: &'static str,
    messages: Arc<Collector>,
    _subscription: Box<dyn Subscription>,
}

impl Ledger {
    pub(crate) fn new(participant: &Arc<dyn Participant>) -> Result<Self, Failure> {
        let node = participant.node(NodeName::new("/", "ledger")?)?;
        let listen = |(topic, type_name): (&'static str, &'static str)| {
            let messages = Collector::new();
            let spec = TopicSpec {
                name: topic.to_owned(),
                type_name: type_name.parse()?,
                type_hash: None,
                qos: QosProfile {
                    history: History::KeepAll,
                    ..QosProfile::SENSOR_DATA
                },
            };
            Ok(Heard {
                topic,
                type_name,
                _subscription: node.subscribe(&spec, Arc::clone(&messages) as _)?,
                messages,
            })
        };
        let heard = TOPICS.into_iter().chain([PACKETS]).map(listen);
        Ok(Self {
            heard: heard.collect::<Result<_, Failure>>()?,
            _node: node,
        })
    }

    /// All that was published, with what the simulated clock and the pipeline know of it.
    pub(crate) fn truth(
        &self,
        device: &SimulatedClock,
        pipeline: &Pipeline,
    ) -> Result<Truth, Failure> {
        let firsts = self.first_points(device)?;
        let mut truth = Truth::default();
        for (topic, _) in TOPICS {
            let mut published = Vec::new();
            for message in self.values(topic)? {
                let stamp_ns = stamp_of(&message).ok_or("a message without a stamp")?;
                let truth_ns = match topic {
                    "/scan" => nearest(&firsts, stamp_ns),
                    "/plan" => pipeline.latency_of(stamp_ns),
                    _ => None,
                };
                published.push(Published { stamp_ns, truth_ns });
            }
            truth.published.insert(topic.to_owned(), published);
        }
        Ok(truth)
    }

    /// When the first points of the scans were really measured, by the system clock.
    fn first_points(&self, device: &SimulatedClock) -> Result<Vec<i64>, Failure> {
        let system = Clock::<System>::new().now().nanos() - Clock::<Steady>::new().now().nanos();
        let packets = self.values(PACKETS.0)?;
        let first = |packet: &&Value| packet.get("header.packet_number") == Some(Value::Uint16(1));
        let raw = |packet: &Value| packet.get("timestamp_raw").and_then(|raw| raw.as_u64());
        let firsts = packets.iter().filter(first).filter_map(raw);
        Ok(firsts
            .map(|raw| device.host_of(raw).nanos() + system)
            .collect())
    }

    fn values(&self, topic: &str) -> Result<Vec<Value>, Failure> {
        let Some(heard) = self.heard.iter().find(|heard| heard.topic == topic) else {
            return Ok(Vec::new());
        };
        let schema = Definitions::builtin().schema(heard.type_name)?;
        let samples = heard.messages.samples();
        let values = samples.iter().map(|sample| schema.decode(&sample.payload));
        Ok(values.collect::<Result<_, _>>()?)
    }
}

/// The value next to another; the list is in order.
fn nearest(values: &[i64], wanted: i64) -> Option<i64> {
    let after = values.partition_point(|value| *value < wanted);
    let around = values.get(after.saturating_sub(1)..values.len().min(after + 1))?;
    around
        .iter()
        .copied()
        .min_by_key(|value| (value - wanted).abs())
}
