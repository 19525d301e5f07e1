//! The largest undetected movement of a clock.

/// The weight of a packet in the usual distance from the estimate.
const GAIN: f64 = 0.02;
/// A packet counts with at most so many times the usual distance, and this on top, in nanoseconds.
const MOST: (f64, f64) = (4.0, 100e3);
/// Packets usually lie within so many times their mean distance from the estimate.
const SPREAD: f64 = 2.0;
/// The largest lateness fades by this share with each packet.
const FADING: f64 = 0.002;

/// Says how far bounds by earlier samples may be off.
///
/// A clock that was just set, or whose rate just changed, is only seen once it moved packets by more than their delays
/// usually differ: until then, a packet may have had another delay instead. A packet that is later than usual hides
/// a step as large as its lateness, and a step that makes packets seem earlier hides behind the delay of the next one,
/// which may be as large as those of the packets before. Requests alone leave nothing open, because each of them bounds
/// from both sides.
#[derive(Debug, Clone, Default)]
pub(crate) struct HiddenMove {
    packets: u32,
    /// The mean distance of packets from the estimate, in nanoseconds.
    usual: f64,
    /// Lateness of the newest sample, in nanoseconds.
    newest: f64,
    /// Largest lateness of the last packets, in nanoseconds.
    largest: f64,
}

impl HiddenMove {
    /// Takes a packet that lies so many nanoseconds above the estimate.
    pub(crate) fn packet(&mut self, above: f64) {
        self.newest = above.max(0.0);
        self.largest = self.newest.max(self.largest * (1.0 - FADING));
        self.packets = self.packets.saturating_add(1);
        let (times, more) = MOST;
        let size = above.abs().min(times * self.usual + more);
        let gain = GAIN.max(1.0 / f64::from(self.packets));
        self.usual += gain * (size - self.usual);
    }

    /// Takes an answer that lies so many nanoseconds above the estimate.
    pub(crate) fn answer(&mut self, above: f64) {
        if self.packets > 0 {
            self.newest = above.max(0.0);
        }
    }

    /// The largest move that earlier samples and the newest do not exclude, in nanoseconds.
    pub(crate) fn most(&self) -> f64 {
        (SPREAD * self.usual).max(self.newest)
    }

    /// The same where a clock may be set at any time.
    pub(crate) fn most_with_steps(&self) -> f64 {
        self.most().max(self.largest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_within_the_usual_delays_or_behind_a_late_packet_is_not_excluded() {
        let mut hidden = HiddenMove::default();
        hidden.answer(5e6);
        assert!(hidden.most() < 1.0, "requests alone: {}", hidden.most());
        for packet in 0..1_000 {
            hidden.packet(f64::from(packet % 10) * 100e3);
        }
        assert!(
            (800e3..1_000e3).contains(&hidden.most()),
            "{}",
            hidden.most()
        );
        hidden.packet(40e6);
        assert!(hidden.most() >= 40e6, "{}", hidden.most());
        hidden.packet(0.0);
        assert!(hidden.most() < 1_200e3, "one stall: {}", hidden.most());
        let with_steps = hidden.most_with_steps();
        assert!(
            with_steps > 39e6,
            "a packet like the stalled one hides a step: {with_steps}"
        );
    }
}
