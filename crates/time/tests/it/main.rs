//! Behaviour tests of timeloom-time.

mod types;
