//! Reading results of a fit from CSV text.

use timeloom_time::{Duration, Time};

use super::cells::{Cells, Header, Lines};
use crate::device_time::DeviceTime;
use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::mapped::{Bounds, Health, Mapped};

/// The indices of the columns.
#[derive(Debug, Clone)]
struct Columns {
    device: usize,
    host: usize,
    sigma: Option<usize>,
    lower: Option<usize>,
    upper: Option<usize>,
    health: Option<usize>,
    epoch: Option<usize>,
    skew: Option<usize>,
    drift: Option<usize>,
}

/// Reads what [`mapped_line`](super::mapped_line) wrote, line by line; only `device_ns` and `host_ns` are needed.
#[derive(Debug, Clone, Default)]
pub struct MappedReader {
    lines: Lines,
    columns: Option<Columns>,
    /// The largest skew and drift that rows name.
    largest: (Option<f64>, Option<f64>),
}

impl MappedReader {
    /// A reader that expects the header.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next line, without its end; a row if it holds one.
    ///
    /// # Errors
    ///
    /// [`Error::MissingColumn`], [`Error::DoubleColumn`] or [`Error::BadCell`], with the line.
    pub fn line(&mut self, text: &str) -> Result<Option<(DeviceTime, Mapped)>> {
        let Some(text) = self.lines.next(text) else {
            return Ok(None);
        };
        let Some(columns) = &self.columns else {
            let header = Header::new(self.lines.number(), text);
            self.columns = Some(Columns {
                device: header.needed("device_ns")?,
                host: header.needed("host_ns")?,
                sigma: header.place("sigma_ns")?,
                lower: header.place("lower_ns")?,
                upper: header.place("upper_ns")?,
                health: header.place("health")?,
                epoch: header.place("epoch")?,
                skew: header.place("max_skew_ppm")?,
                drift: header.place("max_drift_ppm")?,
            });
            return Ok(None);
        };
        let cells = Cells::new(self.lines.number(), text);
        for (largest, place, column) in [
            (&mut self.largest.0, columns.skew, "max_skew_ppm"),
            (&mut self.largest.1, columns.drift, "max_drift_ppm"),
        ] {
            let limit = limit(&cells, place, column)?;
            *largest = largest.map_or(limit, |old: f64| {
                limit.map(|new| new.max(old)).or(Some(old))
            });
        }
        columns.row(&cells).map(Some)
    }

    /// The limits of the rows, where the table names them.
    pub fn limits(&self) -> Limits {
        let usual = Limits::default();
        Limits {
            skew_ppm: self.largest.0.unwrap_or(usual.skew_ppm),
            drift_ppm_per_minute: self.largest.1.unwrap_or(usual.drift_ppm_per_minute),
            ..usual
        }
    }

    /// Signals the end of the table.
    ///
    /// # Errors
    ///
    /// [`Error::NoHeader`] if there was not even a header.
    pub fn finish(&self) -> Result<()> {
        self.columns.as_ref().map(|_| ()).ok_or(Error::NoHeader)
    }
}

/// A limit of a row, if it names one.
fn limit(cells: &Cells<'_>, place: Option<usize>, column: &'static str) -> Result<Option<f64>> {
    let text = cells.text(place);
    if text.is_empty() {
        return Ok(None);
    }
    let limit = text
        .parse::<f64>()
        .ok()
        .filter(|limit| (0.0..=1e9).contains(limit));
    let limit = limit.ok_or_else(|| cells.bad(column, text, "not a number from 0"))?;
    Ok(Some(limit))
}

impl Columns {
    fn row(&self, cells: &Cells<'_>) -> Result<(DeviceTime, Mapped)> {
        let device = cells.needed(Some(self.device), "device_ns")?;
        let host = cells.needed(Some(self.host), "host_ns")?;
        let lower = cells.optional(self.lower, "lower_ns")?;
        let upper = cells.optional(self.upper, "upper_ns")?;
        let health = match cells.text(self.health) {
            "" => Health::Locked,
            text => text.parse().map_err(|()| {
                cells.bad(
                    "health",
                    text,
                    "none of unsynced, converging, locked, holdover, degraded",
                )
            })?,
        };
        let epoch = match cells.text(self.epoch) {
            "" => 0,
            text => text
                .parse()
                .map_err(|_error| cells.bad("epoch", text, "not a number of an epoch"))?,
        };
        let mapped = Mapped {
            host: Time::from_nanos(host),
            sigma: self.sigma(cells)?,
            bounds: Bounds {
                lower: lower.map(Time::from_nanos),
                upper: upper.map(Time::from_nanos),
            },
            health,
            epoch,
        };
        Ok((DeviceTime::from_nanos(device), mapped))
    }

    fn sigma(&self, cells: &Cells<'_>) -> Result<Duration> {
        let text = cells.text(self.sigma);
        // Unknown bounds may exceed the range of stamps.
        if text.parse() == Ok(i64::MAX) {
            return Ok(Duration::MAX);
        }
        match cells.optional(self.sigma, "sigma_ns")? {
            Some(nanos) if nanos < 0 => Err(cells.bad("sigma_ns", text, "below zero")),
            nanos => Ok(Duration::from_nanos(nanos.unwrap_or(0))),
        }
    }
}
