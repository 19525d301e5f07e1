//! Behaviour tests of timeloom-wire.

mod conformance;
mod determinism;
mod environment;
mod faults;
mod loss;
mod reentry;
mod sabotage;
mod timing;
mod world;
