//! Queries on several machines: the process that asks plans, and workers read bags and compute.
//!
//! The plans, stages and shuffles are those of `datafusion-distributed`; this adds what bags need: scans that name
//! addresses and definitions, findings that come back, and workers that are checked, counted and replaced.

mod bytes_codec;
mod channels;
mod codec;
mod control;
mod in_order;
mod members;
mod named_channel;
mod passport;
mod planning;
mod query_run;
mod secret;
mod wire_plan;
mod worker;
mod worker_state;

pub use members::{Cluster, WorkerAddress};
pub(crate) use query_run::QueryRun;
pub use secret::Secret;
pub use worker::{Worker, WorkerOptions};
