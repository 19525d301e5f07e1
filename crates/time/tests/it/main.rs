//! Behaviour tests of timeloom-time.

mod external_clock;
mod extrapolator;
mod hanging_handlers;
mod jumps;
mod rcl_timer;
mod schedule;
mod support;
mod types;
