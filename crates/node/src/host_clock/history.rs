use std::fmt::Write as _;

use timeloom_time::{Duration, Steady, System, Time};

use super::HostClock;

/// Time between two regular entries.
const INTERVAL: Duration = Duration::from_secs(60);
/// The system clock was set if it moved against the steady one by more than this between two checks, beyond slewing.
const STEP: Duration = Duration::from_millis(1);
/// A clock is slewed by 500 ppm at most, or by ten times as much with an older kernel interface.
const FASTEST_SLEW_PPM: i64 = 5_000;
/// Number of entries that are kept; when there are more, every second regular one is removed.
const MOST: usize = 240;

/// The reason for an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostClockReason {
    /// The start.
    Start,
    /// A minute has passed.
    Minute,
    /// The system clock was set, by this much.
    Step(Duration),
}

/// The clock of the host at a moment.
#[derive(Debug, Clone, PartialEq)]
pub struct HostClockEntry {
    /// The system time.
    pub at: Time<System>,
    /// The same moment by the steady clock.
    pub steady: Time<Steady>,
    /// The reason.
    pub reason: HostClockReason,
    /// The state of the clock.
    pub clock: HostClock,
}

/// The clock of a host over a recording: at the start, every minute and at steps. Sans-IO.
#[derive(Debug, Default)]
pub struct HostClockHistory {
    entries: Vec<HostClockEntry>,
    next: Option<Time<Steady>>,
    /// System minus steady time at the last check, and the time of that check.
    distance: Option<(i128, Time<Steady>)>,
}

impl HostClockHistory {
    /// Checks both clocks; returns the reason to query the state of the host now, if there is one.
    pub fn look(&mut self, steady: Time<Steady>, system: Time<System>) -> Option<HostClockReason> {
        let distance = i128::from(system.nanos()) - i128::from(steady.nanos());
        let before = self.distance.replace((distance, steady));
        let step = before.and_then(|(before, at)| {
            let moved = i64::try_from(distance - before).unwrap_or(i64::MAX);
            let slewed = (steady - at).nanos() / 1_000_000 * FASTEST_SLEW_PPM;
            let is_step = moved.abs() > STEP.nanos() + slewed;
            is_step.then(|| Duration::from_nanos(moved))
        });
        let reason = match (step, self.next) {
            (Some(step), _) => HostClockReason::Step(step),
            (None, None) => HostClockReason::Start,
            (None, Some(next)) if steady >= next => HostClockReason::Minute,
            (None, Some(_)) => return None,
        };
        self.next = Some(steady.saturating_add(INTERVAL));
        Some(reason)
    }

    /// Adds a state.
    pub fn add(&mut self, entry: HostClockEntry) {
        self.entries.push(entry);
        if self.entries.len() > MOST {
            let mut regular = 0_usize;
            self.entries.retain(|entry| {
                regular += usize::from(entry.reason == HostClockReason::Minute);
                entry.reason != HostClockReason::Minute || regular.is_multiple_of(2)
            });
        }
    }

    /// All states, oldest first.
    pub fn entries(&self) -> &[HostClockEntry] {
        &self.entries
    }

    /// As text for the metadata of a bag: a line for each state, with `key=value` words.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for entry in &self.entries {
            entry.write(&mut text);
            text.push('\n');
        }
        text
    }
}

impl HostClockEntry {
    fn write(&self, text: &mut String) {
        let clock = &self.clock;
        let mut add = |key: &str, value: &str| {
            let space = if text.is_empty() || text.ends_with('\n') {
                ""
            } else {
                " "
            };
            // Writing to a string never fails; a value must not contain whitespace.
            let value = value.replace(char::is_whitespace, "_");
            let _written = write!(text, "{space}{key}={value}");
        };
        add("system_ns", &self.at.nanos().to_string());
        add("steady_ns", &self.steady.nanos().to_string());
        match self.reason {
            HostClockReason::Start => add("reason", "start"),
            HostClockReason::Minute => add("reason", "minute"),
            HostClockReason::Step(by) => {
                add("reason", "step");
                add("step_ns", &by.nanos().to_string());
            }
        }
        add("source", clock.source());
        add("synchronised", &clock.is_synchronised().to_string());
        if let Some(reference) = clock.reference() {
            add("reference", &reference);
        }
        if let Some(offset) = clock.offset() {
            add("offset_ns", &offset.nanos().to_string());
        }
        if let Some(error) = clock.error() {
            add("error_ns", &error.nanos().to_string());
        }
        add("tai_s", &clock.tai_offset_s.to_string());
        add("hardware_clocks", &clock.hardware_clocks.len().to_string());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host_clock::{ChronyTracking, Discipline};
    use timeloom_bag::HostClockRecord;

    fn steady(millis: i64) -> Time<Steady> {
        Time::from_nanos(millis * 1_000_000)
    }

    fn system(millis: i64) -> Time<System> {
        Time::from_nanos(1_700_000_000_000_000_000 + millis * 1_000_000)
    }

    #[test]
    fn the_clock_is_checked_at_the_start_every_minute_and_at_steps() {
        let mut history = HostClockHistory::default();
        let mut reasons = Vec::new();
        for second in 0..200 {
            let millis = second * 1_000;
            // Set ahead by 300 ms after 90 s, and slewed by 500 ppm from 150 s on.
            let set = if second >= 90 { 300 } else { 0 };
            let slewed = (second - 150).max(0) / 2;
            let reason = history.look(steady(millis), system(millis + set + slewed));
            reasons.extend(reason.map(|reason| (second, reason)));
        }
        let step = HostClockReason::Step(Duration::from_millis(300));
        let minute = HostClockReason::Minute;
        assert_eq!(
            reasons,
            [
                (0, HostClockReason::Start),
                (60, minute),
                (90, step),
                (150, minute)
            ]
        );
    }

    #[test]
    fn a_state_is_one_line_of_words() {
        let text = include_str!("../../tests/data/chrony_tracking.csv");
        let mut history = HostClockHistory::default();
        history.add(HostClockEntry {
            at: system(0),
            steady: steady(7),
            reason: HostClockReason::Start,
            clock: HostClock {
                discipline: Discipline::Chrony(ChronyTracking::parse(text)),
                tai_offset_s: 37,
                hardware_clocks: Vec::new(),
            },
        });
        history.add(HostClockEntry {
            at: system(500),
            steady: steady(507),
            reason: HostClockReason::Step(Duration::from_millis(-2)),
            clock: HostClock::default(),
        });
        assert_eq!(
            history.to_text(),
            "system_ns=1700000000000000000 steady_ns=7000000 reason=start source=chrony synchronised=true \
             reference=127.0.0.1_(stratum_9) offset_ns=1476 error_ns=5287 tai_s=37 hardware_clocks=0\n\
             system_ns=1700000000500000000 steady_ns=507000000 reason=step step_ns=-2000000 source=none synchronised=false tai_s=0 \
             hardware_clocks=0\n"
        );
        let records = HostClockRecord::parse_all(&history.to_text());
        assert_eq!(records.len(), 2);
        assert_eq!(records[0].boot_ns(), records[1].boot_ns());
        assert_eq!(
            records[0].reference.as_deref(),
            Some("127.0.0.1 (stratum 9)")
        );
        assert_eq!(
            (records[0].offset_ns, records[0].error_ns),
            (Some(1_476), Some(5_287))
        );
        assert!(records[0].synchronised && !records[1].synchronised);
        assert_eq!(
            (records[1].step_ns, records[1].tai_s),
            (Some(-2_000_000), Some(0))
        );
    }

    #[test]
    fn a_week_is_bounded_and_keeps_its_steps() {
        let mut history = HostClockHistory::default();
        let mut steps = 0;
        for minute in 0..7 * 24 * 60 {
            let is_step = minute % 1_000 == 500;
            steps += usize::from(is_step);
            history.add(HostClockEntry {
                at: system(minute * 60_000),
                steady: steady(minute * 60_000),
                reason: match minute {
                    0 => HostClockReason::Start,
                    _ if is_step => HostClockReason::Step(Duration::from_secs(1)),
                    _ => HostClockReason::Minute,
                },
                clock: HostClock::default(),
            });
        }
        let entries = history.entries();
        assert!(entries.len() <= MOST, "{}", entries.len());
        assert_eq!(entries[0].reason, HostClockReason::Start);
        let kept = entries.iter();
        let kept = kept.filter(|entry| matches!(entry.reason, HostClockReason::Step(_)));
        assert_eq!(kept.count(), steps);
    }
}
