//! The environment variables of a ROS process, as a pure function.

mod read;
mod variable_warning;
mod zenoh;

pub use read::{Backend, DiscoveryRange, Environment};
pub use variable_warning::{VariableWarning, VariableWarningKind};
pub use zenoh::{RouterCheck, ZenohEnvironment};
