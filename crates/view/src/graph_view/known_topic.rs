use std::sync::Arc;

use timeloom_msg::qos::Durability;
use timeloom_msg::{QosProfile, TypeName};
use timeloom_wire::{EndpointInfo, Node, Subscription, TopicSpec, adapt_to_offers};

use super::intake::Intake;
use crate::channel::Retention;
use crate::snapshot::TopicRow;

/// The history that is asked for at least: bursts must not be lost before they are taken.
const DEPTH: u64 = 1000;

/// A topic of the graph, for as long as the view lasts: its counts stay when its publishers go.
pub(super) struct KnownTopic {
    pub(super) name: String,
    pub(super) type_name: String,
    pub(super) intake: Arc<Intake>,
    pub(super) definition: Definition,
    /// Whether a client wants its messages.
    pub(super) wanted: bool,
    subscription: Option<(QosProfile, Box<dyn Subscription>)>,
}

/// How far the search for a definition is.
pub(super) enum Definition {
    /// It has no publisher.
    Idle,
    /// It is looked for.
    Sought,
    Found(Arc<String>),
    /// It was not found; why.
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

    /// Listens with the strongest `QoS` that all publishers offer, anew if that has changed; says why it cannot.
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

    /// Listens no more; what was counted stays.
    pub(super) fn deafen(&mut self) {
        self.subscription = None;
    }

    /// The topic as the page shows it; `lost_recorder` is what recorders say.
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

/// What late clients get of a topic with these publishers.
pub(super) fn retention(publishers: &[EndpointInfo]) -> Retention {
    if adapted(publishers).durability == Durability::TransientLocal {
        Retention::Latest
    } else {
        Retention::None
    }
}
