//! Reading samples from CSV text.

use timeloom_time::Time;

use crate::device_time::DeviceTime;
use crate::error::{Error, Result};
use crate::sample::{ActiveSample, PassiveSample, Sample, StampSource};

/// A sample and the line that it stands in, from one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// The line, from one; the header is line 1.
    pub line: usize,
    /// The sample.
    pub sample: Sample,
}

/// Where the columns are.
#[derive(Debug)]
struct Columns {
    kind: usize,
    device: usize,
    host_rx: usize,
    host_tx: Option<usize>,
    device_tx: Option<usize>,
    source: Option<usize>,
}

/// Reads samples: the first line names the columns, in any order.
///
/// `kind` (`passive` or `active`), `device_ns` and `host_rx_ns` are needed; `host_tx_ns` (for active samples),
/// `device_tx_ns` and `source` (`kernel` or `user`) may be missing or empty; others are left alone. Empty lines and
/// lines that begin with `#` are skipped; spaces around cells do not count.
///
/// # Errors
///
/// [`Error::MissingColumn`], and [`Error::BadCell`] or [`Error::BadRow`] with the line.
pub fn read_samples(text: &str) -> Result<Vec<Row>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text
        .lines()
        .enumerate()
        .map(|(index, line)| (index + 1, line.trim()))
        .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let header = lines.next().map_or("", |(_, line)| line);
    let columns = Columns::of(header)?;
    lines
        .map(|(line, cells)| {
            let cells: Vec<&str> = cells.split(',').map(str::trim).collect();
            let sample = columns.sample(line, &cells)?;
            sample.check().map_err(|source| Error::BadRow {
                line,
                source: Box::new(source),
            })?;
            Ok(Row { line, sample })
        })
        .collect()
}

impl Columns {
    fn of(header: &str) -> Result<Self> {
        let names: Vec<&str> = header.split(',').map(str::trim).collect();
        let place = |column: &str| names.iter().position(|name| *name == column);
        let needed = |column| place(column).ok_or(Error::MissingColumn { column });
        Ok(Self {
            kind: needed("kind")?,
            device: needed("device_ns")?,
            host_rx: needed("host_rx_ns")?,
            host_tx: place("host_tx_ns"),
            device_tx: place("device_tx_ns"),
            source: place("source"),
        })
    }

    fn sample(&self, line: usize, cells: &[&str]) -> Result<Sample> {
        let needed = |place: Option<usize>, column| {
            optional(line, cells, place, column)?.ok_or(Error::BadCell {
                line,
                column,
                text: String::new(),
                why: "missing",
            })
        };
        let device = DeviceTime::from_nanos(needed(Some(self.device), "device_ns")?);
        let host_rx = Time::from_nanos(needed(Some(self.host_rx), "host_rx_ns")?);
        match cell(cells, Some(self.kind)) {
            "passive" => Ok(Sample::Passive(PassiveSample {
                device_event: device,
                device_tx: optional(line, cells, self.device_tx, "device_tx_ns")?
                    .map(DeviceTime::from_nanos),
                host_rx,
                source: source(line, cell(cells, self.source))?,
            })),
            "active" => Ok(Sample::Active(ActiveSample {
                host_tx: Time::from_nanos(needed(self.host_tx, "host_tx_ns")?),
                device,
                host_rx,
            })),
            other => Err(bad(line, "kind", other, "neither passive nor active")),
        }
    }
}

fn cell<'a>(cells: &[&'a str], place: Option<usize>) -> &'a str {
    place
        .and_then(|place| cells.get(place))
        .copied()
        .unwrap_or("")
}

fn optional(
    line: usize,
    cells: &[&str],
    place: Option<usize>,
    column: &'static str,
) -> Result<Option<i64>> {
    match cell(cells, place) {
        "" => Ok(None),
        text => match text.parse() {
            Ok(nanos) => Ok(Some(nanos)),
            Err(_) => Err(bad(line, column, text, "no whole number of nanoseconds")),
        },
    }
}

fn source(line: usize, text: &str) -> Result<StampSource> {
    match text {
        "" | "user" => Ok(StampSource::User),
        "kernel" => Ok(StampSource::Kernel),
        other => Err(bad(line, "source", other, "neither kernel nor user")),
    }
}

fn bad(line: usize, column: &'static str, text: &str, why: &'static str) -> Error {
    Error::BadCell {
        line,
        column,
        text: text.chars().take(40).collect(),
        why,
    }
}
