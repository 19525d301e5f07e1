use std::sync::Arc;

use timeloom_msg::{Definitions, QosProfile, TypeName};
use timeloom_time::{
    BaseThread, CancelToken, Clock, Duration, PlayerClock, Rate, Steady, WaitOptions,
};
use timeloom_wire::{PublishOptions, Publisher, TopicSpec};

use super::clock_message::{self, encode_clock};
use crate::{Result, RosNode};

/// Where time is published.
pub(super) const CLOCK_TOPIC: &str = "/clock";

/// Publishes the player's time on `/clock`.
pub(super) struct ClockPublisher {
    publisher: Box<dyn Publisher>,
    clock: Arc<dyn PlayerClock>,
}

impl ClockPublisher {
    pub(super) fn new(
        node: &RosNode,
        clock: &Arc<dyn PlayerClock>,
        qos: Option<QosProfile>,
    ) -> Result<Self> {
        let schema = Definitions::builtin().schema(clock_message::TYPE)?;
        node.register_type(&Arc::new(schema));
        let publisher = node
            .wire()
            .publish(&clock_topic(node, qos.unwrap_or(QosProfile::CLOCK))?)?;
        Ok(Self {
            publisher,
            clock: Arc::clone(clock),
        })
    }

    /// Publishes the time that it is now. `/clock` is best effort: the next sample makes up for one that failed.
    pub(super) fn publish(&self) {
        let payload = encode_clock(self.clock.now());
        let _sent = self.publisher.publish(payload, PublishOptions::default());
    }
}

/// The topic `/clock`.
pub(super) fn clock_topic(node: &RosNode, qos: QosProfile) -> Result<TopicSpec> {
    let schema = Definitions::builtin().schema(clock_message::TYPE)?;
    Ok(TopicSpec {
        name: node.resolve_topic(CLOCK_TOPIC)?,
        type_name: TypeName::parse(clock_message::TYPE)?,
        type_hash: Some(schema.type_hash()?),
        qos,
    })
}

/// Publishes `/clock` again and again until dropped, whatever the player's time does.
pub(super) struct Ticker {
    token: CancelToken,
    thread: Option<BaseThread<()>>,
}

impl Ticker {
    pub(super) fn start(
        publisher: &Arc<ClockPublisher>,
        period: Duration,
    ) -> std::io::Result<Self> {
        let token = CancelToken::new();
        let options = WaitOptions::new().cancel(&token);
        let publisher = Arc::clone(publisher);
        let base = publisher.clock.clock().base().clone();
        let thread = base.clone().spawn("clock publisher", move || {
            let clock = Clock::<Steady>::on(&base);
            let Ok(mut rate) = Rate::new(&clock, period) else {
                return;
            };
            loop {
                publisher.publish();
                if rate.sleep_with(&options).is_err() {
                    return;
                }
            }
        })?;
        Ok(Self {
            token,
            thread: Some(thread),
        })
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.token.cancel();
        if let Some(thread) = self.thread.take() {
            // A panic there is a bug that its test finds; here there is nothing left to do.
            drop(thread.join());
        }
    }
}
