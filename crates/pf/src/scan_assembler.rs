use timeloom_time::Duration;

use crate::arrival::Arrival;
use crate::error::{Error, Result};
use crate::packet::{Header, Packet, Point};
use crate::scan::{Scan, ScanCounters};
use crate::ticks::{nanos_between, ticks_of_nanos};

/// A packet of a scan that was given out may come so many scans late before it means a restart.
const LATE_SCANS: u16 = 4;

const MISSING: Point = Point {
    distance: None,
    amplitude: None,
};

/// What a packet did to the scans.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Taken {
    /// Scans that are finished now: the one before, if it was cut short, and this packet's own, if it is whole.
    pub scans: Vec<Scan>,
    /// Whether the packet is news: not a duplicate, not late.
    pub fresh: bool,
    /// Whether the numbers went backwards: the device was restarted.
    pub restarted: bool,
}

/// Puts packets together to scans. It holds one scan at a time; lost, late and doubled packets are counted.
#[derive(Debug, Clone)]
pub struct ScanAssembler {
    /// From one scan's number to the next one's.
    step: u16,
    current: Option<Partial>,
    /// The number, the layer and the first stamp of the scan before.
    previous: Option<(u16, u64)>,
    /// The most points that a packet had: what all but the last of a scan have.
    packet_points: u16,
    /// Measured over the last scan with two packets, in nanoseconds.
    point_period: Option<f64>,
    counters: ScanCounters,
}

#[derive(Debug, Clone)]
struct Partial {
    scan: Scan,
    filled: Vec<bool>,
    received: u32,
    emitted: bool,
    /// First index and stamp of the earliest and of the latest packet.
    ends: [(u16, u64); 2],
}

/// Where a packet stands beside the scan that is being put together.
enum Place {
    Same,
    Next { lost_scans: u16 },
    Late,
    Restart,
}

impl ScanAssembler {
    /// An assembler for a device that leaves out `skip_scans` after each.
    pub const fn new(skip_scans: u16) -> Self {
        Self {
            step: skip_scans.saturating_add(1),
            current: None,
            previous: None,
            packet_points: 0,
            point_period: None,
            counters: ScanCounters {
                packets: 0,
                packets_lost: 0,
                duplicates: 0,
                late: 0,
                bad: 0,
                scans: 0,
                scans_incomplete: 0,
                scans_lost: 0,
                restarts: 0,
            },
        }
    }

    /// Takes a packet, in the order of arrival.
    ///
    /// # Errors
    ///
    /// [`Error::PointsOutside`] if its points do not lie in its scan; it is counted and nothing else changes.
    pub fn push(&mut self, packet: &Packet<'_>, arrival: Arrival) -> Result<Taken> {
        let header = &packet.header;
        let end = u32::from(header.first_index) + u32::from(header.num_points_packet);
        if end > u32::from(header.num_points_scan) {
            self.counters.bad += 1;
            return Err(Error::PointsOutside {
                first: header.first_index,
                end,
                points: header.num_points_scan,
            });
        }
        self.counters.packets += 1;
        let mut taken = Taken::default();
        match self.place(header) {
            Place::Same => {}
            Place::Late => {
                self.counters.late += 1;
                return Ok(taken);
            }
            Place::Next { lost_scans } => {
                taken.scans.extend(self.finish());
                self.lose_scans(header, lost_scans);
            }
            Place::Restart => {
                taken.scans.extend(self.finish());
                self.counters.restarts += 1;
                self.previous = None;
                taken.restarted = true;
            }
        }
        self.packet_points = self.packet_points.max(header.num_points_packet);
        taken.fresh = self.add(packet, arrival);
        taken.scans.extend(self.whole());
        Ok(taken)
    }

    /// The scan that is being put together, given up as it is: nothing more will come.
    pub fn finish(&mut self) -> Option<Scan> {
        let partial = self.current.take()?;
        self.previous = Some((partial.scan.header.scan_number, partial.scan.first_stamp));
        if partial.emitted {
            return None;
        }
        let expected = self.packets_per_scan(&partial.scan.header);
        let lost = expected.saturating_sub(partial.received);
        self.counters.packets_lost += u64::from(lost);
        self.counters.scans_incomplete += 1;
        Some(partial.scan)
    }

    /// How many packets and scans did what.
    pub const fn counters(&self) -> &ScanCounters {
        &self.counters
    }

    /// The time from point to point in nanoseconds: measured if it could be, else what the header says.
    pub fn point_period_ns(&self, header: &Header) -> f64 {
        let nominal = header.nominal_point_period().nanos() as f64;
        // A measured one that is far off is of other settings.
        let measured = self
            .point_period
            .filter(|period| (period / nominal - 1.0).abs() < 0.1);
        measured.unwrap_or(nominal)
    }

    fn place(&self, header: &Header) -> Place {
        let Some(partial) = &self.current else {
            return Place::Next { lost_scans: 0 };
        };
        let scan = &partial.scan;
        let ahead = header.scan_number.wrapping_sub(scan.header.scan_number);
        let since = nanos_between(scan.first_stamp, header.timestamp_raw);
        if ahead == 0 && header.layer == scan.header.layer {
            // The same number with other settings, or long after, is another scan.
            let period = scan.scan_period.nanos().max(1) as f64;
            let same = header.num_points_scan == scan.header.num_points_scan
                && (-period..period * 2.0).contains(&since);
            return if same { Place::Same } else { Place::Restart };
        }
        if ahead < 0x8000 && since >= 0.0 {
            // The numbers of layers are counted by no rule that we know.
            let counts = header.layer.is_none() && ahead > 0;
            let steps = (ahead / self.step.max(1)).saturating_sub(1);
            return Place::Next {
                lost_scans: if counts { steps } else { 0 },
            };
        }
        let behind = ahead.wrapping_neg();
        let period = scan.scan_period.nanos() as f64;
        let recent = since > -period * f64::from(LATE_SCANS + 1);
        if (1..=LATE_SCANS.saturating_mul(self.step)).contains(&behind) && since < 0.0 && recent {
            return Place::Late;
        }
        Place::Restart
    }

    /// Adds the points of a packet to the current scan; false for a duplicate.
    fn add(&mut self, packet: &Packet<'_>, arrival: Arrival) -> bool {
        let header = &packet.header;
        let period = self.point_period_ns(header);
        let scan_period = self.scan_period(header);
        let partial = self
            .current
            .get_or_insert_with(|| Partial::new(header, arrival, period, scan_period));
        let first = usize::from(header.first_index);
        let range = first..first + usize::from(header.num_points_packet);
        let filled = partial.filled.get_mut(range.clone()).unwrap_or(&mut []);
        if filled.first().is_none_or(|done| *done) {
            self.counters.duplicates += 1;
            return false;
        }
        let fresh = filled.iter().filter(|done| !**done).count();
        filled.fill(true);
        let points = partial.scan.points.get_mut(range).unwrap_or(&mut []);
        for (place, point) in points.iter_mut().zip(packet.points()) {
            *place = point;
        }
        partial.scan.missing -= fresh;
        partial.scan.last_arrival = arrival;
        partial.received += 1;
        partial.stretch(header);
        true
    }

    /// The current scan, if it is whole and was not given out yet.
    fn whole(&mut self) -> Option<Scan> {
        let partial = self.current.as_mut()?;
        if partial.emitted || partial.scan.missing > 0 {
            return None;
        }
        if let Some(period) = partial.measured_period() {
            self.point_period = Some(period);
            partial.scan.point_period_ns = period;
        }
        partial.emitted = true;
        self.counters.scans += 1;
        // The filled marks stay, to know duplicates; the points can go.
        let points = std::mem::take(&mut partial.scan.points);
        Some(Scan {
            points,
            ..partial.scan.clone()
        })
    }

    /// From the start of the scan before, if it was the one before; else what the header says.
    fn scan_period(&self, header: &Header) -> Duration {
        let nominal = header.nominal_scan_period();
        let measured = self.previous.and_then(|(number, stamp)| {
            let follows = header.scan_number.wrapping_sub(number) == 1 && header.first_index == 0;
            let nanos = nanos_between(stamp, header.timestamp_raw);
            let near = (nanos / nominal.nanos() as f64 - 1.0).abs() < 0.1;
            (follows && near).then(|| Duration::try_from_secs_f64(nanos / 1e9))?
        });
        measured.unwrap_or(nominal)
    }

    fn packets_per_scan(&self, header: &Header) -> u32 {
        u32::from(header.num_points_scan).div_ceil(u32::from(self.packet_points.max(1)))
    }

    fn lose_scans(&mut self, header: &Header, scans: u16) {
        self.counters.scans_lost += u64::from(scans);
        let packets = u64::from(self.packets_per_scan(header)) * u64::from(scans);
        self.counters.packets_lost += packets;
    }
}

impl Partial {
    fn new(header: &Header, arrival: Arrival, point_period_ns: f64, scan_period: Duration) -> Self {
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
            ends: [(header.first_index, header.timestamp_raw); 2],
        }
    }

    /// Remembers the outermost packets; takes the stamp of the first point where it comes late.
    fn stretch(&mut self, header: &Header) {
        let here = (header.first_index, header.timestamp_raw);
        let [first, last] = self.ends;
        self.ends = [first.min(here), last.max(here)];
        if header.first_index == 0 {
            self.scan.first_stamp = header.timestamp_raw;
            self.scan.first_angle = f64::from(header.first_angle) / 10_000.0;
        }
    }

    /// The time from point to point between the outermost packets.
    fn measured_period(&self) -> Option<f64> {
        let [(first, from), (last, to)] = self.ends;
        let points = f64::from(last) - f64::from(first);
        let period = nanos_between(from, to) / points;
        let nominal = self.scan.header.nominal_point_period().nanos() as f64;
        let plausible = (period / nominal - 1.0).abs() < 0.05;
        (points > 0.0 && plausible).then_some(period)
    }
}
