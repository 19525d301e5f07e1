use timeloom_time::PlaybackRate;

use super::control::Refusal;

/// A second in eleven days.
const LEAST: f64 = 1e-6;
/// Eleven days in a second.
const MOST: f64 = 1e6;

/// A rate that somebody can mean.
///
/// # Errors
/// [`Refusal::Rate`] for zero, negative numbers and what is no number, [`Refusal::AbsurdRate`] beyond a million.
pub fn sane_rate(rate: f64) -> Result<PlaybackRate, Refusal> {
    let exact = PlaybackRate::new(rate)?;
    if (LEAST..=MOST).contains(&rate) {
        Ok(exact)
    } else {
        Err(Refusal::AbsurdRate {
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
    fn only_sane_rates_are_taken() {
        for rate in [1.0, 0.1, 1e-6, 1e6] {
            assert!(sane_rate(rate).is_ok(), "{rate}");
        }
        for rate in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-7, 1.1e6, 1e300] {
            assert!(sane_rate(rate).is_err(), "{rate}");
        }
        assert_eq!(
            sane_rate(1e9).unwrap_err().to_string(),
            "the playback rate 1000000000 is absurd: it must be between 0.000001 and 1000000"
        );
    }
}
