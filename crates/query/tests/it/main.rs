//! SQL over bags, through the public API.
#![expect(
    clippy::unwrap_used,
    reason = "in helpers of tests too a failure is a failed test"
)]

#[cfg(feature = "cluster")]
mod cluster;
mod damage;
mod lineage;
mod pushdown;
mod robot;
mod sql;
mod support;
mod tables;
mod types;
mod values;
