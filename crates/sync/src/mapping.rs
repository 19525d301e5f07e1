//! A fitted mapping that is used again: rows of one fit convert other device times.

use timeloom_time::{Duration, Steady, Time};

use crate::anchor::whole_nanos;
use crate::device_time::{DeviceTime, check_stamp};
use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::line::{nanos_between, seconds_between};
use crate::mapped::{Bounds, Health, Mapped};

/// Seconds at an end of an epoch that give the slope beyond it.
const END: f64 = 10.0;
/// Seconds beyond an end from which on it is holdover.
const HOLDOVER: f64 = 2.0;

/// The rows of a fit, by epoch: converts any device time by its neighbours.
///
/// ```
/// use timeloom_sync::{DeviceTime, Limits, Mapping, PassiveSample, Sample, smooth};
/// use timeloom_time::Time;
///
/// let samples: Vec<Sample> = (0..1_000)
///     .map(|packet| {
///         let (event, arrival) = (packet * 10_000_000, packet * 10_000_000 + 2_000_000);
///         let device = DeviceTime::from_nanos(event);
///         Sample::Passive(PassiveSample::new(device, Time::from_nanos(arrival)))
///     })
///     .collect();
/// let limits = Limits::default();
/// let rows = samples.iter().map(Sample::device).zip(smooth(&samples, &limits)?);
/// let mapping = Mapping::new(rows, &limits);
/// let mapped = mapping.convert(DeviceTime::from_nanos(5_005_000_000), None)?;
/// assert!((mapped.host.nanos() - 5_007_000_000).abs() < 50_000);
/// # Ok::<(), timeloom_sync::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Mapping {
    limits: Limits,
    epochs: Vec<EpochMap>,
}

/// The rows of one epoch, in the order of device time.
#[derive(Debug, Clone)]
struct EpochMap {
    epoch: u32,
    rows: Vec<(i64, Mapped)>,
}

impl Mapping {
    /// The mapping of rows as a fit returns them, in any order.
    pub fn new(rows: impl IntoIterator<Item = (DeviceTime, Mapped)>, limits: &Limits) -> Self {
        let mut epochs: Vec<EpochMap> = Vec::new();
        for (device, mapped) in rows {
            let row = (device.nanos(), mapped);
            if mapped.health == Health::Unsynced {
                continue;
            }
            let known = epochs
                .iter_mut()
                .rev()
                .find(|one| one.epoch == mapped.epoch);
            match known {
                Some(known) => known.rows.push(row),
                None => epochs.push(EpochMap {
                    epoch: mapped.epoch,
                    rows: vec![row],
                }),
            }
        }
        for epoch in &mut epochs {
            epoch
                .rows
                .sort_by_key(|(device, mapped)| (*device, mapped.host));
            epoch.keep_order();
        }
        Self {
            limits: *limits,
            epochs,
        }
    }

    /// Converts a device time that was heard of at about `near`: the epoch is the one that comes nearest to it.
    ///
    /// # Errors
    ///
    /// [`Error::NoEpoch`] if there is none at all.
    pub fn convert_near(&self, device: DeviceTime, near: Time<Steady>) -> Result<Mapped> {
        check_stamp("device", device.nanos())?;
        let all = self.epochs.iter();
        let all = all.filter_map(|one| one.convert(device.nanos(), &self.limits));
        let nearest = all.min_by_key(|mapped| mapped.host.nanos().abs_diff(near.nanos()));
        nearest.ok_or_else(|| Error::NoEpoch {
            epoch: None,
            known: numbers(self.epochs.iter()),
        })
    }

    /// Converts a device time: within an epoch by the rows around it, beyond its ends by the slope there.
    ///
    /// Without a number, the epoch is the one whose rows lie around the device time, or are nearest to it.
    ///
    /// # Errors
    ///
    /// [`Error::NoEpoch`] if there is none of this number, or none at all; [`Error::ManyEpochs`] if several lie around
    /// the device time: a device that restarts shows the same times again.
    pub fn convert(&self, device: DeviceTime, epoch: Option<u32>) -> Result<Mapped> {
        check_stamp("device", device.nanos())?;
        let at = device.nanos();
        let around = || self.epochs.iter().filter(|one| one.distance(at) == 0);
        if epoch.is_none() && around().count() > 1 {
            return Err(Error::ManyEpochs {
                device_ns: at,
                epochs: numbers(around()),
            });
        }
        let nearest = || self.epochs.iter().min_by_key(|one| one.distance(at));
        let chosen = epoch.map_or_else(nearest, |number| {
            self.epochs.iter().find(|one| one.epoch == number)
        });
        let mapped = chosen.and_then(|one| one.convert(at, &self.limits));
        mapped.ok_or_else(|| Error::NoEpoch {
            epoch,
            known: numbers(self.epochs.iter()),
        })
    }
}

impl Mapping {
    /// Converts a device time by the first and the last epoch around it, or by the nearest one alone.
    pub(crate) fn convert_all(&self, device: DeviceTime) -> Result<(Mapped, Option<Mapped>)> {
        check_stamp("device", device.nanos())?;
        let at = device.nanos();
        let mut around = self.epochs.iter().filter(|one| one.distance(at) == 0);
        let Some(first) = around.next() else {
            return Ok((self.convert(device, None)?, None));
        };
        let convert = |one: &EpochMap| one.convert(at, &self.limits);
        let last = around.next_back().and_then(convert);
        let first = convert(first);
        first.map_or_else(
            || Ok((self.convert(device, Some(0))?, None)),
            |first| Ok((first, last)),
        )
    }
}

fn numbers<'a>(epochs: impl Iterator<Item = &'a EpochMap>) -> String {
    let numbers: Vec<String> = epochs.map(|one| one.epoch.to_string()).take(20).collect();
    if numbers.is_empty() {
        return "none".into();
    }
    numbers.join(", ")
}

impl EpochMap {
    /// Rows of a live view may contradict each other: a later device time never has an earlier host time.
    fn keep_order(&mut self) {
        let mut furthest = None;
        for (_, mapped) in &mut self.rows {
            mapped.host = mapped.host.max(furthest.unwrap_or(mapped.host));
            mapped.bounds = mapped.bounds.widened_to(mapped.host);
            furthest = Some(mapped.host);
        }
    }

    /// Distance of a device time outside of the range, in nanoseconds.
    fn distance(&self, at: i64) -> u64 {
        match (self.rows.first(), self.rows.last()) {
            (Some((first, _)), _) if at < *first => first.abs_diff(at),
            (_, Some((last, _))) if at > *last => last.abs_diff(at),
            _ => 0,
        }
    }

    fn convert(&self, at: i64, limits: &Limits) -> Option<Mapped> {
        let after = self.rows.partition_point(|(device, _)| *device <= at);
        let left = after.checked_sub(1).and_then(|place| self.rows.get(place));
        match (left, self.rows.get(after)) {
            (Some(left), Some(right)) => Some(between(left, right, at, limits)),
            (Some(row), None) => Some(beyond(row, self.slope_at_end(row.0), at, limits)),
            (None, Some(row)) => Some(beyond(row, self.slope_at_start(row.0), at, limits)),
            (None, None) => None,
        }
    }

    /// Nanoseconds of offset per second over the last seconds.
    fn slope_at_end(&self, last: i64) -> f64 {
        let from = self
            .rows
            .partition_point(|row| seconds_between(row.0, last) > END);
        slope(self.rows.get(from), self.rows.last())
    }

    fn slope_at_start(&self, first: i64) -> f64 {
        let until = self
            .rows
            .partition_point(|row| seconds_between(first, row.0) <= END);
        slope(self.rows.first(), self.rows.get(until.saturating_sub(1)))
    }
}

fn slope(from: Option<&(i64, Mapped)>, to: Option<&(i64, Mapped)>) -> f64 {
    let (Some(from), Some(to)) = (from, to) else {
        return 0.0;
    };
    let seconds = seconds_between(from.0, to.0);
    if seconds < 1.0 {
        return 0.0;
    }
    nanos_between(offset(from), offset(to)) / seconds
}

fn offset(row: &(i64, Mapped)) -> i64 {
    row.1.host.nanos().saturating_sub(row.0)
}

fn between(left: &(i64, Mapped), right: &(i64, Mapped), at: i64, limits: &Limits) -> Mapped {
    let span = nanos_between(left.0, right.0).max(1.0);
    let share = nanos_between(left.0, at) / span;
    let (from, to) = (left.1.host.nanos(), right.1.host.nanos());
    let host = from.saturating_add(whole_nanos(share * nanos_between(from, to)));
    let nearer = if share < 0.5 { left } else { right };
    Mapped {
        host: Time::from_nanos(host),
        sigma: left.1.sigma.max(right.1.sigma),
        bounds: both(&reach(left, at, limits), &reach(right, at, limits)),
        ..nearer.1
    }
}

fn beyond(row: &(i64, Mapped), slope: f64, at: i64, limits: &Limits) -> Mapped {
    let distance = seconds_between(row.0, at);
    let host = row.1.host.nanos().saturating_add(at.saturating_sub(row.0));
    // The rate may change on the way.
    let kappa = limits.drift_ppm_per_minute * 1e3 / 120.0;
    let grown = whole_nanos(kappa * distance * distance);
    let is_far = distance.abs() > HOLDOVER && row.1.health == Health::Locked;
    // No host time is below zero if the rows are not.
    let zero = Time::from_nanos(0);
    let host = Time::from_nanos(host.saturating_add(whole_nanos(slope * distance)));
    let is_below = row.1.host >= zero && host < zero;
    Mapped {
        host: if is_below { zero } else { host },
        sigma: Duration::from_nanos(row.1.sigma.nanos().saturating_add(grown)),
        bounds: reach(row, at, limits),
        health: if is_far {
            Health::Holdover
        } else {
            row.1.health
        },
        epoch: row.1.epoch,
    }
}

/// The bounds of a row, seen from another device time.
fn reach(row: &(i64, Mapped), at: i64, limits: &Limits) -> Bounds {
    let away = at.saturating_sub(row.0);
    let loose = whole_nanos((seconds_between(row.0, at).abs() * limits.skew_ppm * 1e3).ceil());
    let moved = |time: Time<Steady>, by: i64| {
        Time::from_nanos(time.nanos().saturating_add(away).saturating_add(by))
    };
    let bounds = row.1.bounds;
    Bounds {
        lower: bounds.lower.map(|time| moved(time, loose.saturating_neg())),
        upper: bounds.upper.map(|time| moved(time, loose)),
    }
}

fn both(one: &Bounds, other: &Bounds) -> Bounds {
    Bounds {
        lower: one.lower.max(other.lower),
        upper: match (one.upper, other.upper) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000_000_000;

    fn row(device_s: i64, offset_ns: i64, epoch: u32) -> (DeviceTime, Mapped) {
        let host = Time::from_nanos(device_s * SECOND + offset_ns);
        let mapped = Mapped {
            host,
            sigma: Duration::from_nanos(100),
            bounds: Bounds {
                lower: None,
                upper: Some(host.saturating_add(Duration::from_micros(50))),
            },
            health: Health::Locked,
            epoch,
        };
        (DeviceTime::from_nanos(device_s * SECOND), mapped)
    }

    #[test]
    fn times_between_and_beyond_rows_follow_the_line() {
        let rows = (0..100).map(|second| row(second, 7_000 + second * 1_000, 0));
        let mapping = Mapping::new(rows, &Limits::default());
        let host = |device: i64| {
            let mapped = mapping
                .convert(DeviceTime::from_nanos(device), None)
                .unwrap();
            (mapped.host.nanos() - device, mapped.health)
        };
        assert_eq!(host(SECOND * 3 / 2), (8_500, Health::Locked));
        assert_eq!(host(110 * SECOND), (117_000, Health::Holdover));
        let before = mapping.convert(DeviceTime::from_nanos(-10 * SECOND), None);
        let before = before.unwrap();
        assert_eq!((before.host.nanos(), before.health), (0, Health::Holdover));
        let near = mapping
            .convert(DeviceTime::from_nanos(SECOND / 2), None)
            .unwrap();
        let upper = near.bounds.upper.unwrap().nanos() - near.host.nanos();
        assert!((50_000..=310_000).contains(&upper), "{upper}");
    }

    #[test]
    fn ambiguous_device_times_need_an_epoch() {
        let rows = (0..10).flat_map(|second| [row(second, 0, 0), row(second + 5, 500, 1)]);
        let mapping = Mapping::new(rows, &Limits::default());
        let at =
            |second: i64, epoch| mapping.convert(DeviceTime::from_nanos(second * SECOND), epoch);
        assert_eq!(at(2, None).unwrap().epoch, 0);
        assert_eq!(at(12, None).unwrap().epoch, 1);
        let error = at(7, None).unwrap_err().to_string();
        assert!(error.contains("0, 1"), "{error}");
        assert_eq!(at(7, Some(1)).unwrap().host.nanos(), 7 * SECOND + 500);
        let near = mapping.convert_near(
            DeviceTime::from_nanos(7 * SECOND),
            Time::from_nanos(7 * SECOND + 400),
        );
        assert_eq!(near.unwrap().epoch, 1);
        assert!(
            at(7, Some(9))
                .unwrap_err()
                .to_string()
                .contains("no epoch 9")
        );
    }
}
