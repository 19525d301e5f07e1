//! Behaviour tests of timeloom-time.

mod external_clock;
mod extrapolator;
mod hanging_handlers;
mod jumps;
mod schedule;
mod support;
mod types;
