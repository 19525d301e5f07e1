//! Whole recordings: as they would have been seen live, or smoothed with what came later.

mod smoother;

use timeloom_time::Duration;

use crate::error::Result;
use crate::limits::Limits;
use crate::mapped::{Bounds, Health, Mapped};
use crate::method::Method;
use crate::recording::smoother::EpochSmoother;
use crate::sample::Sample;
use crate::sensor_clock::SensorClock;

/// Converts the device time of each sample right after it came, using only samples up to that one.
///
/// Where the estimator has nothing yet, the arrival stands in, with health "unsynced".
///
/// # Errors
///
/// As [`SensorClock::push`], for the first sample that cannot be.
pub fn causal(samples: &[Sample], clock: &mut SensorClock) -> Result<Vec<Mapped>> {
    samples
        .iter()
        .map(|sample| {
            clock.push(sample)?;
            let mapped = clock.convert(sample.device());
            Ok(mapped.unwrap_or_else(|| unsynced(sample, clock.epoch())))
        })
        .collect()
}

/// Converts the device time of each sample with all samples of its epoch, earlier and later ones.
///
/// Epochs and health are those of the live view; host times, sigma and bounds are better.
///
/// # Errors
///
/// As [`SensorClock::push`], for the first sample that cannot be.
pub fn smooth(samples: &[Sample], limits: &Limits) -> Result<Vec<Mapped>> {
    let mut clock = Method::Envelope.clock(*limits);
    let mut live = Vec::with_capacity(samples.len());
    let mut withheld = Vec::with_capacity(samples.len());
    for sample in samples {
        let before = clock.counters().outliers;
        live.append(&mut causal(std::slice::from_ref(sample), &mut clock)?);
        withheld.push(clock.counters().outliers > before);
    }
    let mut from = 0;
    while let Some(first) = live.get(from) {
        let epoch = first.epoch;
        let rest = live.iter().skip(from);
        let length = rest.take_while(|mapped| mapped.epoch == epoch).count();
        let rows = from..from + length;
        let smoother = EpochSmoother::new(&samples[rows.clone()], &withheld[rows.clone()], limits);
        smoother.apply(
            &samples[rows.clone()],
            &withheld[rows.clone()],
            &mut live[rows],
        );
        from += length;
    }
    Ok(live)
}

fn unsynced(sample: &Sample, epoch: u32) -> Mapped {
    Mapped {
        host: sample.host_rx(),
        sigma: Duration::MAX,
        bounds: Bounds::default(),
        health: Health::Unsynced,
        epoch,
    }
}
