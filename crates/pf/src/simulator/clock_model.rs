use timeloom_time::{Steady, Time};

/// Ticks of a second.
const PER_SECOND: f64 = 4_294_967_296.0;

/// The clock of a simulated lidar.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClockModel {
    /// Reading at power-on, in seconds; real devices start from zero.
    pub start_s: f64,
    /// Skew against the host's clock when cold, in ppm.
    pub skew_ppm: f64,
    /// Increase of the skew during warm-up, in ppm.
    pub warming_ppm: f64,
    /// The time constant of the warming, in seconds.
    pub warming_s: f64,
    /// A steady change of its rate, in ppm per minute.
    pub drift_ppm_per_minute: f64,
    /// Its stamps are rounded down to multiples of so many ticks.
    pub quantum: u64,
}

impl Default for ClockModel {
    /// An R2000 that has been on for a while: 50 ppm fast, warming by 3 ppm, with the grain of the real one.
    fn default() -> Self {
        Self {
            start_s: 5_000.0,
            skew_ppm: 50.0,
            warming_ppm: 3.0,
            warming_s: 150.0,
            drift_ppm_per_minute: 0.0,
            quantum: 10_995,
        }
    }
}

/// The clock of a simulated lidar that was switched on at a known time: a pure function, and its inverse.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SimulatedClock {
    model: ClockModel,
    on_since: Time<Steady>,
}

impl SimulatedClock {
    /// The clock of a device that was switched on at `on_since`.
    pub const fn new(model: ClockModel, on_since: Time<Steady>) -> Self {
        Self { model, on_since }
    }

    /// Time of power-on.
    pub const fn on_since(&self) -> Time<Steady> {
        self.on_since
    }

    /// The stamp at a host time.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "simulated times are small, and a float cast saturates"
    )]
    pub fn stamp(&self, host: Time<Steady>) -> u64 {
        let ticks = (self.shows((host - self.on_since).as_secs_f64()) * PER_SECOND).max(0.0) as u64;
        ticks - ticks % self.model.quantum.max(1)
    }

    /// The truth: when the clock showed exactly this.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "simulated times are small, and a float cast saturates"
    )]
    pub fn host_of(&self, ticks: u64) -> Time<Steady> {
        let shown = ticks as f64 / PER_SECOND;
        let mut seconds = shown - self.model.start_s;
        // The rate is one within a thousandth, so that each round gains three digits.
        for _ in 0..8 {
            seconds += shown - self.shows(seconds);
        }
        let nanos = (seconds * 1e9).round() as i64;
        Time::from_nanos(self.on_since.nanos().saturating_add(nanos))
    }

    /// The reading after this many seconds since power-on, without its grain.
    fn shows(&self, seconds: f64) -> f64 {
        let model = &self.model;
        let warm = model.warming_s.max(1e-3);
        let warmed = seconds - warm * (1.0 - (-seconds / warm).exp());
        let drifted = model.drift_ppm_per_minute / 60.0 * seconds * seconds / 2.0;
        let gained = model.skew_ppm * seconds + model.warming_ppm * warmed + drifted;
        model.start_s + seconds + gained * 1e-6
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use timeloom_time::Duration;

    #[test]
    fn stamps_convert_within_their_grain() {
        let clock = SimulatedClock::new(ClockModel::default(), Time::from_nanos(77));
        let mut before = 0;
        for step in 0..2_000 {
            let host = Time::from_nanos(step * 317_000_077);
            let stamp = clock.stamp(host);
            assert_eq!(stamp % 10_995, 0);
            assert!(stamp >= before);
            before = stamp;
            let age = host - clock.host_of(stamp);
            assert!(age >= Duration::from_nanos(-2), "{age:?}");
            assert!(age < Duration::from_nanos(2_570), "{age:?}");
        }
    }

    #[test]
    fn it_gains_as_its_model() {
        let model = ClockModel {
            start_s: 0.0,
            warming_ppm: 0.0,
            drift_ppm_per_minute: 6.0,
            quantum: 1,
            ..ClockModel::default()
        };
        let clock = SimulatedClock::new(model, Time::from_nanos(0));
        // 50 ppm for 100 s, and 0.1 ppm per second for 100 s: 5500 µs.
        let stamp = clock.stamp(Time::from_nanos(100_000_000_000));
        let seconds = stamp as f64 / PER_SECOND;
        assert!((seconds - 100.005_5).abs() < 1e-9, "{seconds}");
    }
}
