use std::sync::{Arc, Mutex};

use timeloom_msg::QosProfile;
use timeloom_trace::{InputSet, MatchRule, Synchronizer};
use timeloom_wire::Sample;
use timeloom_wire::backend::lock;

use super::node::TrackedNode;
use super::subscription::TrackedSubscription;
use crate::Result;

/// Subscriptions whose messages are joined by their stamps. Dropping it ends them.
///
/// The tag of a message made of a match names exactly the messages of that match, however many newer ones arrived.
#[derive(Debug)]
pub struct TrackedSynchronizer {
    subscriptions: Vec<TrackedSubscription>,
    joint: Arc<Mutex<Synchronizer<Sample>>>,
}

pub(super) type Callback = Arc<dyn Fn(&[Sample], &InputSet) + Send + Sync>;

impl TrackedSynchronizer {
    pub(super) fn new(
        node: &TrackedNode,
        topics: &[(&str, &str)],
        qos: QosProfile,
        (depth, rule): (usize, MatchRule),
        callback: &Callback,
    ) -> Result<Self> {
        let joint = Arc::new(Mutex::new(Synchronizer::new(topics.len(), depth, rule)));
        let subscriptions = topics
            .iter()
            .enumerate()
            .map(|(place, (topic, type_name))| {
                let (joint, callback) = (Arc::clone(&joint), Arc::clone(callback));
                node.create_tracked_subscription(topic, type_name, qos, move |message| {
                    let matched = {
                        let mut joint = lock(&joint);
                        joint.add(place, message.used(), message.sample().clone())
                    };
                    if let Some(matched) = matched {
                        callback(&matched.messages, &matched.inputs);
                    }
                })
            });
        Ok(Self {
            subscriptions: subscriptions.collect::<Result<_>>()?,
            joint,
        })
    }

    /// Number of messages of each topic without a match.
    pub fn unmatched(&self) -> Vec<u64> {
        let joint = lock(&self.joint);
        joint.unmatched().to_vec()
    }

    /// The subscriptions, in the order of the topics.
    pub fn subscriptions(&self) -> &[TrackedSubscription] {
        &self.subscriptions
    }
}
