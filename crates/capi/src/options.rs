use timeloom_sync::{ClockSpec, DeviceClock, HostStamps, Limits, Method, SensorClock};
use timeloom_time::Duration;

/// The estimation method.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeloomEstimator {
    /// The most likely lower envelope of delays: the best in nearly every case.
    Envelope = 0,
    /// The hull of the smallest delays with a bounded change of rate.
    Psle = 1,
    /// Two hulls that take turns.
    Hull = 2,
}

/// Counter and limits of a device. Begin with `timeloom_options`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimeloomOptions {
    /// Ticks of the counter in a second: 1000000000 for nanoseconds.
    pub ticks_per_second: u64,
    /// The width of the counter, from 1 to 64: it wraps to zero after its largest value.
    pub counter_bits: u32,
    /// The estimator: a `TimeloomEstimator`.
    pub estimator: u32,
    /// The clocks never differ by more, in ppm.
    pub max_skew_ppm: f64,
    /// The rate of the clocks never changes faster, in ppm per minute.
    pub max_drift_ppm_per_minute: f64,
    /// A stamp is at most this much earlier than what it stamps, in nanoseconds; 0 for a tick, and 5000 at least.
    pub stamp_grain_ns: i64,
    /// No packet takes less than this, in nanoseconds; it is taken off all results.
    pub least_delay_ns: i64,
}

/// Nanoseconds in 64 bits, and the limits that hold for quartz clocks.
#[unsafe(no_mangle)]
pub extern "C" fn timeloom_options() -> TimeloomOptions {
    let limits = Limits::default();
    TimeloomOptions {
        ticks_per_second: 1_000_000_000,
        counter_bits: 64,
        estimator: TimeloomEstimator::Envelope as u32,
        max_skew_ppm: limits.skew_ppm,
        max_drift_ppm_per_minute: limits.drift_ppm_per_minute,
        stamp_grain_ns: 0,
        least_delay_ns: 0,
    }
}

impl TimeloomOptions {
    /// The rate and width of the counter; none if they are invalid.
    pub(crate) fn spec(&self) -> Option<ClockSpec> {
        ClockSpec::new(self.ticks_per_second, 1, self.counter_bits).ok()
    }

    /// A clock that knows nothing yet; none if the limits make no sense.
    pub(crate) fn clock(&self, spec: ClockSpec) -> Option<SensorClock> {
        let possible = |number: f64| number.is_finite() && number > 0.0;
        let positive = [self.max_skew_ppm, self.max_drift_ppm_per_minute];
        if !positive.into_iter().all(possible) || self.stamp_grain_ns < 0 || self.least_delay_ns < 0
        {
            return None;
        }
        let usual = Limits::default();
        let grain = match self.stamp_grain_ns {
            0 => spec.tick_nanos().max(usual.stamp_grain.nanos()),
            given => given,
        };
        let limits = Limits {
            skew_ppm: self.max_skew_ppm,
            drift_ppm_per_minute: self.max_drift_ppm_per_minute,
            stamp_grain: Duration::from_nanos(grain),
            least_delay: Duration::from_nanos(self.least_delay_ns),
            ..usual
        };
        // C can write any number into an enumeration.
        let known = [
            (TimeloomEstimator::Envelope, Method::Envelope),
            (TimeloomEstimator::Psle, Method::Psle),
            (TimeloomEstimator::Hull, Method::Hull),
        ];
        let chosen = known
            .iter()
            .find(|(name, _)| *name as u32 == self.estimator);
        let mut clock = chosen.map(|(_, method)| method.clock(limits))?;
        clock.set_host_stamps(HostStamps::Steady);
        // A device that gives ticks counts them; one that gives 64 bits may show a date.
        if self.counter_bits < 64 {
            clock.set_device_clock(DeviceClock::Counter);
        }
        Some(clock)
    }
}
