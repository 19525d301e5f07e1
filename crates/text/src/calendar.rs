//! Dates.

use jiff::Timestamp;
use jiff::tz::Offset;

use crate::seconds;

/// A time like `Nov 15 2026 08:58:51.923572955 (1794733131.923572955)`, as `ros2 bag info` prints it, at an offset of the
/// local time zone.
pub fn calendar_time(nanoseconds: i64, utc_offset_seconds: i32) -> String {
    let offset = Offset::from_seconds(utc_offset_seconds).unwrap_or(Offset::UTC);
    let time = Timestamp::from_nanosecond(nanoseconds.into()).unwrap_or_default();
    let local = offset.to_datetime(time);
    let exact = seconds(nanoseconds);
    format!("{} ({exact})", local.strftime("%b %-d %Y %H:%M:%S.%9f"))
}

/// A time like `2026-11-15T08:58:51.923572955Z`, always with nine digits.
pub fn rfc3339(nanoseconds: i64) -> String {
    let time = Timestamp::from_nanosecond(nanoseconds.into()).unwrap_or_default();
    format!("{time:.9}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calendar_times_look_like_those_of_rosbag2() {
        assert_eq!(
            calendar_time(1_794_733_131_923_572_955, 0),
            "Nov 15 2026 08:58:51.923572955 (1794733131.923572955)"
        );
        assert_eq!(
            calendar_time(0, 3600),
            "Jan 1 1970 01:00:00.000000000 (0.000000000)"
        );
        assert_eq!(
            calendar_time(951_782_400_000_000_000, 0),
            "Feb 29 2000 00:00:00.000000000 (951782400.000000000)"
        );
        assert_eq!(
            calendar_time(-1, -7200),
            "Dec 31 1969 21:59:59.999999999 (-0.000000001)"
        );
    }

    #[test]
    fn every_time_of_64_bits_has_a_date() {
        assert!(calendar_time(i64::MIN, 0).starts_with("Sep 21 1677 00:12:43.145224192"));
        assert!(calendar_time(i64::MAX, 0).starts_with("Apr 11 2262 23:47:16.854775807"));
        assert_eq!(rfc3339(-1), "1969-12-31T23:59:59.999999999Z");
        assert_eq!(rfc3339(0), "1970-01-01T00:00:00.000000000Z");
    }
}
