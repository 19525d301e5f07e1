mod partial;
mod place;

use timeloom_time::Duration;

use self::partial::Partial;
use self::place::{Place, Reference};
use crate::arrival::Arrival;
use crate::error::{Error, Result};
use crate::packet::{Header, Packet};
use crate::scan::{Scan, ScanCounters};
use crate::ticks::nanos_between;

/// The effect of a packet on the scans.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Taken {
    /// Scans that are finished now: the one before, if it was cut short, and this packet's own, if it is whole.
    pub scans: Vec<Scan>,
    /// Whether the packet is news: not a duplicate, not late.
    pub fresh: bool,
    /// Whether the device's clock went backwards: it was restarted.
    pub restarted: bool,
    /// Jump of the device's clock within a scan, in nanoseconds.
    pub jumped: Option<f64>,
    /// The numbers of two scans that do not follow each other, while the clock went on.
    pub renumbered: Option<(u16, u16)>,
}

/// Puts packets together to scans. It holds one scan at a time; lost, late and doubled packets are counted.
#[derive(Debug, Clone)]
pub struct ScanAssembler {
    /// From one scan's number to the next one's.
    step: u16,
    current: Option<Partial>,
    /// The scan before.
    previous: Option<Reference>,
    /// The most points that a packet had: what all but the last of a scan have.
    packet_points: u16,
    /// Measured over the last scan with two packets, in nanoseconds, and for which settings.
    point_period: Option<(Turning, f64)>,
    counters: ScanCounters,
}

/// The values that determine the time from point to point: frequency, points and increment.
type Turning = (u32, u16, i32);

impl ScanAssembler {
    /// An assembler for a device that leaves out `skip_scans` after each.
    pub fn new(skip_scans: u16) -> Self {
        Self {
            step: skip_scans.saturating_add(1),
            current: None,
            previous: None,
            packet_points: 0,
            point_period: None,
            counters: ScanCounters::default(),
        }
    }

    /// Takes a packet, in the order of arrival.
    ///
    /// # Errors
    ///
    /// [`Error::PointsOutside`] if its points do not lie in its scan, [`Error::NoPoints`] if it has none; it is counted
    /// and nothing else changes.
    pub fn push(&mut self, packet: &Packet<'_>, arrival: Arrival) -> Result<Taken> {
        let header = &packet.header;
        check(header).inspect_err(|_| self.counters.bad += 1)?;
        self.counters.packets += 1;
        let mut taken = Taken::default();
        match self.place(header, arrival) {
            None => taken.restarted = self.begin(header, arrival),
            Some(Place::Same) => {}
            Some(Place::ClockJump { nanos }) => {
                self.counters.clock_jumps += 1;
                taken.jumped = Some(nanos);
                let period = self.point_period_ns(header);
                if let Some(partial) = &mut self.current {
                    partial.follow_jump(header, period);
                }
            }
            Some(Place::Late) => {
                self.counters.late += 1;
                return Ok(taken);
            }
            Some(Place::Next { lost_scans }) => {
                taken.scans.extend(self.finish());
                self.lose_scans(header, lost_scans);
            }
            Some(Place::Renumbered { lost_scans }) => {
                taken.scans.extend(self.finish());
                self.lose_scans(header, lost_scans);
                self.counters.renumbered += 1;
                let before = self.previous.take();
                taken.renumbered = before.map(|scan| (scan.number, header.scan_number));
            }
            Some(Place::Restart) => {
                taken.scans.extend(self.finish());
                self.restarted();
                taken.restarted = true;
            }
        }
        self.packet_points = self.packet_points.max(header.num_points_packet);
        taken.fresh = self.add(packet, arrival);
        taken.scans.extend(self.whole());
        Ok(taken)
    }

    /// The scan that is being put together, given up as it is: nothing more will come of it.
    pub fn finish(&mut self) -> Option<Scan> {
        let mut partial = self.current.take()?;
        self.previous = Some(reference(&partial.scan));
        if partial.emitted {
            return None;
        }
        partial.measure();
        let expected = self.packets_per_scan(&partial.scan.header);
        let lost = expected.saturating_sub(partial.received);
        self.counters.packets_lost += u64::from(lost);
        self.counters.scans_incomplete += 1;
        Some(partial.scan)
    }

    /// Counts a restart of the device: what comes next does not follow what was before.
    pub const fn restarted(&mut self) {
        self.counters.restarts += 1;
        self.previous = None;
    }

    /// The device leaves out so many scans after each, from now on.
    pub const fn set_skip_scans(&mut self, skip_scans: u16) {
        self.step = skip_scans.saturating_add(1);
    }

    /// Counters of packets and scans.
    pub const fn counters(&self) -> &ScanCounters {
        &self.counters
    }

    /// The time from point to point in nanoseconds: measured where possible, else from the header.
    pub fn point_period_ns(&self, header: &Header) -> f64 {
        let measured = self
            .point_period
            .filter(|(settings, _)| *settings == turning(header));
        measured.map_or_else(|| header.nominal_point_period_ns(), |(_, period)| period)
    }

    fn place(&self, header: &Header, arrival: Arrival) -> Option<Place> {
        let partial = self.current.as_ref()?;
        let period = self.point_period_ns(header);
        let lacks = partial.lacks(header);
        Some(reference(&partial.scan).place(header, self.step, period, arrival.at, lacks))
    }

    /// The first packet, or the first after a break; whether the device's clock went backwards meanwhile.
    fn begin(&mut self, header: &Header, arrival: Arrival) -> bool {
        let Some(previous) = &self.previous else {
            return false;
        };
        let missed = previous.missed(header, self.step, arrival.at);
        match missed {
            Some(scans) => self.counters.scans_missed += scans,
            None => self.restarted(),
        }
        missed.is_none()
    }

    /// Adds the points of a packet to the current scan; false for a duplicate.
    fn add(&mut self, packet: &Packet<'_>, arrival: Arrival) -> bool {
        let header = &packet.header;
        let period = self.point_period_ns(header);
        let scan_period = self.scan_period(header);
        let partial = self
            .current
            .get_or_insert_with(|| Partial::new(header, arrival, period, scan_period));
        let fresh = partial.add(packet, arrival);
        self.counters.duplicates += u64::from(!fresh);
        fresh
    }

    /// The current scan, if it is whole and was not given out yet.
    fn whole(&mut self) -> Option<Scan> {
        let partial = self.current.as_mut()?;
        if partial.emitted || partial.scan.missing > 0 {
            return None;
        }
        if let Some(period) = partial.measure() {
            self.point_period = Some((turning(&partial.scan.header), period));
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

    /// From the start of the previous scan if none is missing between them, else from the header.
    fn scan_period(&self, header: &Header) -> Duration {
        let nominal = header.nominal_scan_period();
        let measured = self.previous.and_then(|previous| {
            let follows = header.scan_number.wrapping_sub(previous.number) == 1;
            let nanos = nanos_between(previous.first_stamp, header.timestamp_raw);
            let near = (nanos / nominal.nanos() as f64 - 1.0).abs() < 0.1;
            let measurable = follows && near && header.first_index == 0;
            measurable.then(|| Duration::try_from_secs_f64(nanos / 1e9))?
        });
        measured.unwrap_or(nominal)
    }

    fn packets_per_scan(&self, header: &Header) -> u32 {
        u32::from(header.num_points_scan).div_ceil(u32::from(self.packet_points.max(1)))
    }

    fn lose_scans(&mut self, header: &Header, scans: u64) {
        self.counters.scans_lost += scans;
        let packets = u64::from(self.packets_per_scan(header));
        self.counters.packets_lost += packets.saturating_mul(scans);
    }
}

fn check(header: &Header) -> Result<()> {
    let end = u32::from(header.first_index) + u32::from(header.num_points_packet);
    if end > u32::from(header.num_points_scan) {
        return Err(Error::PointsOutside {
            first: header.first_index,
            end,
            points: header.num_points_scan,
        });
    }
    if header.num_points_packet == 0 {
        return Err(Error::NoPoints {
            scan: header.scan_number,
            packet: header.packet_number,
        });
    }
    Ok(())
}

fn reference(scan: &Scan) -> Reference {
    Reference {
        number: scan.header.scan_number,
        layer: scan.header.layer,
        first_stamp: scan.first_stamp,
        points: scan.header.num_points_scan,
        period_ns: scan.scan_period.nanos() as f64,
        arrived: scan.first_arrival.at,
    }
}

const fn turning(header: &Header) -> Turning {
    (
        header.scan_frequency,
        header.num_points_scan,
        header.angular_increment,
    )
}
