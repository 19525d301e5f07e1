//! A whole ROS domain inside this process: deterministic on virtual time, with faults on demand.
//!
//! Inside, `state` is a pure state machine that takes time as an argument; `shared` puts it behind one lock and runs a
//! thread per participant; the other modules implement the traits of the crate on top.

mod alarm;
mod calls;
mod endpoints;
mod faults;
mod link;
mod matching;
mod member;
mod network;
mod node;
mod options;
mod participant;
mod publisher;
mod service;
mod shared;
mod state;
mod subscription;
mod timers;
mod transmit;

pub use faults::{Chance, Connection, Faults, Scope};
pub use link::LinkAccount;
pub use network::LoopbackNetwork;
pub use options::LoopbackOptions;
