//! From the clock of one host to that of another.

/// Converts log times of a bag, so that bags of several hosts can be read in one order.
///
/// A later time must never become an earlier one, or messages come out of order.
pub trait TimeMap: Send + Sync {
    /// The converted time, in nanoseconds since the epoch.
    fn map(&self, time_ns: i64) -> i64;
}
