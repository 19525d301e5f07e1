//! Samples in a row that lie too high: a longer path, or a clock that was set.

use crate::line::seconds_between;

/// Number of consecutive samples, and their time span in seconds, that cast doubt on the line.
const LONG: (u32, f64) = (8, 0.25);

/// The length of the row, and how high its last samples lie at least.
#[derive(Debug, Clone, Default)]
pub(super) struct HighRow {
    count: u32,
    since: i64,
    is_long: bool,
    /// The least height of the samples since the last multiple of eight, and of the eight before.
    ///
    /// Only the last ones count: a late packet from before a step may be the first of the row.
    least: (f64, f64),
}

impl HighRow {
    /// Adds a sample of a device time that lies so many nanoseconds above the line.
    pub(super) fn add(&mut self, at: i64, above: f64) {
        let (many, long) = LONG;
        if self.count == 0 {
            *self = Self {
                since: at,
                least: (f64::INFINITY, f64::INFINITY),
                ..Self::default()
            };
        } else if self.count.is_multiple_of(many) {
            self.least = (f64::INFINITY, self.least.0);
        }
        self.count = self.count.saturating_add(1);
        self.least.0 = self.least.0.min(above);
        self.is_long |= self.count >= many && seconds_between(self.since, at) >= long;
    }

    /// Whether the row casts doubt on the line.
    pub(super) const fn is_long(&self) -> bool {
        self.is_long
    }

    /// Least height of the last samples; zero without samples.
    pub(super) fn least(&self) -> f64 {
        if self.count == 0 {
            return 0.0;
        }
        self.least.0.min(self.least.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_packet_before_a_step_is_forgotten() {
        let mut row = HighRow::default();
        assert!(!row.is_long() && row.least().abs() < 1.0);
        row.add(0, 300e3);
        for packet in 1..8 {
            row.add(packet * 25_000_000, 5e6);
        }
        assert!(!row.is_long());
        assert!((row.least() - 300e3).abs() < 1.0);
        for packet in 8..1_000 {
            row.add(packet * 25_000_000, 5e6);
            if packet >= 16 {
                assert!((row.least() - 5e6).abs() < 1.0, "{packet}: {}", row.least());
            }
            assert_eq!(row.is_long(), packet >= 10);
        }
    }
}
