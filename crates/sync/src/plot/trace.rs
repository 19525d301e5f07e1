//! A fit over time, in constant memory.

use timeloom_time::Duration;

use crate::mapped::{Health, Mapped};
use crate::sample::Sample;

/// The largest number of cells.
const CELLS: usize = 1_600;

/// Degraded estimates with a larger sigma are not drawn.
const WILD: Duration = Duration::from_millis(50);

/// A stretch of time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cell {
    /// Index of the stretch, counted from the first sample in steps of `width_ns`.
    index: u64,
    /// Smallest and largest distance of arrivals from the estimate, in nanoseconds.
    pub(super) delay: (i64, i64),
    /// The last estimate: host minus device time, in nanoseconds.
    pub(super) offset: i64,
    /// The bounds around it, as distances from the estimate.
    pub(super) bounds: (Option<i64>, Option<i64>),
    pub(super) sigma: i64,
    pub(super) device_ns: i64,
    pub(super) epoch: u32,
}

/// Samples and host times over time: cells of equal length; when there are too many, neighbours are merged.
#[derive(Debug, Default)]
pub struct Trace {
    origin: Option<i64>,
    width: i64,
    cells: Vec<Cell>,
}

impl Trace {
    /// Adds a sample and its host time.
    pub fn add(&mut self, sample: &Sample, mapped: &Mapped) {
        if mapped.health == Health::Degraded && mapped.sigma > WILD {
            // Outliers would set the scale of the picture.
            return;
        }
        let arrival = sample.host_rx().nanos();
        let origin = *self.origin.get_or_insert(arrival);
        self.width = self.width.max(1_000_000);
        let since = arrival.saturating_sub(origin).max(0);
        let index = u64::try_from(since / self.width).unwrap_or(0);
        let device = sample.device().nanos();
        let host = mapped.host.nanos();
        let delay = arrival.saturating_sub(host);
        let cell = Cell {
            index,
            delay: (delay, delay),
            offset: host.saturating_sub(device),
            bounds: (
                mapped
                    .bounds
                    .lower
                    .map(|time| time.nanos().saturating_sub(host)),
                mapped
                    .bounds
                    .upper
                    .map(|time| time.nanos().saturating_sub(host)),
            ),
            sigma: mapped.sigma.nanos(),
            device_ns: device,
            epoch: mapped.epoch,
        };
        match self.cells.last_mut() {
            Some(last) if last.index >= index && last.epoch == cell.epoch => last.join(&cell),
            _ => self.cells.push(cell),
        }
        while self.cells.len() > CELLS && self.width < i64::MAX / 4 {
            self.halve();
        }
    }

    fn halve(&mut self) {
        self.width *= 2;
        let mut halved: Vec<Cell> = Vec::with_capacity(CELLS);
        for mut cell in self.cells.drain(..) {
            cell.index /= 2;
            match halved.last_mut() {
                Some(last) if last.index == cell.index && last.epoch == cell.epoch => {
                    last.join(&cell);
                }
                _ => halved.push(cell),
            }
        }
        // Epochs that are shorter than a cell are too many to be drawn.
        halved.truncate(CELLS);
        self.cells = halved;
    }

    pub(super) fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// Seconds from the first sample to a cell.
    pub(super) fn seconds(&self, cell: &Cell) -> f64 {
        cell.index as f64 * self.width as f64 * 1e-9
    }
}

impl Cell {
    fn join(&mut self, later: &Self) {
        let delay = (
            self.delay.0.min(later.delay.0),
            self.delay.1.max(later.delay.1),
        );
        *self = Self {
            index: self.index,
            delay,
            ..*later
        };
    }
}
