//! The bare library: sessions, publishers, subscribers and tokens of the crate `zenoh`, without our code.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use zenoh::liveliness::LivelinessToken;
use zenoh::pubsub::{Publisher, Subscriber};
use zenoh::qos::CongestionControl;
use zenoh::{Config, Session, Wait as _};

use timeloom_testkit::transport::Arrivals;

pub(crate) struct Bare(Session);

impl Bare {
    /// A peer that looks for others at the endpoint only.
    pub(crate) fn new(endpoint: &str) -> Self {
        let config = format!(
            r#"{{
                mode: "peer",
                connect: {{ endpoints: ["{endpoint}"] }},
                listen: {{ endpoints: ["tcp/127.0.0.1:0"] }},
                scouting: {{ multicast: {{ enabled: false }} }},
                timestamping: {{ enabled: true }},
            }}"#
        );
        let config = Config::from_json5(&config).expect("a configuration");
        Self(zenoh::open(config).wait().expect("a session"))
    }

    pub(crate) fn publisher(&self, key: &str) -> Publisher<'static> {
        let publisher = self.0.declare_publisher(key.to_owned());
        let publisher = publisher.congestion_control(CongestionControl::Block);
        publisher.wait().expect("a publisher")
    }

    pub(crate) fn subscriber(&self, key: &str, arrivals: &Arc<Arrivals>) -> Subscriber<()> {
        let arrivals = Arc::clone(arrivals);
        let subscriber = self.0.declare_subscriber(key.to_owned());
        let subscriber = subscriber.callback(move |sample| {
            // In one piece, as every reader needs it.
            arrivals.sample(sample.payload().to_bytes().len());
            arrivals.pause();
        });
        subscriber.wait().expect("a subscriber")
    }

    pub(crate) fn tokens(&self, keys: impl Iterator<Item = String>) -> Vec<LivelinessToken> {
        let declare = |key: String| self.0.liveliness().declare_token(key).wait();
        keys.map(declare)
            .collect::<zenoh::Result<_>>()
            .expect("tokens")
    }

    /// Counts tokens as they arrive.
    pub(crate) fn count_tokens(&self, key: &str) -> (Subscriber<()>, Arc<AtomicUsize>) {
        let count = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&count);
        let liveliness = self.0.liveliness();
        let subscriber = liveliness.declare_subscriber(key.to_owned()).history(true);
        let subscriber = subscriber.callback(move |_| {
            counted.fetch_add(1, Ordering::Relaxed);
        });
        (subscriber.wait().expect("a subscriber"), count)
    }
}

/// Sends with the attachment of every ROS message, here always the same.
pub(crate) fn put(publisher: &Publisher<'_>, payload: &Bytes, attachment: Option<[u8; 33]>) {
    let put = publisher.put(payload.clone());
    match attachment {
        Some(attachment) => put.attachment(attachment).wait(),
        None => put.wait(),
    }
    .expect("a sample is sent");
}
