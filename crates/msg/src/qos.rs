//! `QoS` profiles with every ROS 2 policy, and their YAML in bags and override files.

mod document;
mod duration;
mod emit;
mod overrides;
mod policy;
mod profile;

pub use document::{QosProfiles, parse_profiles};
pub use duration::QosDuration;
pub use emit::{QosSpelling, profiles_to_yaml, write_profiles};
pub use overrides::parse_overrides;
pub use policy::{Durability, History, Liveliness, Reliability};
pub use profile::QosProfile;
