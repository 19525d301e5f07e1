#![doc = include_str!("../README.md")]

pub mod definition;
mod distro;
mod error;
pub mod name;
pub mod qos;

pub use distro::Distro;
pub use error::{Error, Result};
pub use name::{InterfaceKind, TypeName};
pub use qos::QosProfile;
