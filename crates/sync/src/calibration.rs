//! Calibration of the constant delay of packets.

use timeloom_time::{Duration, Steady, Time};

use crate::mapped::{Health, Mapped};
use crate::sample::{PassiveSample, Sample};

/// Window of host time for each least delay, in nanoseconds.
const WINDOW: i64 = 10_000_000_000;

/// A constant delay and where it must lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConstantDelay {
    /// The most likely value, for [`Limits::least_delay`](crate::Limits::least_delay).
    pub delay: Duration,
    /// A lower bound.
    pub least: Duration,
    /// An upper bound.
    pub most: Duration,
}

/// Delays, the least of each window.
#[derive(Debug, Clone, Default)]
struct Floor {
    window: Option<i64>,
    least: i64,
    windows: Vec<i64>,
}

impl Floor {
    fn take(&mut self, arrival: i64, delay: i64) {
        let window = arrival.div_euclid(WINDOW);
        match self.window {
            Some(same) if same == window => self.least = self.least.min(delay),
            before => {
                self.windows.extend(before.map(|_| self.least));
                (self.window, self.least) = (Some(window), delay);
            }
        }
    }

    /// The least delays of all windows, in order; the last one may have been short.
    fn sorted(&self) -> Vec<i64> {
        let mut all = self.windows.clone();
        if all.is_empty() {
            all.extend(self.window.map(|_| self.least));
        }
        all.sort_unstable();
        all
    }

    /// The delay that one in ten windows reaches: a single one may be wrong.
    fn usual(&self) -> Option<i64> {
        let all = self.sorted();
        all.get(all.len() / 10).copied()
    }
}

/// Finds the constant part of the delay of packets: the time from the event (or from the sending, if the device
/// stamps it) to the arrival, without its variable part.
///
/// Packets alone cannot show it. Requests bound the truth from below, and so the delay from above; a second clock that
/// is synchronised to the host's, as by PTP, shows it directly.
///
/// ```
/// use timeloom_sync::{Calibration, DeviceTime, PassiveSample, Sample, SensorClock, causal_one};
/// use timeloom_time::{Duration, Time};
///
/// let mut clock = SensorClock::default();
/// let mut calibration = Calibration::new();
/// for packet in 0..4_000 {
///     let event = packet * 10_000_000;
///     // Each packet takes at least 300 µs; a clock that is synchronised by PTP shows the true time of the event.
///     let arrival = Time::from_nanos(event + 300_000 + packet % 7 * 20_000);
///     let sample = Sample::Passive(PassiveSample::new(DeviceTime::from_nanos(event), arrival));
///     let mapped = causal_one(&sample, &mut clock)?;
///     calibration.take(&sample, &mapped, Some(Time::from_nanos(event)));
/// }
/// let delay = calibration.by_reference(Duration::from_micros(2)).expect("there are references");
/// assert!((delay.delay.nanos() - 300_000).abs() < 50_000);
/// # Ok::<(), timeloom_sync::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Calibration {
    estimated: Floor,
    bounds: Option<(i64, i64)>,
    referenced: Floor,
    device: Option<i64>,
    packets: u64,
}

impl Calibration {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes a sample with its conversion, and the true host time of its event if another clock provides it.
    pub fn take(&mut self, sample: &Sample, mapped: &Mapped, reference: Option<Time<Steady>>) {
        let Sample::Passive(packet) = sample else {
            return;
        };
        let inside = packet
            .device_tx
            .map(|tx| tx.since(packet.device_event).nanos());
        if let Some(inside) = inside {
            self.device = Some(self.device.map_or(inside, |least| least.min(inside)));
        }
        let arrival = packet.host_rx.nanos();
        // The conversion is of the event; the estimate relates the sending to the arrival.
        let inside = inside.unwrap_or(0);
        if let Some(reference) = reference {
            let delay = arrival
                .saturating_sub(reference.nanos())
                .saturating_sub(inside);
            self.referenced.take(arrival, delay);
        }
        if mapped.health == Health::Locked {
            self.packets += 1;
            self.take_bounds(packet, mapped, inside);
        }
    }

    fn take_bounds(&mut self, packet: &PassiveSample, mapped: &Mapped, inside: i64) {
        let arrival = packet.host_rx.nanos();
        let behind =
            |time: Time<Steady>| arrival.saturating_sub(time.nanos()).saturating_sub(inside);
        let (Some(lower), Some(upper)) = (mapped.bounds.lower, mapped.bounds.upper) else {
            return;
        };
        self.estimated.take(arrival, behind(mapped.host));
        let (least, most) = (behind(upper), behind(lower));
        self.bounds = Some(match self.bounds {
            Some(before) => (before.0.min(least), before.1.min(most)),
            None => (least, most),
        });
    }

    /// Number of packets with a conversion that is good enough.
    pub const fn packets(&self) -> u64 {
        self.packets
    }

    /// The result from requests; none without them.
    pub fn by_requests(&self) -> Option<ConstantDelay> {
        let (least, most) = self.bounds?;
        let (least, most) = (least.max(0), most.max(0));
        let delay = self.estimated.usual()?.clamp(least.min(most), most);
        Some(ConstantDelay {
            delay: Duration::from_nanos(delay),
            least: Duration::from_nanos(least.min(most)),
            most: Duration::from_nanos(most),
        })
    }

    /// The result from a synchronised clock with an error of at most `error`; none without it.
    pub fn by_reference(&self, error: Duration) -> Option<ConstantDelay> {
        let all = self.referenced.sorted();
        let (lowest, middle) = (*all.first()?, *all.get(all.len() / 2)?);
        let error = error.nanos();
        // The floor may not have been reached: it is as far below the lowest as that is below the usual.
        let least = lowest.saturating_sub(middle.saturating_sub(lowest));
        Some(ConstantDelay {
            delay: Duration::from_nanos(lowest.max(0)),
            least: Duration::from_nanos(least.saturating_sub(error).max(0)),
            most: Duration::from_nanos(lowest.saturating_add(error).max(0)),
        })
    }

    /// Least delay in the device from an event to its sending; none if the device does not stamp the sending.
    pub fn inside_device(&self) -> Option<Duration> {
        self.device.map(Duration::from_nanos)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;
    use crate::recording::smooth;
    use crate::simulate::{Family, Scenario, Simulated};

    fn calibrated(family: Family, seed: u64) -> Calibration {
        let scenario = Scenario {
            duration_s: 200.0,
            ..family.scenario()
        };
        let simulated: Vec<Simulated> = scenario.simulate(seed).collect();
        let samples: Vec<Sample> = simulated.iter().map(|one| one.sample).collect();
        let rows = smooth(&samples, &Limits::default()).expect("possible samples");
        let mut calibration = Calibration::new();
        for (one, row) in simulated.iter().zip(&rows) {
            calibration.take(&one.sample, row, Some(one.truth));
        }
        calibration
    }

    #[test]
    fn requests_bound_the_delay_and_a_synchronised_clock_shows_it() {
        // The smallest delay of these packets is 300 µs.
        let truth = Duration::from_micros(300);
        for family in [Family::KernelAndFast, Family::Mixed] {
            let calibration = calibrated(family, 3);
            let found = calibration.by_requests().expect("there are requests");
            assert!(found.least <= truth && truth <= found.most, "{found:?}");
            assert!((found.delay - truth).nanos().abs() < 80_000, "{found:?}");
            let exact = calibration.by_reference(Duration::from_micros(5));
            let exact = exact.expect("the truth is there");
            assert!((exact.delay - truth).nanos().abs() < 30_000, "{exact:?}");
        }
    }

    #[test]
    fn packets_alone_show_nothing() {
        let calibration = calibrated(Family::Loaded40Hz, 3);
        assert_eq!(calibration.by_requests(), None);
        assert!(calibration.packets() > 5_000);
    }
}
