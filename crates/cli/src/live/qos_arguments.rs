//! The `QoS` flags of `ros2 topic pub`.

use clap::{Args, ValueEnum};
use timeloom_msg::QosProfile;
use timeloom_msg::qos::{Durability, Reliability};

/// What to offer.
#[derive(Debug, Args, Default)]
#[command(next_help_heading = "QoS")]
pub(crate) struct QosArguments {
    /// Whether lost messages are sent again [default: reliable]
    #[arg(long = "qos-reliability", value_enum, value_name = "POLICY")]
    reliability: Option<ReliabilityChoice>,
    /// Whether late joiners get the last messages [default: volatile]
    #[arg(long = "qos-durability", value_enum, value_name = "POLICY")]
    durability: Option<DurabilityChoice>,
    /// How many messages are kept [default: 10]
    #[arg(long = "qos-depth", value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    depth: Option<u64>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
#[value(rename_all = "snake_case")]
enum ReliabilityChoice {
    Reliable,
    BestEffort,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
#[value(rename_all = "snake_case")]
enum DurabilityChoice {
    Volatile,
    TransientLocal,
}

impl QosArguments {
    pub(crate) fn profile(&self) -> QosProfile {
        let default = QosProfile::DEFAULT;
        QosProfile {
            reliability: match self.reliability {
                Some(ReliabilityChoice::BestEffort) => Reliability::BestEffort,
                Some(ReliabilityChoice::Reliable) | None => Reliability::Reliable,
            },
            durability: match self.durability {
                Some(DurabilityChoice::TransientLocal) => Durability::TransientLocal,
                Some(DurabilityChoice::Volatile) | None => Durability::Volatile,
            },
            depth: self.depth.unwrap_or(default.depth),
            ..default
        }
    }
}
