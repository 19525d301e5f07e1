//! What the environment of a ROS process asks for, as a pure function of its variables.

mod read;
mod variable_warning;
mod zenoh;

pub use read::{Backend, DiscoveryRange, Environment};
pub use variable_warning::{VariableWarning, VariableWarningKind};
pub use zenoh::{RouterCheck, ZenohEnvironment};
