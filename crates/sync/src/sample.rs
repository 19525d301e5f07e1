//! Pairs of device and host stamps, as they come from a device.

use timeloom_time::{Duration, Steady, Time};

use crate::device_time::{DeviceTime, check_stamp};
use crate::error::{Error, Result};

/// The origin of the arrival stamp of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum StampSource {
    /// The kernel, when the packet came in (`SO_TIMESTAMPNS`, converted to the steady clock).
    Kernel,
    /// The program, when it got around to reading the packet.
    #[default]
    User,
}

/// An unsolicited packet: its event happened at `device_event`, and it reached the host at `host_rx`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PassiveSample {
    /// Time of the packet's event by the device's clock. For a scan: its last point.
    pub device_event: DeviceTime,
    /// Send time by the device's clock, if the device stamps it.
    pub device_tx: Option<DeviceTime>,
    /// Arrival of the packet, by the host's steady clock.
    pub host_rx: Time<Steady>,
    /// The origin of the arrival stamp.
    pub source: StampSource,
}

impl PassiveSample {
    /// A packet without a send stamp, stamped by the program.
    pub const fn new(device_event: DeviceTime, host_rx: Time<Steady>) -> Self {
        Self {
            device_event,
            device_tx: None,
            host_rx,
            source: StampSource::User,
        }
    }

    /// The stamp of the device that is nearest to the arrival: of sending if there is one, else of the event.
    ///
    /// An estimator pairs this one with `host_rx`, because the delay between them varies least.
    pub fn device_stamp(&self) -> DeviceTime {
        self.device_tx.unwrap_or(self.device_event)
    }

    fn check(&self) -> Result<()> {
        check_stamp("device", self.device_event.nanos())?;
        check_stamp("host_rx", self.host_rx.nanos())?;
        let Some(device_tx) = self.device_tx else {
            return Ok(());
        };
        check_stamp("device_tx", device_tx.nanos())?;
        if device_tx < self.device_event {
            return Err(Error::SentBeforeEvent {
                device_ns: self.device_event.nanos(),
                device_tx_ns: device_tx.nanos(),
            });
        }
        Ok(())
    }
}

/// A question to the device and its answer: the device read its clock somewhere between `host_tx` and `host_rx`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ActiveSample {
    /// Send time of the request, by the host's steady clock.
    pub host_tx: Time<Steady>,
    /// The reading of the device's clock.
    pub device: DeviceTime,
    /// Arrival of the answer, by the host's steady clock.
    pub host_rx: Time<Steady>,
}

impl ActiveSample {
    /// The duration of the request.
    pub fn round_trip(&self) -> Duration {
        self.host_rx - self.host_tx
    }

    fn check(&self) -> Result<()> {
        check_stamp("device", self.device.nanos())?;
        check_stamp("host_tx", self.host_tx.nanos())?;
        check_stamp("host_rx", self.host_rx.nanos())?;
        if self.host_rx < self.host_tx {
            return Err(Error::AnswerBeforeRequest {
                host_tx_ns: self.host_tx.nanos(),
                host_rx_ns: self.host_rx.nanos(),
            });
        }
        Ok(())
    }
}

/// A sample of either kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sample {
    /// An unsolicited packet.
    Passive(PassiveSample),
    /// A question to the device and its answer.
    Active(ActiveSample),
}

impl Sample {
    /// The device time that this sample is about: the event, or the reading of the clock.
    pub const fn device(&self) -> DeviceTime {
        match self {
            Self::Passive(sample) => sample.device_event,
            Self::Active(sample) => sample.device,
        }
    }

    /// Arrival at the host.
    pub const fn host_rx(&self) -> Time<Steady> {
        match self {
            Self::Passive(sample) => sample.host_rx,
            Self::Active(sample) => sample.host_rx,
        }
    }

    /// The same sample on a host clock that is `offset` ahead.
    #[must_use]
    pub fn shifted(self, offset: Duration) -> Self {
        match self {
            Self::Passive(sample) => Self::Passive(PassiveSample {
                host_rx: sample.host_rx.saturating_add(offset),
                ..sample
            }),
            Self::Active(sample) => Self::Active(ActiveSample {
                host_tx: sample.host_tx.saturating_add(offset),
                host_rx: sample.host_rx.saturating_add(offset),
                ..sample
            }),
        }
    }

    /// Refuses what no device and no host can mean.
    ///
    /// # Errors
    ///
    /// [`Error::StampOutOfRange`], [`Error::AnswerBeforeRequest`], [`Error::SentBeforeEvent`].
    pub fn check(&self) -> Result<()> {
        match self {
            Self::Passive(sample) => sample.check(),
            Self::Active(sample) => sample.check(),
        }
    }
}
