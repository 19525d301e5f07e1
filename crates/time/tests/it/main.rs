//! Behaviour tests of timeloom-time.

mod algebra;
mod controlled_clock;
mod external_clock;
mod extrapolator;
mod hanging_handlers;
mod jumps;
mod overruns;
mod rate;
mod rcl_time;
mod rcl_timer;
mod rclcpp_clock;
mod schedule;
mod stress;
mod support;
mod time_source;
mod types;
mod upstream_bugs;
mod virtual_time;
mod waiting;
mod waits;
mod waits_and_jumps;
