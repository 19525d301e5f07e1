//! Sizes of data, in binary units as `ros2 bag info` prints them.

const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];

/// A size: `1023 B`, `287.8 KiB`.
pub fn size(bytes: u64) -> String {
    with_unit(bytes as f64)
}

/// A rate of data: `12 B/s`, `287.8 KiB/s`.
pub fn bandwidth(bytes_per_second: f64) -> String {
    with_unit(bytes_per_second.max(0.0)) + "/s"
}

fn with_unit(bytes: f64) -> String {
    let (mut value, mut unit) = (bytes, 0);
    // 1023.96 would be printed as 1024.0.
    while value >= if unit == 0 { 1023.5 } else { 1023.95 } && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    let digits = usize::from(unit > 0);
    format!("{value:.digits$} {}", UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        let sizes = [0, 1023, 1024, 1536, 294_665, (1 << 20) - 1, 5 << 30].map(size);
        assert_eq!(
            sizes,
            [
                "0 B",
                "1023 B",
                "1.0 KiB",
                "1.5 KiB",
                "287.8 KiB",
                "1.0 MiB",
                "5.0 GiB"
            ]
        );
        assert_eq!(size(u64::MAX), "16777216.0 TiB");
    }

    #[test]
    fn bandwidths_are_sizes_per_second() {
        assert_eq!(bandwidth(12.4), "12 B/s");
        assert_eq!(bandwidth(1023.7), "1.0 KiB/s");
        assert_eq!(bandwidth(2.5e6), "2.4 MiB/s");
        assert_eq!(bandwidth(-3.0), "0 B/s");
    }
}
