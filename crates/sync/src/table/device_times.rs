//! Reading device times alone from CSV text.

use super::cells::{Cells, Header, Lines};
use super::units::DeviceColumn;
use crate::device_time::DeviceTime;
use crate::error::{Error, Result};

/// Reads the column `device_ns` of any CSV text, line by line; a list of bare numbers without a header works too.
#[derive(Debug, Clone, Default)]
pub struct DeviceTimeReader {
    lines: Lines,
    place: Option<usize>,
    units: DeviceColumn,
}

impl DeviceTimeReader {
    /// A reader that expects the header, or the first number.
    pub fn new() -> Self {
        Self::default()
    }

    /// A reader of numbers that are not nanoseconds.
    pub fn with_units(units: DeviceColumn) -> Self {
        Self {
            units,
            ..Self::default()
        }
    }

    /// Takes the next line, without its end; a device time if it holds one.
    ///
    /// # Errors
    ///
    /// [`Error::MissingColumn`], [`Error::DoubleColumn`] or [`Error::BadCell`], with the line.
    pub fn line(&mut self, text: &str) -> Result<Option<DeviceTime>> {
        let Some(text) = self.lines.next(text) else {
            return Ok(None);
        };
        if self.place.is_none() {
            let is_number =
                text.starts_with(|letter: char| letter.is_ascii_digit() || letter == '-');
            if !is_number {
                self.place = Some(Header::new(self.lines.number(), text).needed("device_ns")?);
                return Ok(None);
            }
            self.place = Some(0);
        }
        let cells = Cells::new(self.lines.number(), text);
        let device = self.units.read(&cells, self.place, "device_ns")?;
        device
            .map(Some)
            .ok_or_else(|| cells.bad("device_ns", "", "missing"))
    }

    /// Signals the end of the table.
    ///
    /// # Errors
    ///
    /// [`Error::NoHeader`] if there was nothing at all.
    pub fn finish(&self) -> Result<()> {
        self.place.map(|_| ()).ok_or(Error::NoHeader)
    }
}
