//! Reads one field of a payload without decoding the rest.
//!
//! A type is compiled once into a short program that steps over the fields before it: one addition where the layout is
//! fixed, one length where it is not.

mod compile;
mod field;
mod program;
mod skip_program;
mod stamp;

pub use field::FieldProgram;
pub use skip_program::SkipProgram;
pub use stamp::{Stamp, StampPlace, StampProgram};
