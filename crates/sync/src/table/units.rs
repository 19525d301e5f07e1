//! The units of a table.

use super::cells::{Cells, whole};
use crate::device_time::{DeviceTime, STAMP_LIMIT};
use crate::error::{Error, Result};
use crate::ticks::{ClockSpec, TickCounter};

const OUT_OF_RANGE: &str = "out of range: stamps lie within 4611686018427387903 ns of zero";

/// A decimal unit of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum TimeUnit {
    /// Nanoseconds, whole ones.
    #[default]
    Nanoseconds,
    /// Microseconds, with up to three digits behind the point.
    Microseconds,
    /// Milliseconds, with up to six.
    Milliseconds,
    /// Seconds, with up to nine.
    Seconds,
}

impl TimeUnit {
    /// The digits behind the point that make nanoseconds.
    const fn digits(self) -> usize {
        match self {
            Self::Nanoseconds => 0,
            Self::Microseconds => 3,
            Self::Milliseconds => 6,
            Self::Seconds => 9,
        }
    }

    /// Nanoseconds of a decimal number, exactly; digits beyond them are cut off.
    pub(super) fn nanos(self, text: &str) -> std::result::Result<i64, &'static str> {
        let (number, digits) = match self {
            Self::Nanoseconds => (whole(text).to_owned(), 0),
            _ => match text.split_once('.') {
                Some((number, fraction)) if !fraction.starts_with(['+', '-']) => {
                    let cut: String = fraction.chars().take(self.digits()).collect();
                    let digits = cut.len();
                    (format!("{number}{cut}"), digits)
                }
                _ => (text.to_owned(), 0),
            },
        };
        let missing = u32::try_from(self.digits() - digits).unwrap_or(0);
        let number = number.parse::<i128>().map_err(|error| match error.kind() {
            std::num::IntErrorKind::PosOverflow | std::num::IntErrorKind::NegOverflow => {
                OUT_OF_RANGE
            }
            _ => match self {
                Self::Nanoseconds => "not a whole number of nanoseconds",
                _ => "not a decimal number",
            },
        })?;
        let nanos = number
            .checked_mul(10_i128.pow(missing))
            .and_then(|nanos| i64::try_from(nanos).ok())
            .filter(|nanos| nanos.unsigned_abs() <= STAMP_LIMIT.unsigned_abs());
        nanos.ok_or(OUT_OF_RANGE)
    }
}

/// The unit of the device's column.
#[derive(Debug, Clone)]
pub enum DeviceColumn {
    /// Times that never wrap.
    Time(TimeUnit),
    /// A counter that wraps.
    Counter(TickCounter),
}

impl Default for DeviceColumn {
    fn default() -> Self {
        Self::Time(TimeUnit::Nanoseconds)
    }
}

impl DeviceColumn {
    /// A counter, without its wraps.
    pub const fn counter(spec: ClockSpec) -> Self {
        Self::Counter(TickCounter::new(spec))
    }

    /// The device time of a cell, if there is any.
    pub(super) fn read(
        &mut self,
        cells: &Cells<'_>,
        place: Option<usize>,
        column: &'static str,
    ) -> Result<Option<DeviceTime>> {
        match self {
            Self::Time(unit) => {
                let nanos = cells.time(place, column, *unit)?;
                Ok(nanos.map(DeviceTime::from_nanos))
            }
            Self::Counter(counter) => {
                let Some(ticks) = cells.ticks(place, column)? else {
                    return Ok(None);
                };
                let time = counter.unwrap(ticks).map_err(|source| Error::BadRow {
                    line: cells.line(),
                    column,
                    source: Box::new(source),
                })?;
                Ok(Some(time))
            }
        }
    }
}

/// The units of the columns of a table.
#[derive(Debug, Clone, Default)]
pub struct TableUnits {
    /// The unit of the columns `device_ns` and `device_tx_ns`, regardless of their names.
    pub device: DeviceColumn,
    /// The columns of the host.
    pub host: TimeUnit,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimal_numbers_are_exact() {
        let seconds = |text: &str| TimeUnit::Seconds.nanos(text);
        assert_eq!(
            seconds("1700000000.123456789"),
            Ok(1_700_000_000_123_456_789)
        );
        assert_eq!(seconds("-0.5"), Ok(-500_000_000));
        assert_eq!(seconds("12"), Ok(12_000_000_000));
        assert_eq!(TimeUnit::Microseconds.nanos("7.25"), Ok(7_250));
        assert_eq!(TimeUnit::Milliseconds.nanos("3."), Ok(3_000_000));
        assert!(seconds("1.-5").is_err());
        assert!(seconds("99999999999999999999").is_err());
        assert!(TimeUnit::Nanoseconds.nanos("1.5").is_err());
    }
}
