#![doc = include_str!("../README.md")]

pub mod cdr;
pub mod definition;
mod definition_set;
mod distro;
mod error;
mod idl;
pub mod name;
mod parameter_value;
pub mod qos;
mod recorder_event;
mod resolver;
pub mod schema;
mod skip;
pub mod type_description;
mod type_hash;
pub mod value;

pub use definition_set::{AmentIndex, DefinitionSource, Definitions, FoundDefinition};
pub use distro::Distro;
pub use error::{Error, Result};
pub use name::{InterfaceKind, TypeName};
pub use parameter_value::ParameterValue;
pub use qos::QosProfile;
pub use recorder_event::is_recorder_event;
pub use resolver::{StoredDefinition, TypeRequest, TypeResolver};
pub use schema::Schema;
pub use skip::{FieldProgram, SkipProgram, Stamp, StampPlace, StampProgram};
pub use type_description::{TypeDescription, TypeSource};
pub use type_hash::TypeHash;
pub use value::Value;
