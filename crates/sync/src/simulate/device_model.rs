//! The clock of a simulated device.

use super::random::Random;
use crate::device_time::DeviceTime;

/// Seconds between two steps of the random walk.
const STEP: f64 = 0.1;

/// The clock of a device: skew, warming, waves, drift, noise and the grain of its stamps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DeviceModel {
    /// Initial skew against the host's clock, in ppm.
    pub skew_ppm: f64,
    /// Increase of the skew during warm-up, in ppm.
    pub warming_ppm: f64,
    /// The time constant of the warming, in seconds.
    pub warming_s: f64,
    /// The height of a slow wave of its rate, in ppm.
    pub wave_ppm: f64,
    /// The period of that wave, in seconds.
    pub wave_s: f64,
    /// A steady change of its rate, in ppm per minute.
    pub drift_ppm_per_minute: f64,
    /// The random walk of its rate, in ppm per square root of a second.
    pub walk_ppm: f64,
    /// Its stamps are rounded down to multiples of this, in nanoseconds.
    pub quantum_ns: f64,
    /// Initial reading, in seconds.
    pub start_s: f64,
}

impl Default for DeviceModel {
    /// An R2000 that has been on for a while: 50 ppm fast, warming by 3 ppm, stamps of 2.56 µs.
    fn default() -> Self {
        Self {
            skew_ppm: 50.0,
            warming_ppm: 3.0,
            warming_s: 150.0,
            wave_ppm: 0.6,
            wave_s: 240.0,
            drift_ppm_per_minute: 0.0,
            walk_ppm: 0.005,
            quantum_ns: 2_560.0,
            start_s: 5_000.0,
        }
    }
}

/// The clock of a simulated device; read it at times that never go back.
#[derive(Debug, Clone)]
pub(crate) struct DeviceClock {
    model: DeviceModel,
    random: Random,
    /// The true time of the last step of the walk, and the walk there, in seconds and ppm.
    at: f64,
    walk_ppm: f64,
    /// Seconds that the walk alone has added until `at`, times 1e6.
    walked: f64,
    phase: f64,
    /// Set by a restart: the clock counts from zero at this true time.
    zero: Option<f64>,
}

impl DeviceClock {
    pub(crate) fn new(model: DeviceModel, seed: u64) -> Self {
        let mut random = Random::new(seed, 1);
        let phase = random.between(0.0, std::f64::consts::TAU);
        Self {
            model,
            random,
            at: 0.0,
            walk_ppm: 0.0,
            walked: 0.0,
            phase,
            zero: None,
        }
    }

    /// The clock restarts from zero at the true time `t`.
    pub(crate) fn restart(&mut self, t: f64) {
        self.zero = Some(t);
    }

    /// The stamp of the clock at the true time `t` (seconds since the start of the simulation).
    #[expect(
        clippy::cast_possible_truncation,
        reason = "simulated times are far below 2^62 ns, and a float cast saturates"
    )]
    pub(crate) fn stamp(&mut self, t: f64) -> DeviceTime {
        let nanos = self.nanos(t);
        let quantum = self.model.quantum_ns.max(1.0);
        DeviceTime::from_nanos(((nanos / quantum).floor() * quantum).floor() as i64)
    }

    fn nanos(&mut self, t: f64) -> f64 {
        let gained_us = self.gained(t);
        match self.zero {
            // A restart of the counter keeps the rate; the small difference counts as skew.
            Some(zero) => (t - zero) * 1e9 * (1.0 + self.model.skew_ppm * 1e-6),
            None => (self.model.start_s + t) * 1e9 + gained_us * 1e3,
        }
    }

    /// Microseconds that the clock has gained on the host's.
    fn gained(&mut self, t: f64) -> f64 {
        while self.at + STEP <= t {
            self.walked += self.walk_ppm * STEP;
            self.at += STEP;
            self.walk_ppm += self.model.walk_ppm * STEP.sqrt() * self.random.normal();
        }
        let model = &self.model;
        let warm = model.warming_s.max(1.0);
        let warmed = model.warming_ppm * (t - warm * (1.0 - (-t / warm).exp()));
        let omega = std::f64::consts::TAU / model.wave_s.max(1.0);
        let waved = model.wave_ppm / omega * (self.phase.cos() - (omega * t + self.phase).cos());
        let drifted = model.drift_ppm_per_minute / 60.0 * t * t / 2.0;
        let walked = self.walked + self.walk_ppm * (t - self.at);
        model.skew_ppm * t + warmed + waved + drifted + walked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_gains_as_its_model() {
        let model = DeviceModel {
            warming_ppm: 0.0,
            wave_ppm: 0.0,
            walk_ppm: 0.0,
            drift_ppm_per_minute: 6.0,
            quantum_ns: 1.0,
            start_s: 0.0,
            ..DeviceModel::default()
        };
        let mut clock = DeviceClock::new(model, 1);
        // 50 ppm for 100 s, and 0.1 ppm per second for 100 s: 5000 + 500 µs.
        assert_eq!(clock.stamp(100.0).nanos() / 1_000, 100_005_500);
        clock.restart(100.0);
        assert_eq!(clock.stamp(101.0).nanos() / 1_000, 1_000_050);
    }

    #[test]
    fn stamps_are_multiples_of_the_quantum() {
        let mut clock = DeviceClock::new(DeviceModel::default(), 1);
        for step in 0..100 {
            assert_eq!(clock.stamp(f64::from(step) * 0.37).nanos() % 2_560, 0);
        }
    }
}
