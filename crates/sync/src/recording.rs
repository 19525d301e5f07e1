//! Recordings: as seen live, or smoothed with later samples.

mod smoother;

use std::ops::Range;

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
/// Before the first estimate, the arrival is used instead, with health "unsynced".
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
/// As [`SensorClock::push`], for the first invalid sample.
pub fn causal(samples: &[Sample], clock: &mut SensorClock) -> Result<Vec<Mapped>> {
    samples
        .iter()
        .map(|sample| causal_one(sample, clock))
        .collect()
}

/// Converts the device time of each sample with all samples of its epoch, earlier and later ones.
///
/// Epochs and health are those of the live view, but for samples that were in doubt until a new epoch began: they
/// belong to it. Host times, sigma and bounds are better.
///
/// # Errors
///
/// As [`SensorClock::push`], for the first invalid sample.
pub fn smooth(samples: &[Sample], limits: &Limits) -> Result<Vec<Mapped>> {
    smooth_with(samples, Method::Envelope.clock(*limits)).map(|(rows, _)| rows)
}

/// As [`smooth`], with a clock of [`Method::Envelope`] that was set up before; it is returned, with its limits and
/// events.
///
/// # Errors
///
/// As [`SensorClock::push`], for the first invalid sample.
pub fn smooth_with(
    samples: &[Sample],
    mut clock: SensorClock,
) -> Result<(Vec<Mapped>, SensorClock)> {
    let mut live = Live::default();
    for sample in samples {
        live.take(sample, &mut clock)?;
    }
    let limits = *clock.limits();
    let mut before = None;
    for segment in live.segments() {
        let (samples, marks) = (&samples[segment.clone()], &live.marks[segment.clone()]);
        let smoother = EpochSmoother::new(samples, marks, &limits);
        smoother.apply(samples, marks, &mut live.rows[segment], &mut before);
    }
    Ok((live.rows, clock))
}

/// The assessment of a row during the forward pass.
#[derive(Debug, Clone, Copy)]
struct Mark {
    doubt: Doubt,
    /// Whether the row agrees with all others of its epoch.
    consistent: bool,
    /// Whether earlier bounds were discarded at this row.
    gives_up: bool,
    /// Whether the rate changed at once, as this row shows.
    new_rate: bool,
    /// The largest undetected movement of a clock.
    hidden: Duration,
}

/// The live view of a recording.
#[derive(Debug, Default)]
struct Live {
    rows: Vec<Mapped>,
    marks: Vec<Mark>,
}

impl Live {
    fn take(&mut self, sample: &Sample, clock: &mut SensorClock) -> Result<()> {
        let before = clock.breaks();
        let mapped = causal_one(sample, clock)?;
        let after = clock.breaks();
        let jumped = self
            .rows
            .last()
            .is_some_and(|last| last.epoch != mapped.epoch);
        if jumped {
            self.attribute(&mapped);
        }
        self.rows.push(mapped);
        self.marks.push(Mark {
            doubt: clock.doubt(),
            consistent: clock.is_consistent(),
            gives_up: before.given_up != after.given_up,
            new_rate: before.rates != after.rates,
            hidden: clock.hidden_move(),
        });
        Ok(())
    }

    /// Rows that are smoothed together: epochs, cut where the rate changed at once.
    fn segments(&self) -> Vec<Range<usize>> {
        let mut starts = vec![0];
        let pairs = self.rows.windows(2).enumerate();
        starts.extend(
            pairs
                .filter(|(_, pair)| pair[0].epoch != pair[1].epoch)
                .map(|(place, _)| place + 1),
        );
        let changes = self
            .marks
            .iter()
            .enumerate()
            .filter(|(_, mark)| mark.new_rate);
        starts.extend(changes.map(|(place, _)| {
            // The rows before it that did not fit have the new rate.
            let earlier = self.marks.get(..place).unwrap_or_default();
            place
                - earlier
                    .iter()
                    .rev()
                    .take_while(|mark| !mark.consistent)
                    .count()
        }));
        starts.sort_unstable();
        starts.dedup();
        let ends = starts.iter().skip(1).copied().chain([self.rows.len()]);
        starts
            .iter()
            .copied()
            .zip(ends)
            .map(|(from, until)| from..until)
            .collect()
    }

    /// Doubtful rows before the start of an epoch belong to that epoch.
    fn attribute(&mut self, first: &Mapped) {
        let Some(kind) = self.marks.last().map(|mark| mark.doubt) else {
            return;
        };
        if kind == Doubt::None {
            return;
        }
        let rows = self.rows.iter_mut().zip(&mut self.marks).rev();
        for (row, mark) in rows.take_while(|(_, mark)| mark.doubt == kind) {
            *row = Mapped {
                host: row.host,
                ..*first
            };
            (mark.doubt, mark.consistent) = (Doubt::None, true);
        }
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
