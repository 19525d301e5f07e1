use crate::playback_rate::{PlaybackRate, Slope};

/// A straight piece of the map from steady time to clock time.
///
/// At steady time `s` the clock shows `ros_ref + (s - steady_ref) * rate`, rounded down and kept within `[floor, cap]`.
/// Every control (rate, pause, resume, jump) and every sample of an external clock starts a new segment from a
/// reference pair, as the equations of the playback design require.
///
/// ```
/// use timeloom_time::{PlaybackRate, Segment};
/// let doubled = Segment::running(1_000, 50, PlaybackRate::new(2.0).unwrap());
/// assert_eq!(doubled.eval(60), 1_020);
/// assert_eq!(doubled.reach(1_019), Some(60), "never early, and the first instant that is not");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    pub(crate) ros_ref: i64,
    pub(crate) steady_ref: i64,
    pub(crate) slope: Slope,
    pub(crate) floor: i64,
    pub(crate) cap: i64,
}

impl Segment {
    /// Time that is stopped at `value`: a paused clock, or one set by a source.
    pub const fn fixed(value: i64) -> Self {
        Self {
            ros_ref: value,
            steady_ref: 0,
            slope: Slope::ZERO,
            floor: value,
            cap: value,
        }
    }

    /// Time that runs without end from the pair (`ros_ref`, `steady_ref`).
    pub const fn running(ros_ref: i64, steady_ref: i64, rate: PlaybackRate) -> Self {
        Self {
            ros_ref,
            steady_ref,
            slope: rate.slope(),
            floor: i64::MIN,
            cap: i64::MAX,
        }
    }

    /// Time that runs from the pair but never below `floor` nor above `cap`: an extrapolated clock.
    ///
    /// A `rate` that is negative or not finite counts as zero.
    pub fn bounded(ros_ref: i64, steady_ref: i64, rate: f64, floor: i64, cap: i64) -> Self {
        let usable = rate.is_finite() && rate > 0.0;
        Self {
            ros_ref,
            steady_ref,
            slope: if usable { Slope::of(rate) } else { Slope::ZERO },
            floor,
            cap: cap.max(floor),
        }
    }

    /// The same segment, started at another steady time.
    #[must_use]
    pub const fn anchored_at(self, steady_ref: i64) -> Self {
        Self { steady_ref, ..self }
    }

    /// The same segment that never shows less than `shown`.
    #[must_use]
    pub fn with_floor(self, shown: i64) -> Self {
        Self {
            floor: self.floor.max(shown),
            cap: self.cap.max(shown),
            ..self
        }
    }

    /// The same segment that never shows more than `most`.
    #[must_use]
    pub const fn with_cap(self, most: i64) -> Self {
        Self { cap: most, ..self }
    }

    /// Whether this segment shows one time only.
    pub const fn is_fixed(&self) -> bool {
        self.floor == self.cap
    }

    /// Clock time at steady time `steady`.
    #[inline]
    pub fn eval(&self, steady: i64) -> i64 {
        self.line(steady).max(self.floor).min(self.cap)
    }

    /// Clock time at steady time `steady`, not kept within the bounds.
    #[inline]
    pub(crate) fn line(&self, steady: i64) -> i64 {
        let elapsed = steady.checked_sub(self.steady_ref);
        elapsed
            .and_then(|elapsed| self.slope.add_scaled(self.ros_ref, elapsed))
            .unwrap_or_else(|| self.wide_line(steady))
    }

    /// The same for all rates and times, in 128 bits.
    #[inline(never)]
    fn wide_line(&self, steady: i64) -> i64 {
        let elapsed = steady.saturating_sub(self.steady_ref);
        let line = i128::from(self.ros_ref) + self.slope.scale(elapsed);
        i64::try_from(line).unwrap_or(if line < 0 { i64::MIN } else { i64::MAX })
    }

    /// The first steady time at which the clock shows `ros` or later; `None` if this segment never does.
    ///
    /// `i64::MIN` stands for "it always does".
    pub fn reach(&self, ros: i64) -> Option<i64> {
        if ros <= self.floor {
            return Some(i64::MIN);
        }
        if ros > self.cap {
            return None;
        }
        let goal = i128::from(ros) - i128::from(self.ros_ref);
        if self.slope == Slope::ZERO {
            return (goal <= 0).then_some(i64::MIN);
        }
        let steady = i128::from(self.steady_ref) + self.slope.reach(goal)?;
        if steady > i128::from(i64::MAX) {
            None
        } else {
            Some(i64::try_from(steady).unwrap_or(i64::MIN))
        }
    }

    /// Clock time of the reference pair: the last sample of an extrapolated source.
    pub const fn ros_ref(&self) -> i64 {
        self.ros_ref
    }

    /// Steady time of the reference pair.
    pub const fn steady_ref(&self) -> i64 {
        self.steady_ref
    }

    /// Clock time per steady time; zero while time is stopped.
    ///
    /// ```
    /// use timeloom_time::{PlaybackRate, Segment};
    /// assert_eq!(Segment::running(0, 0, PlaybackRate::new(0.1).unwrap()).rate(), 0.1);
    /// assert_eq!(Segment::fixed(7).rate(), 0.0);
    /// ```
    pub fn rate(&self) -> f64 {
        self.slope.as_f64()
    }

    /// The lowest clock time that is shown.
    pub const fn floor(&self) -> i64 {
        self.floor
    }

    /// The highest clock time that is shown.
    pub const fn cap(&self) -> i64 {
        self.cap
    }

    /// The latest clock time this segment can show without any further control or sample.
    pub const fn horizon(&self) -> i64 {
        if self.slope.mantissa == 0 && self.ros_ref < self.cap {
            if self.ros_ref < self.floor {
                self.floor
            } else {
                self.ros_ref
            }
        } else {
            self.cap
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rate(value: f64) -> PlaybackRate {
        PlaybackRate::new(value).unwrap()
    }

    #[test]
    fn paused_time_is_reached_at_once_or_never() {
        let paused = Segment::fixed(100);
        assert_eq!(paused.eval(i64::MAX), 100);
        assert_eq!(paused.reach(100), Some(i64::MIN));
        assert_eq!(paused.reach(101), None);
        assert_eq!(paused.horizon(), 100);
    }

    #[test]
    fn bounds_hold_and_are_seen_by_reach() {
        let extrapolated = Segment::bounded(1_000, 0, 1.0, 1_005, 1_010);
        assert_eq!(extrapolated.eval(0), 1_005);
        assert_eq!(extrapolated.eval(7), 1_007);
        assert_eq!(extrapolated.eval(1_000), 1_010);
        assert_eq!(extrapolated.reach(1_005), Some(i64::MIN));
        assert_eq!(extrapolated.reach(1_007), Some(7));
        assert_eq!(extrapolated.reach(1_011), None);
        assert_eq!(extrapolated.horizon(), 1_010);
    }

    #[test]
    fn an_invalid_rate_stops_time() {
        for bad in [f64::NAN, -1.0, f64::INFINITY, 0.0] {
            let held = Segment::bounded(5, 0, bad, i64::MIN, 9);
            assert_eq!(held.eval(1_000_000), 5, "{bad}");
            assert_eq!(held.horizon(), 5);
        }
    }

    #[test]
    fn a_day_at_any_common_rate_drifts_by_at_most_one_nanosecond() {
        let day: i64 = 24 * 3_600 * 1_000_000_000;
        for (value, num, den) in [
            (1.0, 1, 1),
            (0.5, 1, 2),
            (0.1, 1, 10),
            (0.3, 3, 10),
            (1.7, 17, 10),
            (1.0 / 3.0, 1, 3),
            (10.0, 10, 1),
        ] {
            let shown = Segment::running(0, 0, rate(value)).eval(day);
            let exact = i64::try_from(i128::from(day) * num / den).unwrap();
            assert!(
                (shown - exact).abs() <= 1,
                "rate {value}: {shown} against {exact}"
            );
        }
    }

    #[test]
    fn precision_holds_up_to_two_to_the_sixty_one() {
        let far = 1 << 61;
        let segment = Segment::running(far, far, rate(1.0));
        assert_eq!(segment.eval(far + 1), far + 1);
        assert_eq!(segment.reach(far + 1), Some(far + 1));
    }

    const FAR: i64 = 1 << 61;

    fn any_rate() -> impl Strategy<Value = f64> {
        prop_oneof![
            Just(1.0),
            (1e-6f64..1e6),
            (1e-3f64..1e3),
            any::<f64>().prop_filter("finite, above zero", |r| r.is_finite() && *r > 0.0),
        ]
    }

    proptest! {
        #[test]
        fn reach_is_never_early_and_never_late(
            ros_ref in any::<i64>(), steady_ref in -FAR..FAR, value in any_rate(), ros in any::<i64>(),
        ) {
            let segment = Segment::running(ros_ref, steady_ref, rate(value));
            match segment.reach(ros) {
                // Two hundred years from the reference, differences saturate: no clock reaches that.
                Some(steady) if steady.unsigned_abs() < FAR.unsigned_abs() => {
                    prop_assert!(segment.eval(steady) >= ros);
                    prop_assert!(segment.eval(steady - 1) < ros);
                }
                Some(steady) if steady < 0 => prop_assert!(segment.eval(-FAR) >= ros),
                _ => prop_assert!(segment.eval(FAR) < ros),
            }
        }

        #[test]
        fn the_short_way_agrees_with_the_wide_one(
            ros_ref in any::<i64>(), steady_ref in any::<i64>(), value in any_rate(),
            steady in any::<i64>(), elapsed in 0i64..1 << 50,
        ) {
            let segment = Segment::running(ros_ref, steady_ref, rate(value));
            for steady in [steady, steady_ref.saturating_add(elapsed)] {
                prop_assert_eq!(segment.line(steady), segment.wide_line(steady));
            }
        }

        #[test]
        fn time_never_runs_backwards_within_a_segment(
            ros_ref in any::<i64>(), steady_ref in any::<i64>(), value in any_rate(),
            floor in any::<i64>(), cap in any::<i64>(), a in any::<i64>(), b in any::<i64>(),
        ) {
            let segment = Segment::bounded(ros_ref, steady_ref, value, floor, cap);
            let (early, late) = (a.min(b), a.max(b));
            prop_assert!(segment.eval(early) <= segment.eval(late));
            prop_assert!(segment.eval(late) <= segment.horizon());
        }

        #[test]
        fn pause_then_resume_is_identity(
            ros_ref in -(1i64 << 60)..(1 << 60), value in 1e-3f64..1e3, ran in 0i64..1 << 45, paused in 0i64..1 << 45, more in 0i64..1 << 45,
        ) {
            let before = Segment::running(ros_ref, 0, rate(value));
            let stopped = Segment::fixed(before.eval(ran));
            let after = Segment::running(stopped.eval(ran + paused), ran + paused, rate(value));
            prop_assert_eq!(after.eval(ran + paused), before.eval(ran));
            // The sub-nanosecond part is dropped once per pause and never more.
            let lost = before.eval(ran + more) - after.eval(ran + paused + more);
            prop_assert!((0..=1).contains(&lost), "lost {}", lost);
        }
    }
}
