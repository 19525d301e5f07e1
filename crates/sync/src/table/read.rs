//! Reading samples from CSV text.

use timeloom_time::{Steady, Time};

use super::cells::{Cells, Header, Lines};
use super::units::TableUnits;
use crate::error::{Error, Result};
use crate::sample::{ActiveSample, PassiveSample, Sample, StampSource};

/// A sample and the line that it stands in, from one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// The line, from one.
    pub line: usize,
    /// The sample.
    pub sample: Sample,
    /// Arrival by the host's steady clock, if the table has it: `host_rx_ns` may be from a clock that is set.
    pub steady: Option<Time<Steady>>,
    /// The value of the column of [`SampleReader::with_reference`]: the true host time of the sample.
    pub reference: Option<Time<Steady>>,
}

/// The indices of the columns.
#[derive(Debug, Clone)]
struct Columns {
    kind: usize,
    device: usize,
    host_rx: usize,
    host_tx: Option<usize>,
    device_tx: Option<usize>,
    source: Option<usize>,
    steady: Option<usize>,
    reference: Option<usize>,
}

/// Reads samples line by line: the first line names the columns, in any order.
///
/// `kind` (`passive` or `active`), `device_ns` and `host_rx_ns` are needed; `host_tx_ns` (for active samples),
/// `device_tx_ns`, `source` (`kernel` or `user`) and `host_steady_ns` (the arrival by a clock that is never set) may be
/// missing or empty; others are left alone. Empty lines and lines that begin with `#` are skipped; spaces and quotes
/// around cells do not count, nor do commas between quotes.
#[derive(Debug, Clone, Default)]
pub struct SampleReader {
    lines: Lines,
    columns: Option<Columns>,
    units: TableUnits,
    reference: Option<String>,
}

impl SampleReader {
    /// A reader that expects the header.
    pub fn new() -> Self {
        Self::default()
    }

    /// A reader of numbers that are not nanoseconds.
    pub fn with_units(units: TableUnits) -> Self {
        Self {
            units,
            ..Self::default()
        }
    }

    /// The same reader, which also reads the true host time of each sample from a column of this name.
    #[must_use]
    pub fn with_reference(mut self, column: &str) -> Self {
        self.reference = Some(column.to_owned());
        self
    }

    /// Whether the header was read.
    pub const fn has_header(&self) -> bool {
        self.columns.is_some()
    }

    /// Takes the next line, without its end; a sample if it holds one.
    ///
    /// # Errors
    ///
    /// [`Error::MissingColumn`], [`Error::DoubleColumn`], [`Error::BadCell`] or [`Error::BadRow`], with the line.
    pub fn line(&mut self, text: &str) -> Result<Option<Row>> {
        let Some(text) = self.lines.next(text) else {
            return Ok(None);
        };
        let line = self.lines.number();
        let Some(columns) = &self.columns else {
            self.columns = Some(Columns::of(text, line, self.reference.as_deref())?);
            return Ok(None);
        };
        let cells = Cells::new(line, text);
        let sample = columns.sample(&cells, &mut self.units)?;
        let host = |place, column| -> Result<Option<Time<Steady>>> {
            let nanos = cells.time(place, column, self.units.host)?;
            Ok(nanos.map(Time::from_nanos))
        };
        let steady = host(columns.steady, "host_steady_ns")?;
        let reference = host(columns.reference, "reference")?;
        sample.check().map_err(|source| Error::BadRow {
            line,
            column: column_of(&source),
            source: Box::new(source),
        })?;
        Ok(Some(Row {
            line,
            sample,
            steady,
            reference,
        }))
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

/// Reads a whole text with a [`SampleReader`].
///
/// # Errors
///
/// As [`SampleReader::line`] and [`SampleReader::finish`].
pub fn read_samples(text: &str) -> Result<Vec<Row>> {
    let mut reader = SampleReader::new();
    let mut rows = Vec::new();
    for line in text.lines() {
        rows.extend(reader.line(line)?);
    }
    reader.finish()?;
    Ok(rows)
}

/// The column to look at first.
const fn column_of(error: &Error) -> &'static str {
    match error {
        Error::SentBeforeEvent { .. } => "device_tx_ns",
        _ => "host_rx_ns",
    }
}

impl Columns {
    fn of(text: &str, line: usize, reference: Option<&str>) -> Result<Self> {
        let header = Header::new(line, text);
        let reference = match reference {
            Some(name) => Some(header.named(name)?),
            None => None,
        };
        Ok(Self {
            reference,
            steady: header.place("host_steady_ns")?,
            kind: header.needed("kind")?,
            device: header.needed("device_ns")?,
            host_rx: header.needed("host_rx_ns")?,
            host_tx: header.place("host_tx_ns")?,
            device_tx: header.place("device_tx_ns")?,
            source: header.place("source")?,
        })
    }

    fn sample(&self, cells: &Cells<'_>, units: &mut TableUnits) -> Result<Sample> {
        let kind = cells.text(Some(self.kind));
        let is_active = kind.eq_ignore_ascii_case("active");
        if !is_active && !kind.eq_ignore_ascii_case("passive") {
            return Err(cells.bad("kind", kind, "neither passive nor active"));
        }
        let missing = |column| cells.bad(column, "", "missing");
        let device = units.device.read(cells, Some(self.device), "device_ns")?;
        let device = device.ok_or_else(|| missing("device_ns"))?;
        let host = |place, column| -> Result<Time<Steady>> {
            let nanos = cells.time(place, column, units.host)?;
            nanos.map(Time::from_nanos).ok_or_else(|| missing(column))
        };
        let host_rx = host(Some(self.host_rx), "host_rx_ns")?;
        if is_active {
            return Ok(Sample::Active(ActiveSample {
                host_tx: host(self.host_tx, "host_tx_ns")?,
                device,
                host_rx,
            }));
        }
        let source = match cells.text(self.source) {
            "" | "user" => StampSource::User,
            "kernel" => StampSource::Kernel,
            other => return Err(cells.bad("source", other, "neither kernel nor user")),
        };
        Ok(Sample::Passive(PassiveSample {
            device_event: device,
            device_tx: units.device.read(cells, self.device_tx, "device_tx_ns")?,
            host_rx,
            source,
        }))
    }
}
