//! ROS 2 time in Rust.
#![cfg_attr(not(any(feature = "std", test)), no_std)]

mod any_time;
mod duration;
mod error;
mod extrapolator;
mod kind;
mod schedule;
mod time;
mod wire;

pub use any_time::AnyTime;
pub use duration::Duration;
pub use error::{KindOperation, TimeError};
pub use extrapolator::{ExtrapolatedSegment, Extrapolator, Update};
pub use kind::{Kind, KindId, Ros, RosSteady, SimAware, SourceState, Steady, System, Wire};
pub use schedule::{MissedTick, Schedule, Tick};
pub use time::Time;
pub use wire::{WireDuration, WireTime};
