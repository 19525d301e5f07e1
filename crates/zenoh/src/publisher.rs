use std::sync::{Arc, Mutex};
use std::time::Duration as StdDuration;

use bytes::Bytes;
use timeloom_msg::QosProfile;
use timeloom_msg::qos::{Durability, History, Reliability};
use timeloom_time::Duration;
use timeloom_wire::{
    EndpointKind, Error, EventObserver, Gid, PublishOptions, Publisher, Result, TopicSpec,
};
use zenoh::qos::{CongestionControl, Reliability as ZenohReliability};
use zenoh::{Session, Wait as _};
use zenoh_ext::{
    AdvancedPublisher, AdvancedPublisherBuilderExt as _, CacheConfig, MissDetectionConfig,
};

use crate::attachment::Attachment;
use crate::node::{AnnouncedEndpoint, NodeCore, topic_route};
use crate::payload::ENCAPSULATION;
use crate::session_call::call;
use crate::shared::{TRANSPORT, refused};
use timeloom_wire::backend::lock;

pub(crate) struct ZenohPublisher {
    // Dropped first: peers see the endpoint leave before it stops.
    announced: Option<AnnouncedEndpoint>,
    gid: Gid,
    writer: Writer,
    topic: String,
    /// The number of the last sample; held while one is sent, so that numbers and samples have one order.
    last: Mutex<i64>,
}

/// Plain for volatile, with a cache for transient local.
enum Writer {
    Plain(zenoh::pubsub::Publisher<'static>),
    Latched(Box<AdvancedPublisher<'static>>),
}

/// Interval at which a reliable, transient local publisher announces its last number, as in `rmw_zenoh`.
const HEARTBEAT: StdDuration = StdDuration::from_millis(500);
/// The longest message that receivers accept, by the configuration of `rmw_zenoh`.
const LONGEST: usize = 1 << 30;

impl ZenohPublisher {
    pub(crate) fn new(
        node: &Arc<NodeCore>,
        topic: &TopicSpec,
        observer: EventObserver,
    ) -> Result<Self> {
        let plan = node.plan(EndpointKind::Publisher, topic_route(topic)?, &topic.qos);
        let failed = |error| refused(format!("publish on `{}`", topic.name), error);
        let shared = &node.shared;
        let key = plan.end.route.key(shared.domain);
        let writer = call(|| Writer::new(shared.session(), key, &plan.end.qos)).map_err(failed)?;
        Ok(Self {
            gid: plan.gid,
            announced: Some(plan.announce(false, observer).map_err(failed)?),
            writer,
            topic: topic.name.clone(),
            last: Mutex::default(),
        })
    }

    fn check(&self, payload: &Bytes) -> Result<()> {
        let length = payload.len();
        if length < ENCAPSULATION {
            return Err(Error::NoEncapsulation {
                topic: self.topic.clone(),
                length,
            });
        }
        if length > LONGEST {
            let action = format!("publish {length} bytes on `{}`", self.topic);
            return Err(refused(
                action,
                format_args!("a message has {LONGEST} at most"),
            ));
        }
        Ok(())
    }
}

impl Publisher for ZenohPublisher {
    fn gid(&self) -> Gid {
        self.gid
    }

    fn publish(&self, payload: Bytes, options: PublishOptions) -> Result<Option<u64>> {
        self.check(&payload)?;
        let now = || {
            self.announced
                .as_ref()
                .map(|announced| announced.shared().clock.now())
        };
        let time = options.source_time.or_else(now);
        let mut last = lock(&self.last);
        let attachment = Attachment {
            sequence: *last + 1,
            source_time: time.map_or(0, timeloom_time::Time::nanos),
            gid: self.gid,
        };
        call(|| self.writer.put(payload, &attachment))
            .map_err(|error| refused(format!("publish on `{}`", self.topic), error))?;
        *last = attachment.sequence;
        Ok(u64::try_from(attachment.sequence).ok())
    }

    /// Zenoh sends all data by itself, and batches while the network is busy.
    fn flush(&self) -> Result<()> {
        Ok(())
    }

    fn wait_for_acknowledgements(&self, _: Duration) -> Result<bool> {
        Err(Error::Unsupported {
            transport: TRANSPORT,
            feature: "acknowledgements",
        })
    }

    fn matched(&self) -> usize {
        self.announced
            .as_ref()
            .map_or(0, AnnouncedEndpoint::matched)
    }
}

impl Drop for ZenohPublisher {
    fn drop(&mut self) {
        self.announced.take();
    }
}

impl Writer {
    fn new(session: &Session, key: String, qos: &QosProfile) -> zenoh::Result<Self> {
        let reliable = qos.reliability == Reliability::Reliable;
        let block = reliable && qos.history == History::KeepAll;
        let builder = session
            .declare_publisher(key)
            .reliability(if reliable {
                ZenohReliability::Reliable
            } else {
                ZenohReliability::BestEffort
            })
            .congestion_control(if block {
                CongestionControl::Block
            } else {
                CongestionControl::Drop
            });
        if qos.durability != Durability::TransientLocal {
            return Ok(Self::Plain(builder.wait()?));
        }
        let depth = usize::try_from(qos.depth).unwrap_or(usize::MAX);
        let mut builder = builder
            .cache(CacheConfig::default().max_samples(depth))
            .publisher_detection();
        if reliable {
            let detection = MissDetectionConfig::default().sporadic_heartbeat(HEARTBEAT);
            builder = builder.sample_miss_detection(detection);
        }
        Ok(Self::Latched(Box::new(builder.wait()?)))
    }

    fn put(&self, payload: Bytes, attachment: &Attachment) -> zenoh::Result<()> {
        let attachment = attachment.encode();
        match self {
            Self::Plain(publisher) => publisher.put(payload).attachment(attachment).wait(),
            Self::Latched(publisher) => publisher.put(payload).attachment(attachment).wait(),
        }
    }
}
