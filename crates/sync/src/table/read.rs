//! Reading samples from CSV text.

use timeloom_time::Time;

use super::cells::{Cells, Header};
use crate::device_time::DeviceTime;
use crate::error::{Error, Result};
use crate::sample::{ActiveSample, PassiveSample, Sample, StampSource};

/// A sample and the line that it stands in, from one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// The line, from one.
    pub line: usize,
    /// The sample.
    pub sample: Sample,
}

/// Where the columns are.
#[derive(Debug, Clone)]
struct Columns {
    kind: usize,
    device: usize,
    host_rx: usize,
    host_tx: Option<usize>,
    device_tx: Option<usize>,
    source: Option<usize>,
}

/// Reads samples line by line: the first line names the columns, in any order.
///
/// `kind` (`passive` or `active`), `device_ns` and `host_rx_ns` are needed; `host_tx_ns` (for active samples),
/// `device_tx_ns` and `source` (`kernel` or `user`) may be missing or empty; others are left alone. Empty lines and
/// lines that begin with `#` are skipped; spaces and quotes around cells do not count.
#[derive(Debug, Clone, Default)]
pub struct SampleReader {
    line: usize,
    columns: Option<Columns>,
}

impl SampleReader {
    /// A reader that expects the header.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next line, without its end; a sample if it holds one.
    ///
    /// # Errors
    ///
    /// [`Error::MissingColumn`], [`Error::DoubleColumn`], [`Error::BadCell`] or [`Error::BadRow`], with the line.
    pub fn line(&mut self, text: &str) -> Result<Option<Row>> {
        self.line += 1;
        let text = match self.line {
            1 => text.strip_prefix('\u{feff}').unwrap_or(text),
            _ => text,
        };
        let text = text.trim();
        if text.is_empty() || text.starts_with('#') {
            return Ok(None);
        }
        let Some(columns) = &self.columns else {
            self.columns = Some(Columns::of(text, self.line)?);
            return Ok(None);
        };
        let line = self.line;
        let sample = columns.sample(&Cells::new(line, text))?;
        sample.check().map_err(|source| Error::BadRow {
            line,
            column: column_of(&source),
            source: Box::new(source),
        })?;
        Ok(Some(Row { line, sample }))
    }

    /// Says that there are no more lines.
    ///
    /// # Errors
    ///
    /// [`Error::NoHeader`] if there was not even a header.
    pub fn finish(&self) -> Result<()> {
        match self.columns {
            Some(_) => Ok(()),
            None => Err(Error::NoHeader),
        }
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
    fn of(text: &str, line: usize) -> Result<Self> {
        let header = Header::new(line, text);
        Ok(Self {
            kind: header.needed("kind")?,
            device: header.needed("device_ns")?,
            host_rx: header.needed("host_rx_ns")?,
            host_tx: header.place("host_tx_ns")?,
            device_tx: header.place("device_tx_ns")?,
            source: header.place("source")?,
        })
    }

    fn sample(&self, cells: &Cells<'_>) -> Result<Sample> {
        let kind = cells.text(Some(self.kind));
        let is_active = kind.eq_ignore_ascii_case("active");
        if !is_active && !kind.eq_ignore_ascii_case("passive") {
            return Err(cells.bad("kind", kind, "neither passive nor active"));
        }
        let device = DeviceTime::from_nanos(cells.needed(Some(self.device), "device_ns")?);
        let host_rx = Time::from_nanos(cells.needed(Some(self.host_rx), "host_rx_ns")?);
        if is_active {
            return Ok(Sample::Active(ActiveSample {
                host_tx: Time::from_nanos(cells.needed(self.host_tx, "host_tx_ns")?),
                device,
                host_rx,
            }));
        }
        let source = match cells.text(self.source) {
            "" | "user" => StampSource::User,
            "kernel" => StampSource::Kernel,
            other => return Err(cells.bad("source", other, "neither kernel nor user")),
        };
        let device_tx = cells.optional(self.device_tx, "device_tx_ns")?;
        Ok(Sample::Passive(PassiveSample {
            device_event: device,
            device_tx: device_tx.map(DeviceTime::from_nanos),
            host_rx,
            source,
        }))
    }
}
