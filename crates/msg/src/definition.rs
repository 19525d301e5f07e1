//! Interface definitions: messages, services and actions, as parsed from `.msg`, `.srv`, `.action` and IDL.

mod field_type;
mod interface;
mod line;
mod literal;
mod message;
mod source;
mod text;

pub use field_type::{ArrayShape, BaseType, FieldType, Primitive};
pub use interface::{ActionDefinition, ServiceDefinition};
pub use literal::Literal;
pub use message::{Constant, Field, MessageDefinition};

pub(crate) use interface::{action_extras, service_extras};
pub(crate) use source::{MAX_FIELDS, Source, check_text};
