use timeloom_time::Duration;

use super::clock_model::ClockModel;
use super::faults::Faults;
use crate::error::{Error, Result};
use crate::packet::{HeaderForm, PacketType};

/// The simulated device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Product {
    /// A lidar of one layer, packets A, B and C.
    #[default]
    R2000,
    /// A lidar of four layers, packets C1.
    R2300,
}

impl Product {
    /// The product name that the device reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::R2000 => "OMD30M-R2000-B23-V1V1D-SIM",
            Self::R2300 => "OMD10M-R2300-B23-V1V1D-4S-SIM",
        }
    }

    /// Whether it can send packets of this type.
    pub const fn sends(self, packet_type: PacketType) -> bool {
        matches!(
            (self, packet_type),
            (Self::R2000, PacketType::A | PacketType::B | PacketType::C)
                | (Self::R2300, PacketType::C1)
        )
    }
}

/// Delays; their exponential parts are random and determined by the seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delays {
    /// From the last point of a packet to its sending, at least.
    pub device: Duration,
    /// The height of a sawtooth that comes on top of it, as in real packets.
    pub sawtooth: Duration,
    /// The mean of what the network adds.
    pub network_mean: Duration,
    /// From a request to the reading of the clock, at least.
    pub request: Duration,
    /// The mean of what comes on top of it.
    pub request_mean: Duration,
    /// From the reading of the clock to the answer, at least.
    pub answer: Duration,
    /// The mean of what comes on top of it.
    pub answer_mean: Duration,
}

impl Default for Delays {
    /// A quiet network and a device as it was seen in real packets.
    fn default() -> Self {
        Self {
            device: Duration::from_micros(200),
            sawtooth: Duration::from_micros(850),
            network_mean: Duration::from_micros(130),
            request: Duration::from_micros(150),
            request_mean: Duration::from_micros(500),
            answer: Duration::from_micros(150),
            answer_mean: Duration::from_micros(100),
        }
    }
}

/// Options of a simulated lidar.
#[derive(Debug, Clone, PartialEq)]
pub struct SimulatorOptions {
    /// Port on 127.0.0.1; zero for any free port.
    pub port: u16,
    /// All randomness comes from it.
    pub seed: u64,
    /// The product.
    pub product: Product,
    /// Its clock.
    pub clock: ClockModel,
    /// Nominal turns per second.
    pub scan_frequency: f64,
    /// Deviation of the actual frequency, in ppm slower.
    pub rotation_error_ppm: f64,
    /// Points of a turn.
    pub samples_per_scan: u16,
    /// The headers of its firmware.
    pub header: HeaderForm,
    /// Whether its HTTP connections stay open.
    pub keep_alive: bool,
    /// Whether it has the parameter `system_time_raw`.
    pub has_time: bool,
    /// Delays.
    pub delays: Delays,
    /// Faults.
    pub faults: Faults,
}

impl Default for SimulatorOptions {
    /// An R2000 at 35 Hz with 3600 points.
    fn default() -> Self {
        Self {
            port: 0,
            seed: 1,
            product: Product::R2000,
            clock: ClockModel::default(),
            scan_frequency: 35.0,
            rotation_error_ppm: 220.0,
            samples_per_scan: 3_600,
            header: HeaderForm::Full,
            keep_alive: true,
            has_time: true,
            delays: Delays::default(),
            faults: Faults::default(),
        }
    }
}

impl SimulatorOptions {
    /// Checks the options.
    ///
    /// # Errors
    ///
    /// [`Error::ImpossibleSetting`], with what would be possible.
    pub fn check(&self) -> Result<()> {
        let impossible = |name, value, why| Err(Error::ImpossibleSetting { name, value, why });
        if !(1.0..=100.0).contains(&self.scan_frequency) {
            let value = self.scan_frequency.to_string();
            return impossible("scan_frequency", value, "must be 1 to 100 Hz");
        }
        if !(8..=25_200).contains(&self.samples_per_scan) {
            let value = self.samples_per_scan.to_string();
            return impossible("samples_per_scan", value, "must be 8 to 25200");
        }
        if self.rotation_error_ppm.abs() > 100_000.0 || self.clock.skew_ppm.abs() > 100_000.0 {
            let value = self.rotation_error_ppm.to_string();
            return impossible("rotation_error_ppm", value, "must be at most 100000");
        }
        Ok(())
    }
}
