//! Behaviour tests of timeloom-time.

mod extrapolator;
mod jumps;
mod schedule;
mod support;
mod types;
