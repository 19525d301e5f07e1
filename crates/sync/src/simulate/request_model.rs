//! Delays of requests to a simulated device.

use super::random::Random;

/// The delays of requests and answers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RequestModel {
    /// The time from one request to the next, in seconds.
    pub every_s: f64,
    /// Least delay of a request until the device reads its clock, and the mean of the additional delay.
    pub forward_s: (f64, f64),
    /// Least delay of the answer, and the mean of the additional delay.
    pub back_s: (f64, f64),
    /// The share of requests that are late on the way back, and their mean lateness.
    pub late: (f64, f64),
}

impl RequestModel {
    /// A device that answers within a millisecond.
    pub const FAST: Self = Self {
        every_s: 0.25,
        forward_s: (150e-6, 500e-6),
        back_s: (150e-6, 100e-6),
        late: (0.02, 3e-3),
    };

    /// Error of the midpoint of a perfect round trip, in seconds: half the difference of the least delays.
    pub fn asymmetry_s(&self) -> f64 {
        (self.back_s.0 - self.forward_s.0) / 2.0
    }

    /// Sends a request at `t`: when the device reads its clock, and when the answer is there.
    pub(crate) fn ask(&self, t: f64, random: &mut Random) -> (f64, f64) {
        let read = t + self.forward_s.0 + random.exponential(self.forward_s.1);
        let late = if random.unit() < self.late.0 {
            random.exponential(self.late.1)
        } else {
            0.0
        };
        let back = read + self.back_s.0 + random.exponential(self.back_s.1) + late;
        (read, back)
    }
}
