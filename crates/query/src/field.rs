//! Fields of messages as Arrow columns.

mod kind;
mod leaf;
mod node;
mod value_builder;

pub(crate) use kind::{UTC, time_type};
pub(crate) use node::{FieldBuilder, FieldNode, Payload};
