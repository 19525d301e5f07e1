//! Sizes and times as rosbag2 prints them.

/// A size like `287.8 KiB`.
pub(super) fn size(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let (mut value, mut unit) = (bytes as f64, 0);
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    let name = UNITS.get(unit).copied().unwrap_or("B");
    if unit == 0 {
        format!("{bytes} {name}")
    } else {
        format!("{value:.1} {name}")
    }
}

/// Seconds with nine digits.
pub(super) fn seconds(nanoseconds: i64) -> String {
    let sign = if nanoseconds < 0 { "-" } else { "" };
    let value = nanoseconds.unsigned_abs();
    format!(
        "{sign}{}.{:09}",
        value / 1_000_000_000,
        value % 1_000_000_000
    )
}

/// A time like `Nov 15 2026 08:58:51.923572955 (1794733131.923572955)`, shifted by the offset of the local time zone.
pub(super) fn time(nanoseconds: i64, offset_seconds: i32) -> String {
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let total = nanoseconds.div_euclid(1_000_000_000) + i64::from(offset_seconds);
    let fraction = nanoseconds.rem_euclid(1_000_000_000);
    let (days, second) = (total.div_euclid(86_400), total.rem_euclid(86_400));
    let (year, month, day) = civil(days);
    let month = MONTHS.get(month).copied().unwrap_or("?");
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!(
        "{month} {day} {year} {hour:02}:{minute:02}:{second:02}.{fraction:09} ({})",
        seconds(nanoseconds)
    )
}

/// Year, month from 0, day from 1, of a day since 1970 in the Gregorian calendar.
fn civil(days: i64) -> (i64, usize, i64) {
    // Days since 0000-03-01, in eras of 400 years: the leap day is then the last day of a year.
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = (from_march + 2) % 12;
    let year = year_of_era + era * 400 + i64::from(from_march >= 10);
    (year, usize::try_from(month).unwrap_or(0), day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_sizes_look_like_those_of_rosbag2() {
        assert_eq!(
            time(1_794_733_131_923_572_955, 0),
            "Nov 15 2026 08:58:51.923572955 (1794733131.923572955)"
        );
        assert_eq!(time(0, 3600), "Jan 1 1970 01:00:00.000000000 (0.000000000)");
        assert_eq!(
            time(951_782_400_000_000_000, 0),
            "Feb 29 2000 00:00:00.000000000 (951782400.000000000)"
        );
        assert_eq!(seconds(4_116_726_244), "4.116726244");
        assert_eq!(seconds(-1), "-0.000000001");
        assert_eq!(
            (size(0), size(1023), size(294_665), size(5 << 30)),
            (
                "0 B".into(),
                "1023 B".into(),
                "287.8 KiB".into(),
                "5.0 GiB".into()
            )
        );
    }
}
