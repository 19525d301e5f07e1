use std::sync::Arc;

use timeloom_time::TimeBase;

use super::member::Target;
use super::node::LoopbackNode;
use super::shared::Shared;
use crate::capabilities::Capabilities;
use crate::error::Result;
use crate::graph::{GraphObserver, GraphWatch};
use crate::node_name::NodeName;
use crate::participant::{Node, Participant};

/// A participant's presence; leaves when the last handle, node and endpoint is dropped.
pub(super) struct Presence {
    pub(super) shared: Arc<Shared>,
    pub(super) id: u32,
}

impl Drop for Presence {
    fn drop(&mut self) {
        self.shared.with(|state, _| state.leave(self.id));
    }
}

pub(super) struct LoopbackParticipant {
    presence: Arc<Presence>,
    label: String,
}

impl LoopbackParticipant {
    pub(super) fn join(shared: &Arc<Shared>, label: &str) -> Result<Self> {
        let id = shared.join(label)?;
        let presence = Presence {
            shared: Arc::clone(shared),
            id,
        };
        Ok(Self {
            presence: Arc::new(presence),
            label: label.to_owned(),
        })
    }
}

impl Participant for LoopbackParticipant {
    fn describe(&self) -> String {
        format!("loopback in this process, participant `{}`", self.label)
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            sequence_numbers: true,
            source_times: true,
            type_hashes: true,
            deadlines: true,
            liveliness: true,
            acknowledgements: true,
        }
    }

    fn time_base(&self) -> TimeBase {
        self.presence.shared.base.clone()
    }

    fn node(&self, name: NodeName) -> Result<Arc<dyn Node>> {
        Ok(Arc::new(LoopbackNode::new(&self.presence, name)))
    }

    fn watch_graph(&self, observer: GraphObserver) -> GraphWatch {
        let observer = Arc::new(observer);
        let shared = Arc::clone(&self.presence.shared);
        let id = self.presence.id;
        let (number, replay) = shared.with(|state, _| state.watch(id, Arc::clone(&observer)));
        for event in replay {
            observer(&event);
        }
        shared.with(|state, _| state.replayed(id, number));
        GraphWatch::new(move || {
            shared.end(Target::Watcher(number), id, |state, _| {
                state.unwatch(id, number)
            });
        })
    }
}
