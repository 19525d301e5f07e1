//! Behaviour tests of timeloom-time.

mod schedule;
mod types;
