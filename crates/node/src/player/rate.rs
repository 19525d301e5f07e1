use timeloom_time::PlaybackRate;

use super::control::Refusal;

/// One second in eleven days.
const LEAST: f64 = 1e-6;
/// Eleven days in a second.
const MOST: f64 = 1e6;

/// Checks that a rate is in the accepted range.
///
/// # Errors
/// [`Refusal::Rate`] for zero, negative numbers and NaN, [`Refusal::RateOutOfRange`] outside 0.000001 to 1000000.
pub fn sane_rate(rate: f64) -> Result<PlaybackRate, Refusal> {
    let exact = PlaybackRate::new(rate)?;
    if (LEAST..=MOST).contains(&rate) {
        Ok(exact)
    } else {
        Err(Refusal::RateOutOfRange {
            rate,
            least: LEAST,
            most: MOST,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_out_of_range_are_refused() {
        for rate in [1.0, 0.1, 1e-6, 1e6] {
            assert!(sane_rate(rate).is_ok(), "{rate}");
        }
        for rate in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-7, 1.1e6, 1e300] {
            assert!(sane_rate(rate).is_err(), "{rate}");
        }
        assert_eq!(
            sane_rate(1e9).unwrap_err().to_string(),
            "playback rate 1000000000 is out of range: expected 0.000001 to 1000000"
        );
    }
}
