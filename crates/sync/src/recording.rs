//! Whole recordings: as they would have been seen live, or smoothed with what came later.

mod smoother;

use timeloom_time::Duration;

use crate::error::Result;
use crate::limits::Limits;
use crate::mapped::{Bounds, Health, Mapped};
use crate::method::Method;
use crate::recording::smoother::EpochSmoother;
use crate::sample::Sample;
use crate::sensor_clock::{Doubt, SensorClock};

/// Takes a sample and converts its device time right after it, using only samples up to this one.
///
/// Where the estimator has nothing yet, the arrival stands in, with health "unsynced".
///
/// # Errors
///
/// As [`SensorClock::push`].
pub fn causal_one(sample: &Sample, clock: &mut SensorClock) -> Result<Mapped> {
    clock.push(sample)?;
    let mapped = clock.convert(sample.device());
    Ok(mapped.unwrap_or_else(|| unsynced(sample, clock.epoch())))
}

/// Converts the device time of each sample right after it came, as [`causal_one`].
///
/// # Errors
///
/// As [`SensorClock::push`], for the first sample that cannot be.
pub fn causal(samples: &[Sample], clock: &mut SensorClock) -> Result<Vec<Mapped>> {
    samples
        .iter()
        .map(|sample| causal_one(sample, clock))
        .collect()
}

/// Converts the device time of each sample with all samples of its epoch, earlier and later ones.
///
/// Epochs are those of the live view, but for samples that were in doubt until a new epoch began: they belong to it.
/// Host times, sigma and bounds are better.
///
/// # Errors
///
/// As [`SensorClock::push`], for the first sample that cannot be.
pub fn smooth(samples: &[Sample], limits: &Limits) -> Result<Vec<Mapped>> {
    let mut clock = Method::Envelope.clock(*limits);
    let mut live: Vec<Mapped> = Vec::with_capacity(samples.len());
    let mut doubts = Vec::with_capacity(samples.len());
    for sample in samples {
        let mapped = causal_one(sample, &mut clock)?;
        let jumped = live.last().is_some_and(|last| last.epoch != mapped.epoch);
        if jumped {
            attribute(&mapped, &mut live, &mut doubts);
        }
        live.push(mapped);
        doubts.push(clock.doubt());
    }
    let withheld: Vec<bool> = doubts
        .iter()
        .map(|doubt| *doubt == Doubt::Withheld)
        .collect();
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

/// What was in doubt until an epoch began belongs to that epoch.
fn attribute(first: &Mapped, live: &mut [Mapped], doubts: &mut [Doubt]) {
    let Some(&kind) = doubts.last().filter(|doubt| **doubt != Doubt::None) else {
        return;
    };
    let rows = live.iter_mut().zip(doubts).rev();
    for (row, doubt) in rows.take_while(|(_, doubt)| **doubt == kind) {
        *row = Mapped {
            host: row.host,
            ..*first
        };
        *doubt = Doubt::None;
    }
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
