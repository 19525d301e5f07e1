//! Samples with two stamps of the host: by a clock that may be set, and by one that never is.

use timeloom_time::{Duration, Steady, Time};

use crate::mapped::Mapped;
use crate::sample::Sample;

/// A clock that is slewed runs wrong by no more than this, in parts of one.
const SLEWING: f64 = 1e-3;
/// Two readings of the two clocks belong to the same moment up to this, in nanoseconds.
const READING: f64 = 200e3;

/// The offset between the clock that stamped samples and the host's steady clock, from sample to sample.
///
/// System time may be set at any moment, and packets alone cannot tell that from a longer path. Where the steady time
/// of each arrival is known too, the estimate lives on the steady clock, and a step changes only the way back.
///
/// ```
/// use timeloom_sync::{DeviceTime, HostClocks, PassiveSample, Sample};
/// use timeloom_time::{Duration, Time};
///
/// let mut clocks = HostClocks::new();
/// let packet = |device, stamp| {
///     Sample::Passive(PassiveSample::new(DeviceTime::from_nanos(device), Time::from_nanos(stamp)))
/// };
/// // Stamps are of the system clock, which is set by 5 ms between the two packets.
/// let (_, step) = clocks.steady(&packet(0, 1_000_000_000), Time::from_nanos(0));
/// assert_eq!(step, None);
/// let (sample, step) = clocks.steady(&packet(10_000_000, 1_015_000_000), Time::from_nanos(10_000_000));
/// assert_eq!(step, Some(Duration::from_millis(5)));
/// assert_eq!(sample.expect("a packet").host_rx().nanos(), 10_000_000);
/// ```
#[derive(Debug, Clone, Default)]
pub struct HostClocks {
    /// The newest steady time, and stamp minus steady time then.
    newest: Option<(i64, i64)>,
    steps: u32,
}

impl HostClocks {
    /// No sample yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The sample on the steady clock, and by how much the other clock was set since the sample before, if it was.
    ///
    /// `steady` is the arrival by the steady clock. A request during which the clock was set cannot be used: its
    /// sample is none.
    pub fn steady(
        &mut self,
        sample: &Sample,
        steady: Time<Steady>,
    ) -> (Option<Sample>, Option<Duration>) {
        let offset = sample.host_rx().nanos().saturating_sub(steady.nanos());
        let step = self.newest.and_then(|(at, before)| {
            let change = offset.saturating_sub(before);
            let passed = steady.nanos().saturating_sub(at) as f64;
            let usual = READING + SLEWING * passed.abs();
            (change.unsigned_abs() as f64 > usual).then_some(Duration::from_nanos(change))
        });
        self.steps = self.steps.wrapping_add(u32::from(step.is_some()));
        self.newest = Some((steady.nanos(), offset));
        let usable = step.is_none() || matches!(sample, Sample::Passive(_));
        let shifted = sample.shifted(Duration::from_nanos(offset.saturating_neg()));
        (usable.then_some(shifted), step)
    }

    /// A sample of the steady clock on the clock that stamped the newest sample.
    #[must_use]
    pub fn sample(&self, sample: &Sample) -> Sample {
        let offset = self.newest.map_or(0, |(_, offset)| offset);
        sample.shifted(Duration::from_nanos(offset))
    }

    /// A result on the clock that stamped the newest sample; each step of it begins an epoch.
    #[must_use]
    pub fn stamped(&self, mapped: Mapped) -> Mapped {
        let offset = Duration::from_nanos(self.newest.map_or(0, |(_, offset)| offset));
        let move_by = |time: Time<Steady>| time.saturating_add(offset);
        Mapped {
            host: move_by(mapped.host),
            bounds: crate::Bounds {
                lower: mapped.bounds.lower.map(move_by),
                upper: mapped.bounds.upper.map(move_by),
            },
            epoch: mapped.epoch.wrapping_add(self.steps),
            ..mapped
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device_time::DeviceTime;
    use crate::sample::{ActiveSample, PassiveSample};

    const MS: i64 = 1_000_000;

    #[test]
    fn a_step_of_a_millisecond_is_seen_and_slewing_is_none() {
        let mut clocks = HostClocks::new();
        let mut steps = Vec::new();
        for second in 0..60_i64 {
            let steady = second * 1_000 * MS;
            // 500 ppm of slewing all the time, and 1 ms at once after half a minute.
            let system = steady + second * MS / 2 + if second < 30 { 0 } else { MS };
            let sample = PassiveSample::new(DeviceTime::from_nanos(0), Time::from_nanos(system));
            let (shifted, step) = clocks.steady(&Sample::Passive(sample), Time::from_nanos(steady));
            assert_eq!(shifted.expect("a packet").host_rx().nanos(), steady);
            steps.extend(step.map(|step| (second, step.nanos())));
        }
        assert_eq!(steps, [(30, 3 * MS / 2)]);
    }

    #[test]
    fn a_request_across_a_step_is_left_out() {
        let mut clocks = HostClocks::new();
        let request = |tx: i64, rx: i64| {
            Sample::Active(ActiveSample {
                host_tx: Time::from_nanos(tx),
                device: DeviceTime::default(),
                host_rx: Time::from_nanos(rx),
            })
        };
        let (first, _) = clocks.steady(&request(0, 2 * MS), Time::from_nanos(2 * MS));
        assert!(first.is_some());
        let across = request(10 * MS, 600 * MS);
        let (second, step) = clocks.steady(&across, Time::from_nanos(12 * MS));
        assert_eq!((second, step), (None, Some(Duration::from_millis(588))));
    }
}
