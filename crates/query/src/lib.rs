#![doc = include_str!("../README.md")]

mod bag_set;
mod bag_source;
mod error;
mod field;
mod findings;
mod output;
mod register;
mod scan;
mod session;
mod tables;

pub use bag_source::{BagSource, LocalBags};
pub use error::{Error, Result};
pub use findings::Findings;
pub use output::{Format, TextLayout, Writer};
pub use register::{Registered, register};
pub use session::{Answer, Session, SessionOptions};
