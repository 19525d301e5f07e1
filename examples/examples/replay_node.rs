//! A node to test with a bag: it multiplies the points of `/in` by `FACTOR` (2) and publishes them on `/out`, on simulated
//! time.
//!
//! `timeloom replay-test` plays a bag to it and compares what it answers:
//!
//! ```yaml
//! bag: points
//! command: [cargo, run, --example, replay_node, -p, timeloom-examples]
//! outputs: [/out]
//! expected: expected
//! ```

use std::error::Error;
use std::sync::{Arc, Mutex};

use timeloom_dds::{DdsParticipant, Options};
use timeloom_msg::{Definitions, QosProfile, Schema, TypeName};
use timeloom_node::{NodeOptions, RosNode};
use timeloom_time::{Clock, Duration, Steady};
use timeloom_wire::{PublishOptions, Publisher, Receiver, Sample, TopicSpec};

const POINT: &str = "geometry_msgs/msg/PointStamped";

/// Publishes each point again, with its stamp.
struct Multiplier {
    schema: Schema,
    publisher: Mutex<Box<dyn Publisher>>,
    factor: f64,
}

impl Multiplier {
    /// The answer to a message; `None` if it cannot be decoded.
    fn answer(&self, payload: &[u8]) -> Option<Vec<u8>> {
        let mut value = self.schema.decode(payload).ok()?;
        let x = value.get("point.x")?.as_f64()?;
        value.set("point.x", x * self.factor).ok()?;
        self.schema.encode(&value).ok()
    }
}

impl Receiver for Multiplier {
    fn sample(&self, sample: Sample) {
        let Some(answer) = self.answer(&sample.payload) else {
            return;
        };
        if let Ok(publisher) = self.publisher.lock() {
            // A message that the middleware refuses is missing in the test.
            let _sent = publisher.publish(answer.into(), PublishOptions::default());
        }
    }
}

/// Runs until the process is stopped, a day at most.
pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let factor = std::env::var("FACTOR").map_or(Ok(2.0), |text| text.parse())?;
    let participant = Arc::new(DdsParticipant::new(&Options::from_environment()?)?);
    let options = NodeOptions {
        use_sim_time: true,
        ..NodeOptions::new("multiplier")
    };
    let node = RosNode::new(participant, options)?;
    let schema = Definitions::builtin().schema(POINT)?;
    let spec = |topic: &str| -> Result<TopicSpec, Box<dyn Error>> {
        Ok(TopicSpec {
            name: node.resolve_topic(topic)?,
            type_name: TypeName::parse(POINT)?,
            type_hash: schema.type_hash().ok(),
            qos: QosProfile::DEFAULT,
        })
    };
    let multiplier = Multiplier {
        publisher: Mutex::new(node.wire().publish(&spec("/out")?)?),
        schema: schema.clone(),
        factor,
    };
    let _subscription = node.wire().subscribe(&spec("/in")?, Arc::new(multiplier))?;
    // The middleware calls the receiver meanwhile.
    let _woke = Clock::<Steady>::new().sleep_for(Duration::from_secs(24 * 3600));
    Ok(())
}
