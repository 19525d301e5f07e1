//! Simulated devices, networks and hosts with known truth and seeds.
//!
//! A [`Scenario`] defines the device's clock and the delays of packets and requests; [`Scenario::simulate`]
//! yields its samples in order of arrival, each with the true host time of its event.
//! The [`Family`]s are the cases that an estimator must stand; [`score`] measures one of them.

mod device_model;
mod family;
mod path_model;
mod random;
mod request_model;
mod scenario;
mod score;
mod simulation;

pub use device_model::DeviceModel;
pub use family::Family;
pub use path_model::{PathModel, Stalls};
pub use request_model::RequestModel;
pub use scenario::{Disturbances, Scenario, Window};
pub use score::{HostClock, Score, score, score_bare, score_smoothed};
pub use simulation::{Simulated, Simulation};
