//! The device's clock: NTP 32.32, seconds above and fractions below.

/// Ticks of a nanosecond.
const PER_NANO: f64 = 4.294_967_296;

/// Nanoseconds as ticks, to the nearest.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a float cast saturates, and callers have lengths of scans"
)]
pub(crate) fn ticks_of_nanos(nanos: f64) -> i64 {
    (nanos * PER_NANO).round() as i64
}

/// The signed distance of two tick counts in nanoseconds.
pub(crate) fn nanos_between(from: u64, to: u64) -> f64 {
    to.wrapping_sub(from).cast_signed() as f64 / PER_NANO
}
