//! Listens to the messages that a node publishes, on the publishing thread.

mod node;
mod publisher;

use std::sync::Arc;

use bytes::Bytes;
use timeloom_time::TimeBase;
use timeloom_wire::{Capabilities, GraphObserver, GraphWatch, Node, NodeName, Participant, Result};

use self::node::TappedNode;

/// Receives the messages of one topic; it must not block.
pub(crate) type Listener = Arc<dyn Fn(&Bytes) + Send + Sync>;

/// The listener for the messages of a topic, if any.
pub(crate) type Listeners = Arc<dyn Fn(&str) -> Option<Listener> + Send + Sync>;

/// A participant that also passes the messages of its publishers to listeners, without a subscription.
pub(crate) struct TappedParticipant {
    inner: Arc<dyn Participant>,
    listeners: Listeners,
}

impl TappedParticipant {
    pub(crate) fn new(inner: Arc<dyn Participant>, listeners: Listeners) -> Self {
        Self { inner, listeners }
    }
}

impl Participant for TappedParticipant {
    fn describe(&self) -> String {
        self.inner.describe()
    }

    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    fn time_base(&self) -> TimeBase {
        self.inner.time_base()
    }

    fn node(&self, name: NodeName) -> Result<Arc<dyn Node>> {
        let inner = self.inner.node(name)?;
        let listeners = Arc::clone(&self.listeners);
        Ok(Arc::new(TappedNode { inner, listeners }))
    }

    fn watch_graph(&self, observer: GraphObserver) -> GraphWatch {
        self.inner.watch_graph(observer)
    }
}
