#![doc = include_str!("../README.md")]

mod bag_set;
mod bag_source;
#[cfg(feature = "cluster")]
mod cluster;
mod error;
mod field;
mod findings;
mod output;
mod plan_node;
mod register;
mod scan;
mod session;
mod tables;

pub use bag_source::{BagSource, LocalBags};
#[cfg(feature = "cluster")]
pub use cluster::{Cluster, Secret, Worker, WorkerAddress, WorkerOptions};
pub use error::{Error, Result};
pub use findings::Findings;
pub use output::{Format, TextLayout, Writer};
pub use register::{Registered, register};
pub use session::{Answer, Session, SessionOptions};
