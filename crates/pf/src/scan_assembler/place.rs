use timeloom_time::{Steady, Time};

use crate::packet::{Header, Layer};
use crate::ticks::{nanos_between, ticks_of_nanos};

/// A packet of a scan that was given out may come so many scans late before it means a restart.
const LATE_SCANS: u16 = 4;
/// Numbers may be ahead of the clock by so much, and by as much again as the clock says: the head may be faster than
/// the header knows.
const TOLERANCE: i64 = 2;
/// The device's clock jumped if more time has passed by it than by the host's, by so many nanoseconds: packets may wait
/// on their way, but not for less than no time.
const JUMP: f64 = 1e9;

/// The position of a packet relative to a scan.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Place {
    /// It is of this scan.
    Same,
    /// It is of this scan, and the device's clock jumped meanwhile.
    ClockJump { nanos: f64 },
    /// It is of a later one.
    Next { lost_scans: u64 },
    /// It is of one before.
    Late,
    /// The numbers went backwards, or further than they can; the device's clock did not.
    Renumbered { lost_scans: u64 },
    /// The device's clock went backwards.
    Restart,
}

/// A scan as far as the next packet's place depends on it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reference {
    pub(super) number: u16,
    pub(super) layer: Option<Layer>,
    pub(super) first_stamp: u64,
    pub(super) points: u16,
    /// From scan to scan in nanoseconds; zero if unknown.
    pub(super) period_ns: f64,
    /// Arrival of its first packet.
    pub(super) arrived: Time<Steady>,
}

impl Reference {
    /// The position of a packet that arrived at `now`; every `step`th scan is sent, and points are `point_period_ns` apart.
    /// Only a packet with points that the scan lacks can go on with it after a jump of the clock.
    pub(super) fn place(
        &self,
        header: &Header,
        step: u16,
        point_period_ns: f64,
        now: Time<Steady>,
        lacks_points: bool,
    ) -> Place {
        let before = ticks_of_nanos(f64::from(header.first_index) * point_period_ns);
        let start = header.timestamp_raw.wrapping_sub(before.cast_unsigned());
        let since = nanos_between(self.first_stamp, start);
        let ahead = header.scan_number.wrapping_sub(self.number);
        let period = self.period_ns.max(1.0);
        let late_scans = LATE_SCANS.saturating_mul(step);
        if ahead == 0 && header.layer == self.layer {
            let same = header.num_points_scan == self.points;
            if same && since.abs() < period / 2.0 {
                return Place::Same;
            }
            if same && lacks_points && (since < -JUMP || self.is_jump(since, now)) {
                return Place::ClockJump { nanos: since };
            }
        }
        if since < -period * f64::from(late_scans.saturating_add(1)) {
            return Place::Restart;
        }
        // Layers may share a number.
        let behind = ahead.wrapping_neg();
        let least = u16::from(header.layer.is_none());
        if since < 0.0 && (least..=late_scans).contains(&behind) {
            return Place::Late;
        }
        let elapsed = self.elapsed(since, now);
        self.later(ahead, elapsed, step, header.layer.is_some())
    }

    /// Whether the device's clock went further than the host's.
    fn is_jump(&self, since: f64, now: Time<Steady>) -> bool {
        since - (now - self.arrived).nanos() as f64 > JUMP
    }

    /// The time by the device's clock, or by the host's if that of the device jumped.
    fn elapsed(&self, since: f64, now: Time<Steady>) -> f64 {
        if self.is_jump(since, now) {
            (now - self.arrived).nanos() as f64
        } else {
            since
        }
    }

    /// Scans that were missed between this one and a packet's, by the device's clock; none if it went backwards.
    pub(super) fn missed(&self, header: &Header, step: u16, now: Time<Steady>) -> Option<u64> {
        let since = nanos_between(self.first_stamp, header.timestamp_raw);
        let steps = self.scans_in(self.elapsed(since, now)) / i64::from(step.max(1));
        (since >= 0.0).then(|| u64::try_from(steps - 1).unwrap_or(0))
    }

    fn later(&self, ahead: u16, since: f64, step: u16, has_layers: bool) -> Place {
        let (ahead, step) = (i64::from(ahead), i64::from(step.max(1)));
        let by_clock = self.scans_in(since);
        // More than the numbers can count would be a clock that is wrong.
        let plausible = if by_clock < 0x8000 { by_clock } else { 0 };
        let lost_by_clock = u64::try_from(plausible / step - 1).unwrap_or(0);
        let forwards = ahead < 0x8000 && (ahead > 0 || has_layers);
        // Without a frequency there is nothing to compare the numbers with.
        let possible =
            self.period_ns <= 0.0 || ahead <= by_clock.saturating_mul(2) + TOLERANCE * step;
        if !forwards || !possible {
            return Place::Renumbered {
                lost_scans: lost_by_clock,
            };
        }
        // The numbers of layers are counted by no rule that we know.
        let lost_by_number = u64::try_from(ahead / step - 1).unwrap_or(0);
        Place::Next {
            lost_scans: if has_layers {
                lost_by_clock
            } else {
                lost_by_number
            },
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "a float cast saturates")]
    fn scans_in(&self, nanos: f64) -> i64 {
        if self.period_ns > 0.0 {
            (nanos / self.period_ns).round() as i64
        } else {
            0
        }
    }
}
