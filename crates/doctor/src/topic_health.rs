//! The state of one topic while its messages are read, in constant memory.

use timeloom_bag::Message;
use timeloom_msg::Value;

use crate::Finding;

const SECOND: i64 = 1_000_000_000;
/// A stamp this far ahead of its reception was made by another clock.
const FUTURE: i64 = SECOND / 20;
/// Stamps that are never nearer than this belong to another epoch, or to a clock that was never set.
const OFF: i64 = 10 * SECOND;
/// A silence is reported when it is this many times the usual distance of messages, and long enough to matter.
const SILENCE_PERIODS: i64 = 20;
const SILENCE: i64 = SECOND;
/// Fewer messages have no usual distance.
const REGULAR: u64 = 20;

/// The counters of one topic.
#[derive(Debug, Clone, Default)]
pub(crate) struct TopicHealth {
    pub(crate) messages: u64,
    pub(crate) undecoded: u64,
    /// Why the first of those could not be decoded.
    pub(crate) reason: Option<String>,
    first_ns: Option<i64>,
    last_ns: i64,
    /// The longest silence: its length and its start.
    silence: (i64, i64),
    /// Messages that were received before they were sent, and the worst of them.
    early: (u64, i64),
    stamps: Stamps,
}

/// The header stamps of a topic.
#[derive(Debug, Clone, Default)]
struct Stamps {
    seen: u64,
    unset: u64,
    back: u64,
    future: u64,
    /// The smallest distance between a stamp and its reception.
    nearest: Option<i64>,
    last: Option<i64>,
}

impl TopicHealth {
    /// Takes a message and its value, or the reason why it cannot be decoded.
    pub(crate) fn take(&mut self, message: &Message<'_>, value: &Result<Value, String>) {
        let now = message.log_time_ns;
        self.messages += 1;
        if self.first_ns.is_some() && now.saturating_sub(self.last_ns) > self.silence.0 {
            self.silence = (now.saturating_sub(self.last_ns), self.last_ns);
        }
        self.first_ns.get_or_insert(now);
        self.last_ns = now;
        let early = message.publish_time_ns.saturating_sub(now);
        if early > 0 {
            self.early = (self.early.0 + 1, self.early.1.max(early));
        }
        match value {
            Ok(value) => self.stamps.take(value, now),
            Err(reason) => {
                self.undecoded += 1;
                self.reason.get_or_insert_with(|| reason.clone());
            }
        }
    }

    /// Findings about time; offsets count from `start_ns`.
    ///
    /// On simulated time, log times move in the steps of `/clock` and say nothing about the sender's clock.
    pub(crate) fn check(&self, topic: &str, start_ns: i64, simulated: bool) -> Vec<Finding> {
        let mut findings = Vec::new();
        if let Some((length_ns, from)) = self.long_silence() {
            findings.push(Finding::Silence {
                topic: topic.to_owned(),
                length_ns,
                offset_ns: from.saturating_sub(start_ns),
                period_ns: self.period(),
            });
        }
        if self.early.0 > 0 && !simulated {
            findings.push(Finding::ReceivedBeforePublished {
                topic: topic.to_owned(),
                early: self.early.0,
                messages: self.messages,
                most_ns: self.early.1,
            });
        }
        findings.extend(self.stamps.check(topic, simulated));
        findings
    }

    fn period(&self) -> i64 {
        let span = self.last_ns.saturating_sub(self.first_ns.unwrap_or(0));
        let intervals = i64::try_from(self.messages.saturating_sub(1)).unwrap_or(i64::MAX);
        // The silence itself is no part of what is usual.
        span.saturating_sub(self.silence.0) / intervals.saturating_sub(1).max(1)
    }

    fn long_silence(&self) -> Option<(i64, i64)> {
        let (length, _) = self.silence;
        let long = length >= SILENCE && length / SILENCE_PERIODS >= self.period();
        (self.messages >= REGULAR && long).then_some(self.silence)
    }
}

impl Stamps {
    fn take(&mut self, value: &Value, received: i64) {
        let part = |name: &str| value.get(name).and_then(|value| value.as_i64());
        let (Some(sec), Some(nanosec)) = (part("header.stamp.sec"), part("header.stamp.nanosec"))
        else {
            return;
        };
        self.seen += 1;
        let stamp = sec.saturating_mul(SECOND).saturating_add(nanosec);
        if stamp == 0 {
            self.unset += 1;
            return;
        }
        self.back += u64::from(self.last.is_some_and(|last| stamp < last));
        self.last = Some(stamp);
        self.future += u64::from(stamp.saturating_sub(received) > FUTURE);
        let distance = stamp.saturating_sub(received).saturating_abs();
        self.nearest = Some(self.nearest.map_or(distance, |least| least.min(distance)));
    }

    fn check(&self, topic: &str, simulated: bool) -> Vec<Finding> {
        let (topic, stamped) = (topic.to_owned(), self.seen);
        let mut findings = Vec::new();
        if self.unset > 0 {
            findings.push(Finding::StampUnset {
                topic: topic.clone(),
                unset: self.unset,
                stamped,
            });
        }
        match self.nearest {
            Some(nearest_ns) if nearest_ns > OFF => findings.push(Finding::StampFarOff {
                topic: topic.clone(),
                nearest_ns,
            }),
            _ if self.future > 0 && !simulated => findings.push(Finding::StampAhead {
                topic: topic.clone(),
                ahead: self.future,
                stamped,
                tolerance_ns: FUTURE,
            }),
            _ => {}
        }
        if self.back > 0 {
            findings.push(Finding::StampGoesBack {
                topic,
                times: self.back,
            });
        }
        findings
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use timeloom_bag::TopicId;
    use timeloom_msg::{Definitions, Distro};

    /// A header with this stamp, received at `at`, both in milliseconds.
    fn take(health: &mut TopicHealth, at: i64, stamp: i64, sent: i64) {
        let schema = Definitions::builtin_of(Distro::default())
            .schema("sensor_msgs/msg/Imu")
            .unwrap();
        let mut value = schema.default_value().unwrap();
        value
            .set("header.stamp.sec", i32::try_from(stamp / 1000).unwrap())
            .unwrap();
        let rest = u32::try_from(stamp % 1000).unwrap() * 1_000_000;
        value.set("header.stamp.nanosec", rest).unwrap();
        let message = Message {
            topic: TopicId::from_index(0).unwrap(),
            log_time_ns: at * 1_000_000,
            publish_time_ns: sent * 1_000_000,
            sequence: 0,
            data: &[],
        };
        health.take(&message, &Ok(value));
    }

    #[test]
    fn a_healthy_topic_has_no_findings() {
        let mut health = TopicHealth::default();
        for n in 0..100 {
            let sent = 99_999 + n * 10;
            take(&mut health, 100_000 + n * 10, sent, sent);
        }
        assert_eq!(health.check("/imu", 0, false), []);
    }

    #[test]
    fn a_silence_is_found_with_its_start() {
        let mut health = TopicHealth::default();
        for n in 0..100 {
            let at = 100_000 + n * 10 + if n >= 50 { 3_000 } else { 0 };
            take(&mut health, at, at, at);
        }
        let silence = Finding::Silence {
            topic: "/imu".into(),
            length_ns: 3_010_000_000,
            offset_ns: 1_490_000_000,
            period_ns: 10_000_000,
        };
        assert_eq!(health.check("/imu", 99_000 * 1_000_000, false), [silence]);
    }

    #[test]
    fn stamps_of_another_clock_are_found() {
        let topic = || "/imu".to_owned();
        let mut unset = TopicHealth::default();
        take(&mut unset, 100_000, 0, 100_000);
        let expected = Finding::StampUnset {
            topic: topic(),
            unset: 1,
            stamped: 1,
        };
        assert_eq!(unset.check("/imu", 0, false), [expected]);
        let mut off = TopicHealth::default();
        take(&mut off, 100_000, 5, 100_000);
        let expected = Finding::StampFarOff {
            topic: topic(),
            nearest_ns: 99_995 * 1_000_000,
        };
        assert_eq!(off.check("/imu", 0, false), [expected]);
        let mut ahead = TopicHealth::default();
        take(&mut ahead, 100_000, 100_100, 100_000);
        take(&mut ahead, 100_010, 100_000, 100_010);
        let expected = [
            Finding::StampAhead {
                topic: topic(),
                ahead: 1,
                stamped: 2,
                tolerance_ns: FUTURE,
            },
            Finding::StampGoesBack {
                topic: topic(),
                times: 1,
            },
        ];
        assert_eq!(ahead.check("/imu", 0, false), expected);
    }

    #[test]
    fn messages_received_before_they_were_published_are_found() {
        let mut health = TopicHealth::default();
        take(&mut health, 100_000, 100_000, 100_007);
        let early = Finding::ReceivedBeforePublished {
            topic: "/imu".into(),
            early: 1,
            messages: 1,
            most_ns: 7_000_000,
        };
        assert_eq!(health.check("/imu", 0, false), [early]);
        assert_eq!(health.check("/imu", 0, true), []);
    }
}
