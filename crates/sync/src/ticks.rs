//! Counters of devices: their rate, their width, and how their wraps are removed.

use crate::device_time::{DeviceTime, STAMP_LIMIT};
use crate::error::{Error, Result};

/// A counter of a device: `per` ticks in `seconds` seconds, `bits` bits wide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ClockSpec {
    per: u64,
    seconds: u64,
    bits: u32,
}

impl ClockSpec {
    /// Seconds in the upper and fractions in the lower 32 of 64 bits: NTP, and the R2000 family.
    pub const NTP: Self = Self {
        per: 1 << 32,
        seconds: 1,
        bits: 64,
    };
    /// Nanoseconds in 64 bits.
    pub const NANOSECONDS: Self = Self {
        per: 1_000_000_000,
        seconds: 1,
        bits: 64,
    };
    /// Microseconds in 32 bits, which wrap every 71.6 minutes.
    pub const MICROSECONDS_32: Self = Self {
        per: 1_000_000,
        seconds: 1,
        bits: 32,
    };
    /// Milliseconds in 24 bits, which wrap every 4.7 hours.
    pub const MILLISECONDS_24: Self = Self {
        per: 1_000,
        seconds: 1,
        bits: 24,
    };

    /// A counter of `bits` bits that counts `per` ticks in `seconds` seconds.
    ///
    /// # Errors
    ///
    /// [`Error::ImpossibleClock`] without ticks, without seconds, or with no bits or more than 64.
    pub const fn new(per: u64, seconds: u64, bits: u32) -> Result<Self> {
        let why = if per == 0 {
            "it never ticks"
        } else if seconds == 0 {
            "its ticks take no time"
        } else if bits == 0 || bits > 64 {
            "it needs 1 to 64 bits"
        } else {
            return Ok(Self { per, seconds, bits });
        };
        Err(Error::ImpossibleClock {
            per,
            seconds,
            bits,
            why,
        })
    }

    /// The width of the counter in bits.
    pub const fn bits(self) -> u32 {
        self.bits
    }

    /// The length of one tick in nanoseconds, rounded up.
    pub fn tick_nanos(self) -> i64 {
        let nanos = (u128::from(self.seconds) * 1_000_000_000).div_ceil(u128::from(self.per));
        i64::try_from(nanos).unwrap_or(STAMP_LIMIT)
    }

    /// The time of `ticks` ticks after zero, rounded down.
    ///
    /// # Errors
    ///
    /// [`Error::TicksOutOfRange`] beyond about 146 years.
    pub fn time_of(self, ticks: i128) -> Result<DeviceTime> {
        let out_of_range = Error::TicksOutOfRange {
            ticks,
            per: self.per,
            seconds: self.seconds,
            limit: STAMP_LIMIT,
        };
        let per_second = i128::from(self.seconds) * 1_000_000_000;
        let nanos = ticks
            .checked_mul(per_second)
            .map(|scaled| scaled.div_euclid(i128::from(self.per)))
            .and_then(|nanos| i64::try_from(nanos).ok())
            .filter(|nanos| nanos.unsigned_abs() <= STAMP_LIMIT.unsigned_abs());
        nanos.map(DeviceTime::from_nanos).ok_or(out_of_range)
    }

    const fn mask(self) -> u64 {
        u64::MAX >> (64 - self.bits)
    }
}

/// Removes the wraps of a counter: values of its width go in, device times come out.
///
/// A value at most half the width ahead of the last one is later, any other is earlier; so a packet
/// that comes late is not taken for a wrap. A counter that restarts shows as a jump, which
/// [`SensorClock`](crate::SensorClock) finds.
///
/// ```
/// use timeloom_sync::{ClockSpec, TickCounter};
///
/// let mut counter = TickCounter::new(ClockSpec::MICROSECONDS_32);
/// let before = counter.unwrap(u64::from(u32::MAX))?;
/// let after = counter.unwrap(9)?;
/// assert_eq!(after.since(before).nanos(), 10_000);
/// # Ok::<(), timeloom_sync::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct TickCounter {
    spec: ClockSpec,
    last: Option<i128>,
}

impl TickCounter {
    /// A counter that has shown nothing yet.
    pub const fn new(spec: ClockSpec) -> Self {
        Self { spec, last: None }
    }

    /// The rate and the width of the counter.
    pub const fn spec(&self) -> ClockSpec {
        self.spec
    }

    /// The device time of a counter value, next to the value before.
    ///
    /// # Errors
    ///
    /// [`Error::TickTooWide`] for a value of more bits than the counter has, and
    /// [`Error::TicksOutOfRange`] when the counter has wrapped for 146 years; the state does not change then.
    pub fn unwrap(&mut self, ticks: u64) -> Result<DeviceTime> {
        let mask = self.spec.mask();
        if ticks > mask {
            return Err(Error::TickTooWide {
                ticks,
                bits: self.spec.bits,
            });
        }
        let whole = match self.last {
            None => i128::from(ticks),
            Some(last) => last + signed_step(last, ticks, mask),
        };
        let time = self.spec.time_of(whole)?;
        self.last = Some(whole);
        Ok(time)
    }

    /// Forgets the last value: the next one counts from zero again.
    pub const fn restart(&mut self) {
        self.last = None;
    }
}

/// From `last` to `ticks` by the shorter way around.
fn signed_step(last: i128, ticks: u64, mask: u64) -> i128 {
    let width = i128::from(mask) + 1;
    let ahead = (i128::from(ticks) - last).rem_euclid(width);
    if ahead <= width / 2 {
        ahead
    } else {
        ahead - width
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_width_wraps_forwards_and_late_values_stay_late() {
        for bits in 5..=64 {
            // Eighths of a nanosecond: 64 bits of them fit.
            let spec = ClockSpec::new(8_000_000_000, 1, bits).unwrap();
            let top = spec.mask();
            let mut counter = TickCounter::new(spec);
            let last = counter.unwrap(top).unwrap();
            let after = |counter: &mut TickCounter| counter.unwrap(7).unwrap().since(last).nanos();
            assert_eq!(after(&mut counter), 1, "{bits} bits");
            assert_eq!(counter.unwrap(top).unwrap(), last, "{bits}: a late packet");
            assert_eq!(after(&mut counter), 1, "{bits} bits");
        }
    }

    #[test]
    fn one_bit_counts_up() {
        let mut counter = TickCounter::new(ClockSpec::new(1, 1, 1).unwrap());
        let seconds = [0, 1, 0, 1, 1].map(|tick| counter.unwrap(tick).unwrap().nanos());
        assert_eq!(
            seconds,
            [0, 1, 2, 3, 3].map(|second| second * 1_000_000_000)
        );
    }

    #[test]
    fn ntp_ticks_are_seconds_and_fractions() {
        let mut counter = TickCounter::new(ClockSpec::NTP);
        let half_past = (5663 << 32) | (1 << 31);
        assert_eq!(
            counter.unwrap(half_past).unwrap().nanos(),
            5_663_500_000_000
        );
        assert_eq!(ClockSpec::NTP.tick_nanos(), 1);
        let mut fresh = TickCounter::new(ClockSpec::NTP);
        assert_eq!(
            fresh.unwrap(u64::MAX).unwrap().nanos(),
            4_294_967_295_999_999_999
        );
    }

    #[test]
    fn a_counter_that_never_ends_is_an_error_and_not_a_wrap() {
        let spec = ClockSpec::new(1, 1_000_000_000, 64).unwrap();
        let mut counter = TickCounter::new(spec);
        assert!(matches!(
            counter.unwrap(u64::MAX),
            Err(Error::TicksOutOfRange { .. })
        ));
        assert_eq!(
            counter.unwrap(1).unwrap().nanos(),
            1_000_000_000_000_000_000
        );
    }

    #[test]
    fn values_wider_than_the_counter_are_refused_and_change_nothing() {
        let mut counter = TickCounter::new(ClockSpec::MILLISECONDS_24);
        counter.unwrap(5).unwrap();
        let error = counter.unwrap(1 << 24).unwrap_err();
        assert_eq!(
            error,
            Error::TickTooWide {
                ticks: 1 << 24,
                bits: 24
            }
        );
        assert_eq!(counter.unwrap(6).unwrap().nanos(), 6_000_000);
    }

    #[test]
    fn impossible_clocks_are_refused() {
        for (per, seconds, bits) in [(0, 1, 32), (1, 0, 32), (1, 1, 0), (1, 1, 65)] {
            assert!(ClockSpec::new(per, seconds, bits).is_err());
        }
    }
}
