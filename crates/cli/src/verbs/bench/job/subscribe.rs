//! A bare subscriber: receives what a recorder would, and keeps nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use timeloom_msg::QosProfile;
use timeloom_time::{Duration, WaitOptions};
use timeloom_wire::{Receiver, Sample, TopicSpec};

use super::Done;
use crate::context::Context;
use crate::live::{Live, LiveArguments};
use crate::verbs::bench::payload::Content;

#[derive(Default)]
struct ThrowAway(AtomicU64);

impl Receiver for ThrowAway {
    fn sample(&self, _sample: Sample) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Listens to so many topics of a load until Ctrl-C.
pub(super) fn run(topics: u64, context: &mut Context) -> anyhow::Result<Done> {
    let live = Live::join(&LiveArguments::local(), context)?;
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
        subscriptions.push(live.node().subscribe(&spec, Arc::clone(&receiver) as _)?);
    }
    let options = WaitOptions::new().cancel(live.interrupt().token());
    while !live.interrupt().happened() {
        let _woke = live
            .clock()
            .sleep_for_with(Duration::from_secs(60), &options);
    }
    drop(subscriptions);
    Ok(Done {
        value: 0.0,
        answer: receiver.0.load(Ordering::Relaxed),
    })
}
