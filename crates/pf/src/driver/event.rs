use std::fmt;

use timeloom_sync::{EventKind, Reason, SyncEvent};
use timeloom_time::Duration;

use crate::device_info::DeviceInfo;
use crate::status::{Severity, StatusFlags};

/// Something that happened to a lidar.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum LidarEvent {
    /// Packets were requested and begin to arrive.
    Connected(DeviceInfo),
    /// A failure; the driver reconnects after a delay.
    Disconnected {
        /// The failure.
        why: String,
        /// Time of the next attempt.
        retry_in: Duration,
    },
    /// Something failed, but packets go on coming.
    Trouble(String),
    /// The device restarted: its clock and scan counter start from zero.
    DeviceRestarted,
    /// The flags of the device have changed.
    Status(StatusFlags),
    /// Something happened to the relation of the clocks.
    Sync(SyncEvent),
}

impl LidarEvent {
    /// The severity for a log.
    pub fn severity(&self) -> Severity {
        match self {
            Self::Disconnected { .. } => Severity::Error,
            Self::Trouble(_) | Self::DeviceRestarted => Severity::Warning,
            Self::Status(flags) => flags.severity(),
            Self::Sync(event) => match event.kind {
                EventKind::NewEpoch { .. } => Severity::Warning,
                _ => Severity::Normal,
            },
            Self::Connected(_) => Severity::Normal,
        }
    }
}

impl fmt::Display for LidarEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connected(device) => write!(
                f,
                "connected to {} (serial {}, firmware {})",
                device.product, device.serial, device.firmware
            ),
            Self::Disconnected { why, retry_in } => write!(f, "{why}; next try in {retry_in}"),
            Self::Trouble(why) => f.write_str(why),
            Self::DeviceRestarted => {
                f.write_str("the device restarted: its clock starts from zero")
            }
            Self::Status(flags) => write!(f, "the device's status is {flags}"),
            Self::Sync(event) => write_sync(f, event.kind),
        }
    }
}

fn write_sync(f: &mut fmt::Formatter<'_>, kind: EventKind) -> fmt::Result {
    match kind {
        // The request itself is reported elsewhere.
        EventKind::NewEpoch {
            epoch,
            reason: Reason::Requested,
        } => write!(f, "stamps may have jumped: epoch {epoch} begins"),
        EventKind::NewEpoch { epoch, reason } => {
            write!(f, "stamps may have jumped: epoch {epoch}, {reason}")
        }
        EventKind::PathShift { extra } => {
            let micros = extra.nanos() / 1_000;
            write!(f, "packets take {micros} µs longer than the shortest path")
        }
        EventKind::Gap { silence } => {
            write!(f, "no packets for {:.3} s", silence.as_secs_f64())
        }
        EventKind::Outliers { count } => {
            write!(f, "{count} outliers dropped")
        }
        EventKind::RateChange => {
            f.write_str("the clock rate changed at once: a clock is being slewed")
        }
        EventKind::LimitReached(reached) => write!(f, "{reached}"),
        _ => f.write_str("the clocks changed"),
    }
}

#[cfg(test)]
mod tests {
    use timeloom_sync::{DeviceTime, Limit, LimitReached};
    use timeloom_time::Time;

    use super::*;

    #[test]
    fn events_have_a_text_and_a_severity() {
        let event = LidarEvent::Disconnected {
            why: "no packet for 2000 ms".to_owned(),
            retry_in: Duration::from_millis(250),
        };
        assert_eq!(
            event.to_string(),
            "no packet for 2000 ms; next try in 250ms"
        );
        assert_eq!(event.severity(), Severity::Error);
        let event = LidarEvent::Status(StatusFlags(1 << 11));
        assert_eq!(
            event.to_string(),
            "the device's status is high temperature warning"
        );
        assert_eq!(event.severity(), Severity::Warning);
    }

    #[test]
    fn events_of_the_clocks_are_sentences() {
        let text = |kind| {
            LidarEvent::Sync(SyncEvent {
                kind,
                device: DeviceTime::default(),
                host_rx: Time::default(),
            })
            .to_string()
        };
        assert_eq!(
            text(EventKind::RateChange),
            "the clock rate changed at once: a clock is being slewed"
        );
        let reached = LimitReached {
            limit: Limit::Skew,
            before: 500,
            now: 900,
        };
        assert_eq!(text(EventKind::LimitReached(reached)), reached.to_string());
    }
}
