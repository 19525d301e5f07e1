use timeloom_time::Duration;

use crate::arrival::Arrival;
use crate::packet::{Header, Packet, Point};
use crate::scan::Scan;
use crate::ticks::{nanos_between, ticks_of_nanos};

const MISSING: Point = Point {
    distance: None,
    amplitude: None,
};
/// A measured time from point to point is used if it is within this factor of the header's value.
const PLAUSIBLE: f64 = 4.0;

/// A scan that is being put together.
#[derive(Debug, Clone)]
pub(super) struct Partial {
    pub(super) scan: Scan,
    filled: Vec<bool>,
    /// Packets that have brought something.
    pub(super) received: u32,
    /// Whether it was given out already.
    pub(super) emitted: bool,
    /// The earliest and the latest packet, by the place of their points.
    ends: [End; 2],
}

/// The stamp and position of a packet's first point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct End {
    index: u16,
    stamp: u64,
    angle: i32,
}

impl Partial {
    pub(super) fn new(
        header: &Header,
        arrival: Arrival,
        point_period_ns: f64,
        scan_period: Duration,
    ) -> Self {
        let count = usize::from(header.num_points_scan);
        let before = f64::from(header.first_index);
        let increment = header.exact_increment();
        let ticks = ticks_of_nanos(before * point_period_ns);
        Self {
            scan: Scan {
                header: *header,
                first_stamp: header.timestamp_raw.wrapping_sub(ticks.cast_unsigned()),
                first_angle: f64::from(header.first_angle) / 10_000.0 - before * increment,
                angle_increment: increment,
                point_period_ns,
                scan_period,
                points: vec![MISSING; count],
                missing: count,
                first_arrival: arrival,
                last_arrival: arrival,
            },
            filled: vec![false; count],
            received: 0,
            emitted: false,
            ends: [End::of(header); 2],
        }
    }

    /// Adds the points of a packet; false for a duplicate.
    pub(super) fn add(&mut self, packet: &Packet<'_>, arrival: Arrival) -> bool {
        let header = &packet.header;
        let first = usize::from(header.first_index);
        let range = first..first + usize::from(header.num_points_packet);
        let filled = self.filled.get_mut(range.clone()).unwrap_or(&mut []);
        let fresh = filled.iter().filter(|done| !**done).count();
        if fresh == 0 {
            return false;
        }
        filled.fill(true);
        let points = self.scan.points.get_mut(range).unwrap_or(&mut []);
        for (place, point) in points.iter_mut().zip(packet.points()) {
            *place = point;
        }
        self.scan.missing -= fresh;
        self.scan.last_arrival = arrival;
        self.received += 1;
        let here = End::of(header);
        let [earliest, latest] = self.ends;
        self.ends = [earliest.min(here), latest.max(here)];
        if header.first_index == 0 {
            self.scan.first_stamp = header.timestamp_raw;
            self.scan.first_angle = f64::from(header.first_angle) / 10_000.0;
        }
        true
    }

    /// Whether the scan is still put together and the first point of a packet is missing in it.
    pub(super) fn lacks(&self, header: &Header) -> bool {
        let filled = self.filled.get(usize::from(header.first_index));
        !self.emitted && filled == Some(&false)
    }

    /// Takes over a jump of the device's clock: times of this scan are those after it.
    pub(super) fn follow_jump(&mut self, header: &Header, point_period_ns: f64) {
        let before = ticks_of_nanos(f64::from(header.first_index) * point_period_ns);
        let start = header.timestamp_raw.wrapping_sub(before.cast_unsigned());
        let jump = start.wrapping_sub(self.scan.first_stamp);
        self.scan.first_stamp = start;
        for end in &mut self.ends {
            end.stamp = end.stamp.wrapping_add(jump);
        }
    }

    /// Measures time and angle from point to point where two packets allow it; the time, if they do.
    pub(super) fn measure(&mut self) -> Option<f64> {
        if let Some(increment) = self.measured_increment() {
            self.scan.angle_increment = increment;
        }
        let period = self.measured_period()?;
        self.scan.point_period_ns = period;
        Some(period)
    }

    fn measured_period(&self) -> Option<f64> {
        let [first, last] = self.ends;
        let points = f64::from(last.index) - f64::from(first.index);
        let period = nanos_between(first.stamp, last.stamp) / points;
        let ratio = period / self.scan.header.nominal_point_period_ns();
        let plausible = (1.0 / PLAUSIBLE..PLAUSIBLE).contains(&ratio);
        (points > 0.0 && plausible).then_some(period)
    }

    /// In degrees. The angles of packets are not rounded as the increment is; a full turn needs no measuring.
    fn measured_increment(&self) -> Option<f64> {
        let header = &self.scan.header;
        let [first, last] = self.ends;
        let points = f64::from(last.index) - f64::from(first.index);
        if header.is_full_turn() || points <= 0.0 {
            return None;
        }
        let rounded = f64::from(header.angular_increment);
        let between = f64::from(last.angle) - f64::from(first.angle);
        // Angles end at a half turn and go on from its other side.
        let turns = ((rounded * points - between) / 3_600_000.0).round();
        let increment = (between + turns * 3_600_000.0) / points;
        let plausible = (increment - rounded).abs() <= 1.0;
        plausible.then_some(increment / 10_000.0)
    }
}

impl End {
    const fn of(header: &Header) -> Self {
        Self {
            index: header.first_index,
            stamp: header.timestamp_raw,
            angle: header.first_angle,
        }
    }
}
