//! Behaviour of `timeloom-msg` against real data.

mod ament;
mod bags;
mod fuzz;
mod golden;
mod hashes;
mod idl;
mod qos;
mod round_trip;
mod schemas;
