//! A bare subscriber: receives what a recorder would, and drops it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use timeloom_msg::QosProfile;
use timeloom_wire::{Receiver, Sample, TopicSpec};

use super::Done;
use crate::network::{Network, NetworkArguments, wait_until};
use crate::payload::Content;

#[derive(Default)]
struct ThrowAway(AtomicU64);

impl Receiver for ThrowAway {
    fn sample(&self, _sample: Sample) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Subscribes to the topics of a load until Ctrl-C.
pub(super) fn run(topics: u64) -> anyhow::Result<Done> {
    let network = Network::join(&NetworkArguments { localhost: true })?;
    let receiver = Arc::new(ThrowAway::default());
    let schema = Content::ByteArray.schema()?;
    let mut subscriptions = Vec::new();
    for number in 1..=topics {
        let spec = TopicSpec {
            name: format!("/live_{number}"),
            type_name: schema.name().clone(),
            type_hash: schema.type_hash().ok(),
            qos: QosProfile {
                depth: 1000,
                ..QosProfile::DEFAULT
            },
        };
        subscriptions.push(network.node.subscribe(&spec, Arc::clone(&receiver) as _)?);
    }
    wait_until(&network.clock, &network.stop, || false);
    drop(subscriptions);
    Ok(Done {
        value: 0.0,
        answer: receiver.0.load(Ordering::Relaxed),
    })
}
