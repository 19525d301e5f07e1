#![doc = include_str!("../README.md")]

mod anchor;
mod bound_tracker;
mod clock_pair;
#[cfg(feature = "conformance")]
pub mod conformance;
mod corridor;
mod delay_envelope;
mod device_time;
mod envelope_fit;
mod error;
mod estimator;
mod event;
mod hull;
mod limits;
mod line;
mod mapped;
mod mapping;
mod method;
mod minima;
mod recording;
mod sample;
mod sensor_clock;
pub mod simulate;
mod suspicion;
mod switching_hull;
pub mod table;
mod ticks;

pub use anchor::{Anchor, AnchorConfig, Averaging};
pub use clock_pair::ClockPair;
pub use delay_envelope::{DelayEnvelope, Refinement};
pub use device_time::DeviceTime;
pub use error::{Error, Result};
pub use estimator::{DeviceStatus, Estimate, Estimator, Maturity, Outcome, Vetting};
pub use event::{EventKind, Reason, SyncEvent};
pub use limits::Limits;
pub use mapped::{Bounds, Health, Mapped};
pub use mapping::Mapping;
pub use method::Method;
pub use recording::{causal, causal_one, smooth};
pub use sample::{ActiveSample, PassiveSample, Sample, StampSource};
pub use sensor_clock::{Counters, Diagnostics, SensorClock};
pub use switching_hull::SwitchingHull;
pub use ticks::{ClockSpec, TickCounter};
