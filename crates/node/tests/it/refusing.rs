//! A transport that accepts everything except the messages of some topics.

use std::sync::Arc;

use bytes::Bytes;
use timeloom_time::{Duration, TimeBase};
use timeloom_wire::{
    Capabilities, Error, EventObserver, Gid, GraphObserver, GraphWatch, Node, NodeName,
    Participant, PublishOptions, Publisher, Receiver, ReplyReceiver, RequestHandler, Result,
    ServiceClient, ServiceServer, ServiceSpec, Subscription, TopicSpec,
};

/// Publishers of topics with this suffix refuse every message.
pub(crate) struct Refusing {
    pub(crate) inner: Arc<dyn Participant>,
    pub(crate) suffix: &'static str,
}

impl Participant for Refusing {
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
        Ok(Arc::new(RefusingNode {
            inner: self.inner.node(name)?,
            suffix: self.suffix,
        }))
    }

    fn watch_graph(&self, observer: GraphObserver) -> GraphWatch {
        self.inner.watch_graph(observer)
    }
}

struct RefusingNode {
    inner: Arc<dyn Node>,
    suffix: &'static str,
}

impl Node for RefusingNode {
    fn name(&self) -> &NodeName {
        self.inner.name()
    }

    fn publish_observed(
        &self,
        topic: &TopicSpec,
        observer: EventObserver,
    ) -> Result<Box<dyn Publisher>> {
        let inner = self.inner.publish_observed(topic, observer)?;
        if !topic.name.ends_with(self.suffix) {
            return Ok(inner);
        }
        Ok(Box::new(RefusingPublisher(inner)))
    }

    fn subscribe(
        &self,
        topic: &TopicSpec,
        receiver: Arc<dyn Receiver>,
    ) -> Result<Box<dyn Subscription>> {
        self.inner.subscribe(topic, receiver)
    }

    fn serve(
        &self,
        service: &ServiceSpec,
        handler: Arc<dyn RequestHandler>,
    ) -> Result<Box<dyn ServiceServer>> {
        self.inner.serve(service, handler)
    }

    fn client(
        &self,
        service: &ServiceSpec,
        receiver: Arc<dyn ReplyReceiver>,
    ) -> Result<Box<dyn ServiceClient>> {
        self.inner.client(service, receiver)
    }
}

struct RefusingPublisher(Box<dyn Publisher>);

impl Publisher for RefusingPublisher {
    fn gid(&self) -> Gid {
        self.0.gid()
    }

    fn publish(&self, _payload: Bytes, _options: PublishOptions) -> Result<Option<u64>> {
        Err(Error::Refused {
            transport: "test",
            action: "publish".into(),
            reason: "it is full".into(),
        })
    }

    fn flush(&self) -> Result<()> {
        self.0.flush()
    }

    fn wait_for_acknowledgements(&self, timeout: Duration) -> Result<bool> {
        self.0.wait_for_acknowledgements(timeout)
    }

    fn matched(&self) -> usize {
        self.0.matched()
    }
}
