//! The share of the delay of arrivals in the corridor between requests and arrivals.

/// The size of the smallest delay from an event to the arrival of its packet, in nanoseconds: larger ones are ever
/// less likely.
pub(super) const USUAL_DELAY: f64 = 2e6;
/// The same from sending to arrival: a packet needs 120 µs on a wire of 100 Mbit/s.
pub(super) const USUAL_TRANSIT: f64 = 100e3;
/// Wider corridors hold little information about the smallest delay, in nanoseconds.
const WIDE: f64 = 1.2e6;
/// The derivative is taken over this part of the width.
const STEP: f64 = 1e-3;

/// The smallest delay of arrivals that is likely if it lies between zero and `width`, in nanoseconds, and by how much
/// it changes with the width.
///
/// Small delays are likelier than large ones, while a request may take long to reach the program in the device that
/// reads its clock. So it is half of a narrow corridor, and no more than the usual delay in a wider one. A corridor of
/// many milliseconds shows only that requests are slow, and nothing is taken off.
pub(super) fn likely_delay(width: f64, usual: f64) -> (f64, f64) {
    let step = (STEP * width).max(1.0);
    let slope = (delay(width + step, usual) - delay(width, usual)) / step;
    (delay(width, usual), slope.clamp(0.0, 0.5))
}

/// The mean of an exponential distribution that ends at `width`, less where the corridor is wide.
fn delay(width: f64, usual: f64) -> f64 {
    let x = width / usual;
    let mean = if x < 1e-3 {
        0.5 * width
    } else {
        usual * (1.0 - x / x.exp_m1())
    };
    mean / (1.0 + (width / WIDE).powi(4))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_a_narrow_corridor_and_none_of_a_wide_one_is_subtracted() {
        let share = |width: f64| likely_delay(width, USUAL_DELAY).0 / width;
        assert!((share(20e3) - 0.5).abs() < 0.01, "{}", share(20e3));
        assert!((0.45..0.5).contains(&share(300e3)), "{}", share(300e3));
        assert!((0.25..0.4).contains(&share(1e6)), "{}", share(1e6));
        assert!(share(20e6) < 1e-4, "{}", share(20e6));
        let (_, slope) = likely_delay(100e3, USUAL_DELAY);
        assert!((0.4..=0.5).contains(&slope), "{slope}");
        assert!(likely_delay(0.0, USUAL_DELAY).0.abs() < 1e-9);
    }
}
