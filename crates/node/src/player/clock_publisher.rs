use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use timeloom_msg::qos::QosDuration;
use timeloom_msg::{Definitions, QosProfile, TypeName};
use timeloom_time::{
    BaseThread, CancelToken, Clock, Duration, PlayerClock, Rate, Ros, Steady, Time, WaitOptions,
};
use timeloom_wire::backend::lock;
use timeloom_wire::{PublishOptions, Publisher, TopicSpec};

use super::clock_jumps::JumpLog;
use super::clock_message::{self, LATEST, encode_clock};
use super::clock_samples::SampleId;
use super::listeners::Offer;
use super::notice::{Notice, Reporter};
use super::suspend_detector::{SuspendDetector, Suspension};
use crate::{Result, RosNode};

/// The topic of time.
pub(super) const CLOCK_TOPIC: &str = "/clock";
/// The offered deadline in periods: samples that are a little late must not break it.
const PERIODS: i64 = 2;

/// Publishes the player's time on `/clock`.
pub(super) struct ClockPublisher {
    publisher: Box<dyn Publisher>,
    topic: TopicSpec,
    clock: Arc<dyn PlayerClock>,
    reporter: Reporter,
    /// The number of the last sample. Held from reading the clock to sending: the ticker and the playback thread must not
    /// overtake each other.
    last_sample: Mutex<u64>,
    beyond_reported: AtomicBool,
    jumps: JumpLog,
}

impl ClockPublisher {
    /// Offers a deadline from the period, if there is one, unless the user chose the `QoS`.
    pub(super) fn new(
        node: &RosNode,
        clock: &Arc<dyn PlayerClock>,
        qos: Option<QosProfile>,
        period: Option<Duration>,
        reporter: &Reporter,
    ) -> Result<Self> {
        let schema = Definitions::builtin().schema(clock_message::TYPE)?;
        node.register_type(&Arc::new(schema));
        let qos = qos.unwrap_or(QosProfile {
            deadline: period.map_or(QosDuration::UNSPECIFIED, deadline),
            ..QosProfile::CLOCK
        });
        let topic = clock_topic(node, qos)?;
        Ok(Self {
            publisher: node.wire().publish(&topic)?,
            topic,
            clock: Arc::clone(clock),
            reporter: reporter.clone(),
            last_sample: Mutex::default(),
            beyond_reported: AtomicBool::new(false),
            jumps: JumpLog::new(node)?,
        })
    }

    /// Whether the offered deadline is kept with that period.
    pub(super) fn keeps_deadline(&self, period: Duration) -> bool {
        let limit = self.topic.qos.deadline.limit();
        limit.is_none_or(|limit| i128::from(limit) >= i128::from(period.nanos()))
    }

    /// Its topic and subscriptions.
    pub(super) fn offer(&self) -> Offer {
        Offer::Topic {
            name: self.topic.name.clone(),
            type_name: self.topic.type_name.to_string(),
            qos: self.topic.qos,
        }
    }

    /// Number of matched subscriptions.
    pub(super) fn matched(&self) -> usize {
        self.publisher.matched()
    }

    /// Publishes the current time. `/clock` is best effort: the next sample makes up for one that failed.
    pub(super) fn publish(&self) {
        let mut last_sample = self.last_sample();
        let now = self.clock.now();
        self.send(now, &mut last_sample);
        drop(last_sample);
        if now > LATEST && !self.beyond_reported.swap(true, Ordering::Relaxed) {
            self.reporter.report(Notice::ClockBeyondRange {
                clock_ns: now.nanos(),
            });
        }
    }

    fn last_sample(&self) -> MutexGuard<'_, u64> {
        lock(&self.last_sample)
    }

    fn send(&self, now: Time<Ros>, last_sample: &mut u64) {
        let sent = self
            .publisher
            .publish(encode_clock(now), PublishOptions::default());
        if let Ok(Some(number)) = sent {
            *last_sample = number;
        }
    }

    /// Logs that a stopped clock will jump, and publishes the time that it leaves. The next sample must be the one
    /// after the jump: by the little steady time between the two, followers see that time was moved.
    pub(super) fn announce_jump(&self, to: Time<Ros>) {
        let mut last_sample = self.last_sample();
        let now = self.clock.now();
        self.log_jump(*last_sample + 1, (now, to));
        self.send(now, &mut last_sample);
    }

    /// Logs that the clock will jump while it is not published.
    pub(super) fn log_unpublished_jump(&self, to: Time<Ros>) {
        let last_sample = self.last_sample();
        self.log_jump(*last_sample, (self.clock.now(), to));
    }

    fn log_jump(&self, sequence: u64, (from, to): (Time<Ros>, Time<Ros>)) {
        let writer = self.publisher.gid();
        let last = SampleId { writer, sequence };
        self.jumps.add(last, (from.nanos(), to.nanos()));
    }

    /// Moves the clock by `jump` to another time. The time before and the time after are both published exactly, so
    /// that followers know every message that is due.
    pub(super) fn around_jump(&self, to: Time<Ros>, jump: impl FnOnce()) {
        let runs = !self.clock.is_paused();
        // Only a controlled clock is published, and it accepts every control.
        if runs {
            let _paused = self.clock.pause();
        }
        self.announce_jump(to);
        jump();
        self.publish();
        if runs {
            let _resumed = self.clock.resume();
        }
    }
}

fn deadline(period: Duration) -> QosDuration {
    let nanos = period.nanos().saturating_mul(PERIODS);
    QosDuration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
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

/// Publishes `/clock` each period until dropped, also while the player's time is stopped.
pub(super) struct Ticker {
    token: CancelToken,
    detector: Arc<Mutex<SuspendDetector>>,
    thread: Option<BaseThread<()>>,
}

impl Ticker {
    /// Publishes the time at once, on this thread: exactly the time of a clock that does not run yet.
    pub(super) fn start(
        publisher: &Arc<ClockPublisher>,
        period: Duration,
    ) -> std::io::Result<Self> {
        publisher.publish();
        let token = CancelToken::new();
        let options = WaitOptions::new().cancel(&token);
        let publisher = Arc::clone(publisher);
        let base = publisher.clock.clock().base().clone();
        let clock = Clock::<Steady>::on(&base);
        let detector = SuspendDetector::new(period, clock.now().nanos());
        let detector = Arc::new(Mutex::new(detector));
        let ticked = Arc::clone(&detector);
        let thread = base.spawn("clock publisher", move || {
            let Ok(mut rate) = Rate::new(&clock, period) else {
                return;
            };
            while rate.sleep_with(&options).is_ok() {
                lock(&ticked).tick(clock.now().nanos());
                publisher.publish();
            }
        })?;
        Ok(Self {
            token,
            detector,
            thread: Some(thread),
        })
    }

    /// The last suspension of this process, until other participants have rediscovered it.
    pub(super) fn suspension(&self, now: Time<Steady>) -> Option<Suspension> {
        lock(&self.detector).current(now.nanos())
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.token.cancel();
        if let Some(thread) = self.thread.take() {
            // A panic there is a bug that its test finds; there is nothing left to do here.
            drop(thread.join());
        }
    }
}

/// The highest frequency of `/clock`, in hertz.
const MOST_HERTZ: f64 = 10_000.0;

/// The period of a frequency; `None` for 0 or less, which turns `/clock` off.
pub(super) fn period_of(hertz: f64) -> std::result::Result<Option<Duration>, super::Refusal> {
    let refused = super::Refusal::ClockFrequency { hertz };
    if hertz.is_nan() || hertz > MOST_HERTZ {
        return Err(refused);
    }
    if hertz <= 0.0 {
        return Ok(None);
    }
    let period = Duration::try_from_hertz(hertz);
    period.map(Some).map_err(|_reason| refused)
}

/// The frequency of a period; 0 for none.
pub(super) fn hertz_of(period: Option<Duration>) -> f64 {
    period.map_or(0.0, |period| 1.0 / period.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_deadline_leaves_room_for_a_late_sample() {
        let period = Duration::from_millis(25);
        assert_eq!(
            deadline(period),
            QosDuration {
                sec: 0,
                nsec: 50_000_000
            }
        );
    }

    #[test]
    fn frequencies_are_checked() {
        assert_eq!(period_of(0.0), Ok(None));
        assert_eq!(period_of(-3.0), Ok(None));
        assert_eq!(period_of(40.0), Ok(Some(Duration::from_millis(25))));
        for hertz in [f64::NAN, f64::INFINITY, 1e9] {
            assert!(period_of(hertz).is_err(), "{hertz}");
        }
        assert!((hertz_of(Some(Duration::from_millis(25))) - 40.0).abs() < 1e-9);
        assert!(hertz_of(None).abs() < f64::EPSILON);
    }

    #[test]
    fn only_times_after_2038_are_out_of_the_range_of_the_message() {
        let last = Time::<Ros>::from_nanos(2_147_483_647_999_999_999);
        assert_eq!(LATEST, last);
    }
}
