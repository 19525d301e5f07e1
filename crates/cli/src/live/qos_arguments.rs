//! The `QoS` flags of `ros2 topic`.

use clap::{Args, ValueEnum};
use timeloom_msg::QosProfile;
use timeloom_msg::qos::{Durability, History, Liveliness, QosDuration, Reliability};
use timeloom_time::Duration;
use timeloom_wire::BEST_AVAILABLE_DURATION;

use crate::live::seconds;

/// The offered or requested `QoS`.
#[derive(Debug, Args, Default)]
#[command(next_help_heading = "QoS")]
pub(crate) struct QosArguments {
    /// All policies at once; the flags below change single ones
    #[arg(long = "qos-profile", value_enum, value_name = "PROFILE")]
    profile: Option<ProfileChoice>,
    /// Retransmission of lost messages
    #[arg(long = "qos-reliability", value_enum, value_name = "POLICY")]
    reliability: Option<ReliabilityChoice>,
    /// Delivery of the last messages to late joiners
    #[arg(long = "qos-durability", value_enum, value_name = "POLICY")]
    durability: Option<DurabilityChoice>,
    /// Keep the last messages (see depth), or all
    #[arg(long = "qos-history", value_enum, value_name = "POLICY")]
    history: Option<HistoryChoice>,
    /// Number of messages that are kept
    #[arg(long = "qos-depth", value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    depth: Option<u64>,
    /// Assertion of the publisher's liveliness
    #[arg(long = "qos-liveliness", value_enum, value_name = "POLICY")]
    liveliness: Option<LivelinessChoice>,
    /// Longest time between two assertions
    #[arg(
        long = "qos-liveliness-lease-duration-seconds",
        value_name = "SECONDS",
        value_parser = seconds
    )]
    lease: Option<Duration>,
}

/// The profiles of `rmw` by their names.
#[derive(Debug, Clone, Copy, ValueEnum)]
#[value(rename_all = "snake_case")]
enum ProfileChoice {
    /// Reliable, volatile, the last 10
    #[value(alias = "system_default")]
    Default,
    /// Best effort, volatile, the last 5
    SensorData,
    /// Reliable, volatile, the last 10
    ServicesDefault,
    /// Reliable, volatile, the last 1000
    #[value(alias = "parameter_events")]
    Parameters,
    /// Reliable, transient local, the last 1000, for ten seconds
    RosoutDefault,
    /// Match all endpoints of the topic
    BestAvailable,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
#[value(rename_all = "snake_case")]
enum ReliabilityChoice {
    Reliable,
    BestEffort,
    BestAvailable,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
#[value(rename_all = "snake_case")]
enum DurabilityChoice {
    Volatile,
    TransientLocal,
    BestAvailable,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
#[value(rename_all = "snake_case")]
enum HistoryChoice {
    KeepLast,
    KeepAll,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
#[value(rename_all = "snake_case")]
enum LivelinessChoice {
    Automatic,
    ManualByTopic,
}

impl QosArguments {
    /// The requested profile; policies without a flag come from `default`.
    pub(crate) fn over(&self, default: QosProfile) -> QosProfile {
        let base = self.profile.map_or(default, ProfileChoice::profile);
        QosProfile {
            reliability: self
                .reliability
                .map_or(base.reliability, |choice| match choice {
                    ReliabilityChoice::Reliable => Reliability::Reliable,
                    ReliabilityChoice::BestEffort => Reliability::BestEffort,
                    ReliabilityChoice::BestAvailable => Reliability::BestAvailable,
                }),
            durability: self
                .durability
                .map_or(base.durability, |choice| match choice {
                    DurabilityChoice::Volatile => Durability::Volatile,
                    DurabilityChoice::TransientLocal => Durability::TransientLocal,
                    DurabilityChoice::BestAvailable => Durability::BestAvailable,
                }),
            history: self.history.map_or(base.history, |choice| match choice {
                HistoryChoice::KeepLast => History::KeepLast,
                HistoryChoice::KeepAll => History::KeepAll,
            }),
            depth: self.depth.unwrap_or(base.depth),
            liveliness: self
                .liveliness
                .map_or(base.liveliness, |choice| match choice {
                    LivelinessChoice::Automatic => Liveliness::Automatic,
                    LivelinessChoice::ManualByTopic => Liveliness::ManualByTopic,
                }),
            liveliness_lease_duration: self.lease.map_or(base.liveliness_lease_duration, limit),
            ..base
        }
    }
}

fn limit(duration: Duration) -> QosDuration {
    QosDuration::from_nanos(u64::try_from(duration.nanos()).unwrap_or(0))
}

impl ProfileChoice {
    fn profile(self) -> QosProfile {
        match self {
            Self::Default => QosProfile::DEFAULT,
            Self::SensorData => QosProfile::SENSOR_DATA,
            Self::ServicesDefault => QosProfile::SERVICES,
            Self::Parameters => QosProfile::PARAMETERS,
            Self::RosoutDefault => QosProfile::ROSOUT,
            Self::BestAvailable => QosProfile {
                reliability: Reliability::BestAvailable,
                durability: Durability::BestAvailable,
                liveliness: Liveliness::BestAvailable,
                deadline: BEST_AVAILABLE_DURATION,
                liveliness_lease_duration: BEST_AVAILABLE_DURATION,
                ..QosProfile::DEFAULT
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Flags {
        #[command(flatten)]
        qos: QosArguments,
    }

    fn profile(flags: &[&str]) -> QosProfile {
        let all = ["verb"].iter().chain(flags);
        Flags::parse_from(all).qos.over(QosProfile::SENSOR_DATA)
    }

    #[test]
    fn policies_without_a_flag_keep_their_value() {
        assert_eq!(profile(&[]), QosProfile::SENSOR_DATA);
        let reliable = profile(&["--qos-reliability", "reliable"]);
        assert_eq!(
            (reliable.reliability, reliable.depth),
            (Reliability::Reliable, 5)
        );
    }

    #[test]
    fn single_policies_override_the_profile() {
        let flags = [
            "--qos-profile",
            "rosout_default",
            "--qos-history",
            "keep_all",
            "--qos-liveliness",
            "manual_by_topic",
            "--qos-liveliness-lease-duration-seconds",
            "0.5",
            "--qos-depth",
            "7",
        ];
        let expected = QosProfile {
            history: History::KeepAll,
            depth: 7,
            liveliness: Liveliness::ManualByTopic,
            liveliness_lease_duration: QosDuration::from_nanos(500_000_000),
            ..QosProfile::ROSOUT
        };
        assert_eq!(profile(&flags), expected);
        let best = profile(&["--qos-profile", "best_available"]);
        assert!(timeloom_wire::asks_for_best_available(&best));
        assert_eq!(
            profile(&["--qos-profile", "system_default"]),
            QosProfile::DEFAULT
        );
    }
}
