//! Fuzz targets as plain functions: libFuzzer calls them, and so do the tests of each crate.

pub mod bag;
pub mod cdr;
pub mod dds_endpoint;
pub mod dds_nodes;
pub mod dds_service;
pub mod idl;
pub mod mcap;
pub mod metadata;
pub mod msg;
pub mod params;
pub mod pf_packet;
pub mod pf_reply;
pub mod plan;
pub mod qos;
pub mod sqlite;
pub mod sync_table;
pub mod tag;
pub mod trigger;
pub mod ws;
#[cfg(feature = "zenoh")]
pub mod zenoh;
