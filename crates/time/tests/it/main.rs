//! Behaviour tests of timeloom-time.

mod extrapolator;
mod schedule;
mod types;
