//! Plausibility of the columns of device and host times.

use timeloom_time::Duration;

use crate::anchor::whole_nanos;
use crate::error::{Error, Result};
use crate::sample::Sample;

/// Pairs of rows before units are judged.
const FEWEST: u32 = 20;
/// Seconds of host time before units are judged.
const SHORTEST: f64 = 1.0;
/// Rows further apart than this are ignored, in seconds.
const FURTHEST: f64 = 3_600.0;
/// Clocks that differ by more than this share count in different units, unless a larger skew is configured.
const MOST: f64 = 0.02;
/// Packets that are looked at for exchanged columns.
const PACKETS: usize = 4_096;
/// Fewer packets show no distribution.
const FEWEST_PACKETS: usize = 200;
/// Columns look exchanged if the device's times vary so many times more than the host's.
const IRREGULAR: f64 = 10.0;
/// Stamps that vary by fewer ticks than this are coarse.
const TICKS: f64 = 4.0;

/// Looks at samples for columns in different units, and for exchanged ones.
///
/// Both make every result nonsense, and neither makes a single row impossible.
///
/// ```
/// use timeloom_sync::{ColumnCheck, DeviceTime, PassiveSample, Sample};
/// use timeloom_time::Time;
///
/// // Device times in microseconds, host times in nanoseconds.
/// let mut check = ColumnCheck::default();
/// for packet in 0..1_000 {
///     let device = DeviceTime::from_nanos(packet * 10_000);
///     let host = Time::from_nanos(packet * 10_000_000);
///     check.add(&Sample::Passive(PassiveSample::new(device, host)));
/// }
/// assert!(check.units(500.0).is_err());
/// ```
#[derive(Debug, Clone, Default)]
pub struct ColumnCheck {
    last: Option<(i64, i64)>,
    last_packet: Option<(i64, i64)>,
    device: f64,
    host: f64,
    pairs: u32,
    /// The first packets, in seconds from row to row: of the device, of the host.
    steps: Vec<(f64, f64)>,
}

impl ColumnCheck {
    /// Takes a sample, in the order of arrival.
    pub fn add(&mut self, sample: &Sample) {
        let now = (sample.device().nanos(), sample.host_rx().nanos());
        if let Some(last) = self.last.replace(now) {
            let (device, host) = step(last, now);
            if device > 0.0 && host > 0.0 && host < FURTHEST {
                self.pairs = self.pairs.saturating_add(1);
                self.device += device;
                self.host += host;
            }
        }
        if matches!(sample, Sample::Passive(_)) && self.steps.len() < PACKETS {
            let last = self.last_packet.replace(now);
            self.steps.extend(last.map(|last| step(last, now)));
        }
    }

    /// Refuses columns that are in different units.
    ///
    /// # Errors
    ///
    /// [`Error::DifferentUnits`] if the clocks run so differently that no skew explains it.
    pub fn units(&self, max_skew_ppm: f64) -> Result<()> {
        let most = MOST.max(2e-6 * max_skew_ppm);
        let enough = self.pairs >= FEWEST && self.host >= SHORTEST;
        if !enough || (self.device / self.host - 1.0).abs() <= most {
            return Ok(());
        }
        let duration = |seconds: f64| Duration::from_nanos(whole_nanos(seconds * 1e9));
        Err(Error::DifferentUnits {
            device: duration(self.device),
            host: duration(self.host),
        })
    }

    /// Whether the times of device and host look exchanged.
    ///
    /// Most sensors measure at a regular pace, and delays disturb the arrivals, not the device's own stamps. If it is
    /// the other way round, the columns are likely exchanged. Sensors that measure at irregular times, and stamps of
    /// coarse ticks, show nothing.
    pub fn looks_exchanged(&self) -> bool {
        if self.steps.len() < FEWEST_PACKETS {
            return false;
        }
        let (device, grain) = spread(self.steps.iter().map(|step| step.0).collect());
        let (host, _) = spread(self.steps.iter().map(|step| step.1).collect());
        device > IRREGULAR * host && device > TICKS * grain
    }
}

/// Seconds from one row to the next: of the device, of the host.
fn step(from: (i64, i64), to: (i64, i64)) -> (f64, f64) {
    let seconds = |from: i64, to: i64| (i128::from(to) - i128::from(from)) as f64 * 1e-9;
    (seconds(from.0, to.0), seconds(from.1, to.1))
}

/// The distance of the values at 5 % and at 95 %, and the least distance of two different values.
fn spread(mut values: Vec<f64>) -> (f64, f64) {
    values.sort_by(f64::total_cmp);
    let steps = values.windows(2).map(|pair| pair[1] - pair[0]);
    let grain = steps
        .filter(|step| *step > 5e-10)
        .fold(f64::INFINITY, f64::min);
    let [low, high] = [1, 19].map(|twentieth| values[values.len() * twentieth / 20]);
    (high - low, grain)
}
