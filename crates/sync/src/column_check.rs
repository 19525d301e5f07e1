//! Whether two columns of times are of a device and of a host.

use timeloom_time::Duration;

use crate::anchor::whole_nanos;
use crate::error::{Error, Result};
use crate::sample::Sample;

/// Pairs of rows before anything is said about units.
const FEWEST: u32 = 20;
/// Seconds of host time before anything is said about units.
const SHORTEST: f64 = 1.0;
/// Rows further apart than this say nothing, in seconds.
const FURTHEST: f64 = 3_600.0;
/// Clocks that differ by more than this part count in different units, unless a larger skew is asked for.
const MOST: f64 = 0.02;
/// Packets that are looked at for exchanged columns.
const PACKETS: usize = 4_096;
/// Fewer packets show no distribution.
const FEWEST_PACKETS: usize = 200;
/// Delays are skewed to late arrivals; exchanged columns make the same of them to the other side.
const SKEWED: f64 = -0.05;

/// Looks at samples for columns in different units, and for exchanged ones.
///
/// Both make every result nonsense, and neither makes a single row impossible.
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
    /// A delay makes a packet late, never early, and it disturbs the arrivals, not the device's own stamps. Columns in
    /// which both are the other way round are likely exchanged. Packets with no delays worth mentioning show nothing.
    pub fn looks_exchanged(&self) -> bool {
        if self.steps.len() < FEWEST_PACKETS {
            return false;
        }
        let late = |pair: &[(f64, f64)]| {
            let lateness = |step: (f64, f64)| step.1 - step.0;
            // One packet against its neighbours: late here, and early in the next step.
            lateness(pair[0]) - lateness(pair[1])
        };
        let lateness = self.steps.windows(2).map(late).collect();
        let device = spread(self.steps.iter().map(|step| step.0).collect());
        let host = spread(self.steps.iter().map(|step| step.1).collect());
        skewness(lateness) < SKEWED && device > host
    }
}

/// Seconds from one row to the next: of the device, of the host.
fn step(from: (i64, i64), to: (i64, i64)) -> (f64, f64) {
    let seconds = |from: i64, to: i64| (i128::from(to) - i128::from(from)) as f64 * 1e-9;
    (seconds(from.0, to.0), seconds(from.1, to.1))
}

/// The values at 5 %, 50 % and 95 %.
fn quantiles(mut values: Vec<f64>) -> [f64; 3] {
    values.sort_by(f64::total_cmp);
    [1, 10, 19].map(|twentieth| values[values.len() * twentieth / 20])
}

fn spread(values: Vec<f64>) -> f64 {
    let [low, _, high] = quantiles(values);
    high - low
}

/// How much farther large values lie from the middle than small ones, from -1 to 1.
fn skewness(values: Vec<f64>) -> f64 {
    let [low, middle, high] = quantiles(values);
    (high + low - 2.0 * middle) / (high - low).max(f64::MIN_POSITIVE)
}
