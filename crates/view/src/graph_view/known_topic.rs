use std::sync::Arc;

use timeloom_msg::qos::Durability;
use timeloom_msg::{QosProfile, TypeName};
use timeloom_wire::{EndpointInfo, Node, Subscription, TopicSpec, adapt_to_offers};

use super::intake::Intake;
use crate::channel::Retention;
use crate::snapshot::TopicRow;

/// Minimum history depth, so that bursts are not lost before they are taken.
const DEPTH: u64 = 1000;

/// A topic of the graph. It stays for the lifetime of the view, and so do its counts.
pub(super) struct KnownTopic {
    pub(super) name: String,
    pub(super) type_name: String,
    pub(super) intake: Arc<Intake>,
    pub(super) definition: Definition,
    /// Whether a client subscribes to it.
    pub(super) wanted: bool,
    subscription: Option<(QosProfile, Box<dyn Subscription>)>,
}

/// State of the search for a definition.
pub(super) enum Definition {
    /// The topic has no publisher.
    Idle,
    /// The search is running.
    Sought,
    Found(Arc<String>),
    /// The search failed, with the reason.
    Missing(String),
}

impl KnownTopic {
    pub(super) fn new(name: &str, type_name: &str, intake: Intake) -> Self {
        Self {
            name: name.to_owned(),
            type_name: type_name.to_owned(),
            intake: Arc::new(intake),
            definition: Definition::Idle,
            wanted: false,
            subscription: None,
        }
    }

    /// Subscribes with the strongest `QoS` that all publishers offer, again if that has changed; returns the reason
    /// when it fails.
    pub(super) fn listen(
        &mut self,
        node: &dyn Node,
        publishers: &[EndpointInfo],
    ) -> Result<(), String> {
        let qos = adapted(publishers);
        if self.subscription.as_ref().map(|(known, _)| *known) == Some(qos) {
            return Ok(());
        }
        let words = |error: &dyn std::fmt::Display| error.to_string();
        let spec = TopicSpec {
            name: self.name.clone(),
            type_name: TypeName::parse(&self.type_name).map_err(|error| words(&error))?,
            type_hash: publishers.first().and_then(|publisher| publisher.type_hash),
            qos,
        };
        self.deafen();
        let receiver = Arc::clone(&self.intake);
        let subscription = node
            .subscribe(&spec, receiver)
            .map_err(|error| words(&error))?;
        self.subscription = Some((qos, subscription));
        Ok(())
    }

    /// Unsubscribes; the counts stay.
    pub(super) fn deafen(&mut self) {
        self.subscription = None;
    }

    /// The topic as the page shows it; `lost_recorder` comes from recorders.
    pub(super) fn row(&self, lost_recorder: Option<u64>) -> TopicRow {
        let (count, bytes, lost) = self.intake.account();
        TopicRow {
            name: self.name.clone(),
            type_name: self.type_name.clone(),
            count,
            bytes,
            lost_wire: Some(lost),
            lost_recorder,
            ..TopicRow::default()
        }
    }
}

fn adapted(publishers: &[EndpointInfo]) -> QosProfile {
    let offers: Vec<QosProfile> = publishers.iter().map(|publisher| publisher.qos).collect();
    let qos = adapt_to_offers(&offers);
    QosProfile {
        depth: qos.depth.max(DEPTH),
        ..qos
    }
}

/// The messages that late clients get of a topic with these publishers.
pub(super) fn retention(publishers: &[EndpointInfo]) -> Retention {
    if adapted(publishers).durability == Durability::TransientLocal {
        Retention::Latest
    } else {
        Retention::None
    }
}
