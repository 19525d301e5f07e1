use timeloom_bag::{HostClockRecord, TopicInfo, TopicStatistics};
use timeloom_msg::qos::parse_profiles;
use timeloom_msg::{FieldProgram, StampProgram, TypeResolver, Value};

use crate::{Bounds, ClockContract, Contract, QosContract, Span, StampContract, TopicContract};

/// Writes a contract from a good recording. It reads no file and no clock.
///
/// Bounds are wider than what was seen: rates by a fifth, gaps and ages by a factor of two. Topics with less than ten
/// messages get no rate and no gap.
pub struct Learner {
    topics: Vec<TopicLearner>,
}

struct TopicLearner {
    topic: TopicInfo,
    stamp: Option<StampProgram>,
    frame: Option<FieldProgram>,
    count: u64,
    first_ns: i64,
    last_ns: i64,
    gap: i64,
    newest: i64,
    monotonic: bool,
    oldest_age: i64,
    furthest_future: i64,
    frame_id: Option<String>,
    frames_differ: bool,
}

const ENOUGH: u64 = 10;

impl Learner {
    /// A learner for these topics. A topic is known by its index from then on.
    pub fn new(topics: &[TopicInfo], resolver: &TypeResolver) -> Self {
        Self {
            topics: topics
                .iter()
                .map(|topic| TopicLearner::new(topic, resolver))
                .collect(),
        }
    }

    /// Takes a message: the index of its topic, its log time since the start of the recording, the log time itself, its
    /// payload.
    pub fn message(&mut self, topic: usize, time_ns: i64, log_time_ns: i64, payload: &[u8]) {
        if let Some(topic) = self.topics.get_mut(topic) {
            topic.message(time_ns, log_time_ns, payload);
        }
    }

    /// The contract, for a recording of this length and with these accounts.
    pub fn finish(self, duration_ns: i64, statistics: &[Option<TopicStatistics>]) -> Contract {
        let topics = self.topics.into_iter().enumerate().map(|(index, topic)| {
            let statistics = statistics.get(index).and_then(Option::as_ref);
            (
                topic.topic.name.clone(),
                topic.finish(duration_ns, statistics),
            )
        });
        Contract {
            topics: topics.collect(),
            ..Contract::default()
        }
    }
}

impl ClockContract {
    /// The worst values; `None` if the clock was not always synchronised.
    pub(crate) fn learned(history: &[HostClockRecord]) -> Option<Self> {
        if history.is_empty() || history.iter().any(|record| !record.synchronised) {
            return None;
        }
        let errors = history.iter().map(|record| record.error_ns);
        let worst = errors.collect::<Option<Vec<_>>>();
        let worst = worst.and_then(|errors| errors.into_iter().max());
        Some(Self {
            synchronised: true,
            max_error: worst.map(doubled),
            ..Self::default()
        })
    }
}

impl TopicLearner {
    fn new(topic: &TopicInfo, resolver: &TypeResolver) -> Self {
        let schema = topic.schema(resolver).ok();
        let frame = |schema| FieldProgram::compile(schema, "header.frame_id").ok();
        Self {
            stamp: schema.as_ref().and_then(StampProgram::compile),
            frame: schema.as_ref().and_then(frame),
            topic: topic.clone(),
            count: 0,
            first_ns: 0,
            last_ns: 0,
            gap: 0,
            newest: i64::MIN,
            monotonic: true,
            oldest_age: 0,
            furthest_future: 0,
            frame_id: None,
            frames_differ: false,
        }
    }

    fn message(&mut self, time_ns: i64, log_time_ns: i64, payload: &[u8]) {
        let before = if self.count == 0 { 0 } else { self.last_ns };
        if self.count == 0 {
            self.first_ns = time_ns;
        }
        self.gap = self.gap.max(time_ns.saturating_sub(before));
        self.count += 1;
        self.last_ns = time_ns;
        let stamp = self.stamp.as_ref().map(|program| program.read(payload));
        match stamp {
            Some(Ok(stamp)) => self.stamp(stamp.nanos(), log_time_ns),
            Some(Err(_)) => self.stamp = None,
            None => {}
        }
        let frame = self.frame.as_ref().map(|program| program.read(payload));
        if let Some(frame) = frame {
            let frame = frame
                .ok()
                .as_ref()
                .and_then(Value::as_str)
                .map(str::to_owned);
            self.frames_differ |= self.count > 1 && frame != self.frame_id;
            self.frame_id = frame;
        }
    }

    fn stamp(&mut self, stamp: i64, log_time_ns: i64) {
        self.monotonic &= stamp >= self.newest;
        self.newest = self.newest.max(stamp);
        let age = log_time_ns.saturating_sub(stamp);
        self.oldest_age = self.oldest_age.max(age);
        self.furthest_future = self.furthest_future.max(age.saturating_neg());
    }

    fn finish(self, duration_ns: i64, statistics: Option<&TopicStatistics>) -> TopicContract {
        let enough = self.count >= ENOUGH;
        let span = self.last_ns.saturating_sub(self.first_ns);
        let rate = (enough && span > 0).then(|| (self.count - 1) as f64 * 1e9 / span as f64);
        let gap = self.gap.max(duration_ns.saturating_sub(self.last_ns));
        let unknown = statistics.map(|statistics| &statistics.unknown);
        TopicContract {
            type_name: Some(self.topic.type_name.clone()),
            qos: self.qos(),
            optional: false,
            count: (self.count > 0).then_some(Bounds {
                min: Some(1.0),
                max: None,
            }),
            rate: rate.map(|rate| Bounds {
                min: Some(rounded(rate * 0.8)),
                max: Some(rounded(rate * 1.2)),
            }),
            max_gap: enough.then(|| doubled(gap)),
            stamps: (self.stamp.is_some() && self.count > 0).then(|| StampContract {
                monotonic: self.monotonic,
                max_age: Some(doubled(self.oldest_age)),
                max_future: Some(doubled(self.furthest_future)),
            }),
            frame_id: self.frame_id.filter(|_| !self.frames_differ),
            max_lost: statistics
                .filter(|statistics| !statistics.unknown.uncounted)
                .map(TopicStatistics::messages_lost),
            max_unknown: unknown
                .filter(|unknown| !unknown.is_open())
                .map(timeloom_bag::UnknownMessages::at_most),
            ..TopicContract::default()
        }
    }

    /// The policies that all profiles share.
    fn qos(&self) -> Option<QosContract> {
        let profiles = parse_profiles(&self.topic.offered_qos_profiles).ok()?;
        let first = profiles.first()?;
        let reliability = first.reliability.name();
        let durability = first.durability.name();
        let known = |name: &str, known: [&str; 2]| known.contains(&name).then(|| name.to_owned());
        let qos = QosContract {
            reliability: known(reliability, ["reliable", "best_effort"]).filter(|_| {
                profiles
                    .iter()
                    .all(|it| it.reliability.name() == reliability)
            }),
            durability: known(durability, ["volatile", "transient_local"])
                .filter(|_| profiles.iter().all(|it| it.durability.name() == durability)),
        };
        (qos != QosContract::default()).then_some(qos)
    }
}

/// Three significant digits.
fn rounded(number: f64) -> f64 {
    format!("{number:.2e}").parse().unwrap_or(number)
}

/// Twice as long, at least a millisecond, on whole milliseconds.
fn doubled(nanos: i64) -> Span {
    let nanos = nanos.max(0).unsigned_abs().saturating_mul(2);
    Span(nanos.div_ceil(1_000_000).max(1).saturating_mul(1_000_000))
}
