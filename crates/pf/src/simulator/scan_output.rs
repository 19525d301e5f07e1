use super::options::{Product, SimulatorOptions};
use crate::packet::PacketType;

/// A full turn, in 1/10000 degree.
const FULL_TURN: f64 = 3_600_000.0;
/// Field of view of an R2300, and the rotation of its beam from scan to scan, in 1/10000 degree.
const R2300_VIEW: f64 = 1_000_000.0;
const R2300_SWEEP: f64 = 1_800_000.0;

/// The points and scans that a client has requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScanOutput {
    /// The values of each point.
    pub packet_type: PacketType,
    /// The angle of the first point, in 1/10000 degree.
    pub start_angle: i32,
    /// The most points of a scan; zero for all.
    pub max_num_points_scan: u16,
    /// Scans that are left out after each.
    pub skip_scans: u16,
}

impl From<PacketType> for ScanOutput {
    /// All points of all scans.
    fn from(packet_type: PacketType) -> Self {
        Self {
            packet_type,
            start_angle: -1_800_000,
            max_num_points_scan: 0,
            skip_scans: 0,
        }
    }
}

/// The points of a scan in space and time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Sweep {
    /// The angle of the first point and from point to point, in 1/10000 degree.
    pub(super) start: f64,
    pub(super) increment: f64,
    pub(super) points: u16,
    /// The time of the first point after the start of a scan, and from point to point, as parts of a scan's time.
    pub(super) offset: f64,
    pub(super) step: f64,
}

impl Sweep {
    pub(super) fn new(options: &SimulatorOptions, output: &ScanOutput) -> Self {
        let samples = options.samples_per_scan.max(1);
        let (view, begin, sweep) = match options.product {
            Product::R2000 => (FULL_TURN, -FULL_TURN / 2.0, FULL_TURN),
            Product::R2300 => (R2300_VIEW, -R2300_VIEW / 2.0, R2300_SWEEP),
        };
        let increment = view / f64::from(samples);
        let start = f64::from(output.start_angle).clamp(begin, begin + view - increment);
        // A head that turns all the way goes on to where the scan began; a view ends.
        let left = match options.product {
            Product::R2000 => samples,
            Product::R2300 => whole((begin + view - start) / increment).clamp(1, samples),
        };
        let most = match output.max_num_points_scan {
            0 => left,
            most => most.min(left),
        };
        Self {
            start,
            increment,
            points: most,
            offset: (start - begin) / sweep,
            step: increment / sweep,
        }
    }

    /// The angle of a point in 1/10000 degree, from minus to plus half a turn.
    pub(super) fn angle(&self, point: u16) -> f64 {
        let angle = self.start + f64::from(point) * self.increment;
        if angle >= FULL_TURN / 2.0 {
            angle - FULL_TURN
        } else {
            angle
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a float cast saturates, and the result is clamped"
)]
fn whole(number: f64) -> u16 {
    number.round() as u16
}
