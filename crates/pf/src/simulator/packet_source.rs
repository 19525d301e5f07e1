use timeloom_time::{Duration, Steady, Time};

use super::clock_model::SimulatedClock;
use super::options::{Product, SimulatorOptions};
use super::random::Random;
use super::scan_output::{ScanOutput, Sweep};
use super::scene::look;
use crate::error::Result;
use crate::packet::{Header, HeaderForm, Layer, Point, SendStamps};
use crate::status::StatusFlags;

/// Size of a packet of a real device, header included.
const PACKET_BYTES: u16 = 1_404;
/// Packets of one period of the sawtooth.
const SAWTOOTH: f64 = 6.7;
/// The inclinations of the four layers, in 1/10000 degree.
pub(super) const LAYERS: [i32; 4] = [-45_000, -15_000, 15_000, 45_000];

/// A packet and the truth about it.
#[derive(Debug, Clone, PartialEq)]
pub struct SimulatedPacket {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Arrival at the host.
    pub arrives: Time<Steady>,
    /// Time of its first point.
    pub first_point: Time<Steady>,
    /// Stamp of this time in the header.
    pub stamp: u64,
}

impl SimulatedPacket {
    /// Takes something off the number of its scan.
    pub(super) fn renumber(&mut self, less: u16) {
        if let Some(place) = self.bytes.get_mut(10..12) {
            let number = u16::from_le_bytes([place[0], place[1]]);
            place.copy_from_slice(&number.wrapping_sub(less).to_le_bytes());
        }
    }
}

/// The packets of a turning lidar, one after the other: a pure function of the options and a start.
#[derive(Debug, Clone)]
pub struct PacketSource {
    options: SimulatorOptions,
    output: ScanOutput,
    sweep: Sweep,
    clock: SimulatedClock,
    random: Random,
    status: StatusFlags,
    /// Number of turns since power-on, and the number of the scan.
    scan: u64,
    number: u64,
    /// The place of the next point in the scan, and the number of its packet.
    next_point: u16,
    packet_number: u16,
    packets: u64,
    arrived: Time<Steady>,
}

impl PacketSource {
    /// The packets of the first whole scan after `start`, and all that follow.
    pub fn new(
        options: &SimulatorOptions,
        output: impl Into<ScanOutput>,
        clock: SimulatedClock,
        start: Time<Steady>,
    ) -> Self {
        let output = output.into();
        let mut source = Self {
            options: options.clone(),
            output,
            sweep: Sweep::new(options, &output),
            clock,
            random: Random::new(options.seed, 1),
            status: StatusFlags(0),
            scan: 0,
            number: 0,
            next_point: 0,
            packet_number: 1,
            packets: 0,
            arrived: start,
        };
        source.scan = source.first_scan_after(start);
        source.number = source.scan;
        source
    }

    /// Goes on with other settings of the device, if they are others: at the next scan, with the next number.
    pub fn follow(&mut self, options: &SimulatorOptions, now: Time<Steady>) {
        let same = options.samples_per_scan == self.options.samples_per_scan
            && options.scan_frequency.to_bits() == self.options.scan_frequency.to_bits();
        if same || self.next_point > 0 {
            return;
        }
        self.options = options.clone();
        self.sweep = Sweep::new(options, &self.output);
        self.scan = self.first_scan_after(now);
    }

    /// The flags of the packets from now on.
    pub fn set_status(&mut self, status: StatusFlags) {
        self.status = status;
    }

    /// The next packet.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyPoints`](crate::Error::TooManyPoints) never, as packets are cut to fit.
    pub fn next_packet(&mut self) -> Result<SimulatedPacket> {
        let first = self.next_point;
        let count = self.points_per_packet().min(self.sweep.points - first);
        let first_point = self.time_of(first);
        let end = self.time_of(first + count);
        let sent = self.sent_after(end);
        let stamp = self.clock.stamp(first_point);
        let header = self.header(first, stamp, sent);
        let points: Vec<Point> = (first..first + count)
            .map(|index| self.look(index))
            .collect();
        let bytes = header.write(self.options.header, &points)?;
        self.advance(first + count);
        let network = seconds(self.options.delays.network_mean);
        let network = nanos(self.random.exponential(network));
        // Nothing overtakes on the way.
        self.arrived = sent.saturating_add(network).max(self.arrived);
        Ok(SimulatedPacket {
            bytes,
            arrives: self.arrived,
            first_point,
            stamp,
        })
    }

    fn header(&self, first: u16, stamp: u64, sent: Time<Steady>) -> Header {
        let layer = (self.options.product == Product::R2300).then(|| self.layer());
        Header {
            packet_type: self.output.packet_type,
            packet_size: 0,
            header_size: 0,
            scan_number: low_bits(self.number),
            packet_number: self.packet_number,
            layer,
            timestamp_raw: stamp,
            timestamp_sync: 0,
            status: self.status,
            scan_frequency: whole_u32(self.options.scan_frequency * 1_000.0),
            num_points_scan: self.sweep.points,
            num_points_packet: 0,
            first_index: first,
            first_angle: whole_i32(self.sweep.angle(first)),
            angular_increment: whole_i32(self.sweep.increment),
            iq_input: 0,
            iq_overload: 0,
            iq_stamps: (self.options.header == HeaderForm::Full).then(|| SendStamps {
                raw: self.clock.stamp(sent),
                sync: 0,
            }),
        }
    }

    fn advance(&mut self, next: u16) {
        self.packets += 1;
        if next >= self.sweep.points {
            let step = u64::from(self.output.skip_scans) + 1;
            self.scan += step;
            self.number += step;
            self.next_point = 0;
            self.packet_number = 1;
        } else {
            self.next_point = next;
            self.packet_number += 1;
        }
    }

    /// The time of a point of the current scan.
    fn time_of(&self, point: u16) -> Time<Steady> {
        let turns = self.scan as f64 + self.sweep.offset + f64::from(point) * self.sweep.step;
        self.clock
            .on_since()
            .saturating_add(nanos(turns * self.turn()))
    }

    fn sent_after(&self, end: Time<Steady>) -> Time<Steady> {
        let delays = &self.options.delays;
        let tooth = (self.packets as f64 / SAWTOOTH).fract();
        let sawtooth = nanos(seconds(delays.sawtooth) * tooth);
        end.saturating_add(delays.device).saturating_add(sawtooth)
    }

    /// The seconds from scan to scan.
    fn turn(&self) -> f64 {
        (1.0 + self.options.rotation_error_ppm * 1e-6) / self.options.scan_frequency
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "turns of a simulation are few and positive"
    )]
    fn first_scan_after(&self, start: Time<Steady>) -> u64 {
        let running = (start - self.clock.on_since()).as_secs_f64();
        (running / self.turn()).ceil().max(0.0) as u64
    }

    fn points_per_packet(&self) -> u16 {
        let packet_type = self.output.packet_type;
        let header = self.options.header.size(packet_type);
        let point = u16::try_from(packet_type.point_size()).unwrap_or(6);
        (PACKET_BYTES - header) / point
    }

    fn layer(&self) -> Layer {
        let index = self.scan % 4;
        let inclination = usize::try_from(index)
            .ok()
            .and_then(|index| LAYERS.get(index));
        Layer {
            index: low_bits(index),
            inclination: inclination.copied().unwrap_or(0),
        }
    }

    fn look(&self, index: u16) -> Point {
        let degrees = self.sweep.angle(index) / 10_000.0;
        look(degrees.to_radians(), self.scan as f64 * self.turn())
    }
}

fn seconds(duration: Duration) -> f64 {
    duration.as_secs_f64()
}

pub(super) fn nanos(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or_default()
}

fn low_bits(number: u64) -> u16 {
    u16::try_from(number & 0xffff).unwrap_or(0)
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "angles and frequencies are small, and a float cast saturates"
)]
fn whole_i32(number: f64) -> i32 {
    number.round() as i32
}

fn whole_u32(number: f64) -> u32 {
    u32::try_from(whole_i32(number)).unwrap_or(0)
}
