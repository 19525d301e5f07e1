//! Whether two columns of times are of two clocks that run.

use timeloom_sync::Sample;

use crate::failure::Failure;

/// Pairs of rows before anything is said.
const FEWEST: u32 = 20;
/// Seconds of host time before anything is said.
const SHORTEST: f64 = 1.0;
/// Rows further apart than this say nothing, in seconds.
const FURTHEST: f64 = 3_600.0;
/// Clocks that differ by more than this part are of different units, unless a larger skew is asked for.
const MOST: f64 = 0.02;

/// How far both clocks advanced from row to row.
#[derive(Debug, Default)]
pub(super) struct Rates {
    last: Option<(i64, i64)>,
    device: f64,
    host: f64,
    pairs: u32,
}

impl Rates {
    pub(super) fn add(&mut self, sample: &Sample) {
        let now = (sample.device().nanos(), sample.host_rx().nanos());
        let Some(last) = self.last.replace(now) else {
            return;
        };
        let seconds = |from: i64, to: i64| (i128::from(to) - i128::from(from)) as f64 * 1e-9;
        let (device, host) = (seconds(last.0, now.0), seconds(last.1, now.1));
        if device > 0.0 && host > 0.0 && host < FURTHEST {
            self.pairs = self.pairs.saturating_add(1);
            self.device += device;
            self.host += host;
        }
    }

    /// Refuses columns that are of different units: every result would be nonsense.
    pub(super) fn check(&self, max_skew_ppm: f64) -> Result<(), Failure> {
        let most = MOST.max(2e-6 * max_skew_ppm);
        let ratio = self.device / self.host;
        let enough = self.pairs >= FEWEST && self.host >= SHORTEST;
        if !enough || (ratio - 1.0).abs() <= most {
            return Ok(());
        }
        let text = format!(
            "device time advanced by {:.6} s while host time advanced by {:.6} s: {ratio:.6} times as fast",
            self.device, self.host
        );
        Err(Failure::new(text).hint(
            "name what the device counts with --device-unit and --device-bits (and --host-unit); for a clock that is really so far off, raise --max-skew",
        ))
    }
}
