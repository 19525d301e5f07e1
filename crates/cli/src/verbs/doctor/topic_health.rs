//! What can be seen of one topic while its messages go by, in constant memory.

use timeloom_bag::Message;
use timeloom_msg::Value;

const SECOND: i64 = 1_000_000_000;
/// A stamp this far ahead of its reception was made by another clock.
const FUTURE: i64 = SECOND / 20;
/// Stamps that are never nearer than this belong to another epoch, or to a clock that nobody set.
const OFF: i64 = 10 * SECOND;
/// A silence is told when it is this many times the usual distance of messages, and long enough to matter.
const SILENCE_PERIODS: i64 = 20;
const SILENCE: i64 = SECOND;
/// Fewer messages have no usual distance.
const REGULAR: u64 = 20;

/// The account of one topic.
#[derive(Debug, Clone, Default)]
pub(super) struct TopicHealth {
    pub(super) messages: u64,
    pub(super) undecoded: u64,
    /// Why the first of those could not be decoded.
    pub(super) reason: Option<String>,
    first_ns: Option<i64>,
    last_ns: i64,
    /// The longest silence: its length and its start.
    silence: (i64, i64),
    /// Messages that were received before they were sent, and the worst of them.
    early: (u64, i64),
    stamps: Stamps,
}

/// What the stamps of a topic say.
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
    /// Takes a message and its value, or the reason why it has none.
    pub(super) fn take(&mut self, message: &Message<'_>, value: &Result<Value, String>) {
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

    /// What is worth a look, in words; times count from `start_ns`.
    ///
    /// On simulated time, log times move in the steps of `/clock` and say nothing about the sender's clock.
    pub(super) fn advice(&self, start_ns: i64, simulated: bool) -> Vec<String> {
        let mut advice = Vec::new();
        if let Some((length, from)) = self.long_silence() {
            advice.push(format!(
                "silent for {} from {}, where a message came every {}",
                seconds(length),
                offset(from, start_ns),
                seconds(self.period())
            ));
        }
        if self.early.0 > 0 && !simulated {
            advice.push(format!(
                "{} of {} messages were received before they were sent (by up to {}): the clocks of sender and \
                 recorder differ, synchronise them with chrony or PTP",
                self.early.0,
                self.messages,
                seconds(self.early.1)
            ));
        }
        advice.extend(self.stamps.advice(simulated));
        advice
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

    fn advice(&self, simulated: bool) -> Vec<String> {
        let mut advice = Vec::new();
        if self.unset > 0 {
            advice.push(format!(
                "{} of {} messages have no time in header.stamp: the driver must set it",
                self.unset, self.seen
            ));
        }
        match self.nearest {
            Some(nearest) if nearest > OFF => advice.push(format!(
                "header.stamp is never nearer than {} to the reception: another epoch or an unset clock, see \
                 `timeloom sync retime --help`",
                seconds(nearest)
            )),
            _ if self.future > 0 && !simulated => advice.push(format!(
                "{} of {} messages are stamped more than {} after they were received: the sender's clock is ahead",
                self.future,
                self.seen,
                seconds(FUTURE)
            )),
            _ => {}
        }
        if self.back > 0 {
            advice.push(format!(
                "header.stamp goes back {} times: two publishers, a clock that was set, or a loop",
                self.back
            ));
        }
        advice
    }
}

/// A duration for people, with as many digits as matter.
fn seconds(ns: i64) -> String {
    let value = ns as f64 / 1e9;
    if value >= 1.0 {
        format!("{value:.1} s")
    } else {
        format!("{:.1} ms", value * 1e3)
    }
}

fn offset(at: i64, start_ns: i64) -> String {
    format!("+{:.1}s", at.saturating_sub(start_ns) as f64 / 1e9)
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
    fn a_healthy_topic_has_no_advice() {
        let mut health = TopicHealth::default();
        for n in 0..100 {
            take(
                &mut health,
                100_000 + n * 10,
                99_999 + n * 10,
                99_999 + n * 10,
            );
        }
        assert_eq!(health.advice(0, false), [""; 0]);
    }

    #[test]
    fn a_silence_is_told_with_its_place() {
        let mut health = TopicHealth::default();
        for n in 0..100 {
            let at = 100_000 + n * 10 + if n >= 50 { 3_000 } else { 0 };
            take(&mut health, at, at, at);
        }
        let advice = health.advice(99_000 * 1_000_000, false);
        assert_eq!(
            advice,
            ["silent for 3.0 s from +1.5s, where a message came every 10.0 ms"]
        );
    }

    #[test]
    fn stamps_of_another_clock_are_told() {
        let mut unset = TopicHealth::default();
        take(&mut unset, 100_000, 0, 100_000);
        assert!(unset.advice(0, false)[0].starts_with("1 of 1 messages have no time"));
        let mut off = TopicHealth::default();
        take(&mut off, 100_000, 5, 100_000);
        assert!(off.advice(0, false)[0].starts_with("header.stamp is never nearer than 100.0 s"));
        let mut ahead = TopicHealth::default();
        take(&mut ahead, 100_000, 100_100, 100_000);
        take(&mut ahead, 100_010, 100_000, 100_010);
        let advice = ahead.advice(0, false);
        assert!(advice[0].starts_with("1 of 2 messages are stamped more than 50.0 ms after"));
        assert!(advice[1].starts_with("header.stamp goes back 1 times"));
    }

    #[test]
    fn what_came_before_it_was_sent_is_told() {
        let mut health = TopicHealth::default();
        take(&mut health, 100_000, 100_000, 100_007);
        assert!(
            health.advice(0, false)[0].contains("received before they were sent (by up to 7.0 ms)")
        );
        assert_eq!(health.advice(0, true), [""; 0]);
    }
}
